# SPDX-License-Identifier: Apache-2.0
"""Make snapshots of any number of hosts from a recorded one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.fleet.hardware import hardware_digest
from wirespeed.host.collect import collect
from wirespeed.model.host.facts import Dimm, Firmware, HostFacts
from wirespeed.model.host.snapshot import Figure, HostSnapshot, Member
from wirespeed.remote.recorded import RecordedRunner

HOSTS = Path(__file__).parents[1] / "hosts"
BIOS = Firmware("Dell Inc.", "PowerEdge R740xd", "2.12.2", "07/09/2021", "0x2006b06", True)


@cache
def recorded(name: str = "s3-r740xd") -> HostFacts:
    """Return a recorded host, with a board and DIMMs, which the papers' recordings lack."""
    dimms = tuple(Dimm(f"A{slot}", 16384, 2666) for slot in range(1, 13))
    return replace(collect(RecordedRunner.open(str(HOSTS / name))), firmware=BIOS, dimms=dimms)


def snapshot(name: str, facts: HostFacts, *, audited: bool = True, site: str = "") -> HostSnapshot:
    report = audit(Subject(facts), all_rules()) if audited else None
    return HostSnapshot(
        Member(name, f"{name}.example", site), "2026-11-23T12:00:00.000+00:00",
        hardware_digest(facts), facts, report, {"wirespeed": "0.1.0"},
    )  # fmt: skip


def alike(
    count: int, facts: HostFacts | None = None, *, audited: bool = False
) -> list[HostSnapshot]:
    """Return `count` equal hosts, which share their facts."""
    first = snapshot("host-000", facts or recorded(), audited=audited)
    return [
        replace(first, member=Member(f"host-{number:03}", f"192.0.2.{number}"))
        for number in range(count)
    ]


def figure(host: str, value: float, *, half_width: float = 0.0, point: str = "64 B") -> Figure:
    return Figure(
        host, "quickstart", point, "NDR", "Mpps", value, value - half_width, value + half_width,
        "quickstart-1", "2026-11-23T12:00:00.000+00:00",
    )  # fmt: skip
