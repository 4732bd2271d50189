# SPDX-License-Identifier: Apache-2.0
"""Derive a thousand hosts from recorded ones: slower DIMMs, other BIOSes, slower results.

They are made up for the benchmark of the comparison; no result here was measured on a host.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.fleet.hardware import hardware_digest
from wirespeed.host.collect import collect
from wirespeed.model.host.facts import Dimm, Firmware, HostFacts
from wirespeed.model.host.snapshot import Figure, HostSnapshot, Member, Repeat
from wirespeed.remote.recorded import RecordedRunner

HOSTS = Path(__file__).parents[2] / "tests" / "hosts"
RECORDED = ("s3-r740xd", "s2-r730", "s0-compute", "s1-dppd")
_BOARD = Firmware("Dell Inc.", "PowerEdge", "2.12.2", "07/09/2021", "0x2006b06", True)
_BEGIN = datetime(2026, 11, 23, 12, tzinfo=UTC)
_POINTS = ((64, 14.1), (256, 8.2), (1518, 1.6), (9000, 0.27))


def made_up(count: int, seed: int = 18) -> Iterator[HostSnapshot]:
    """Yield hosts of which six in ten are alike; faults are rare, and each has its own audit."""
    chance = random.Random(seed)
    kinds = [(collect(RecordedRunner.open(str(HOSTS / name)))) for name in RECORDED]
    for number in range(count):
        (base,) = chance.choices(kinds, (6, 2, 1, 1))
        facts = _variant(base, chance)
        report = audit(Subject(facts), all_rules())
        member = Member(f"compute-{number:04}", f"10.0.{number // 250}.{number % 250}",
                        f"site-{number % 4}")  # fmt: skip
        yield HostSnapshot(
            member, _BEGIN.isoformat(), hardware_digest(facts), facts, report,
            {"wirespeed": "0.1.0"},
        )  # fmt: skip


def _variant(base: HostFacts, chance: random.Random) -> HostFacts:
    dimms = [Dimm(f"A{slot}", 16384, 2666) for slot in range(1, 13)]
    board = _BOARD
    if chance.random() < 0.004:
        slot = chance.randrange(12)
        dimms[slot] = replace(dimms[slot], speed_mts=2133)
    if chance.random() < 0.01:
        board = replace(board, bios_version="2.4.8", bios_date="11/27/2019")
    if chance.random() < 0.003:
        board = replace(board, turbo=False)
    cpus = base.cpus
    if chance.random() < 0.02:
        cpus = tuple(replace(cpu, governor="powersave") for cpu in cpus)
    irqs = base.irqs
    if chance.random() < 0.05 and irqs:
        irqs = tuple(replace(irq, cpus=base.online_cpus) for irq in irqs)
    return replace(base, firmware=board, dimms=tuple(dimms), cpus=cpus, irqs=irqs)


def figures(hosts: list[tuple[str, str]], seed: int = 18) -> Iterator[Figure]:
    """Yield four results of each (name, hardware); one host in 200 is 8% slower."""
    chance = random.Random(seed)
    factor = {hardware: 0.6 + 0.4 * chance.random() for hardware in {h for _, h in hosts}}
    for name, hardware in hosts:
        slow = 0.92 if chance.random() < 0.005 else 1.0
        for size, mpps in _POINTS:
            value = mpps * factor[hardware] * slow * chance.gauss(1, 0.01)
            yield Figure(
                name, "quickstart", f"{size} B", "NDR", "Mpps", value, value, value * 1.005,
                "quickstart-1", _BEGIN.isoformat(),
            )  # fmt: skip


def repeats(names: list[str], seed: int = 18) -> Iterator[Repeat]:
    """Yield four hours of each; the first loses frames after two, the second gets slower."""
    chance = random.Random(seed)
    for index, name in enumerate(names):
        for number in range(120):
            at = (_BEGIN + timedelta(minutes=2 * number)).isoformat()
            drift = 1 - 0.0003 * number if index == 1 else 1.0
            loss = 1e-4 if index == 0 and number >= 60 and chance.random() < 0.3 else 0.0
            rate = 1e6 * drift * chance.gauss(1, 0.002)
            yield Repeat(name, "burn-in", "64 B at 1 Mpps", at, rate, loss, 12.0)
