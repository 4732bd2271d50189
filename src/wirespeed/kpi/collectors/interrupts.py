# SPDX-License-Identifier: Apache-2.0
"""Collect the interrupts of each CPU by a few kinds, and its softirqs by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.kpi.collectors.files import Texts, file_source
from wirespeed.kpi.interface import NUMBER, Missing, Name, Source, counter
from wirespeed.remote.interface import Runner
from wirespeed.sources.interrupts import HARD, SOFT, rows

# Source as sources/interrupts.py names it, and its kind. A device's number is no label: a host may
# have thousands.
_KINDS = {
    "Local timer interrupts": "timer",
    "Rescheduling interrupts": "rescheduling",
    "Function call interrupts": "call",
    "TLB shootdowns": "tlb",
}


class InterruptCollector:
    name = "interrupts"
    cheap = True
    metrics = (
        counter("cpu_interrupts", NUMBER, "cpu kind", "Interrupts of a CPU", HARD,
                term="Interrupts, counted"),
        counter("cpu_softirqs", NUMBER, "cpu kind", "Softirqs of a CPU", SOFT),
    )  # fmt: skip

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        return file_source(self.name, runner, (HARD, SOFT), parse)


def parse(texts: Texts) -> Mapping[Name, int]:
    """Return the interrupts since boot."""
    found: dict[Name, int] = {}
    for cpu, source, count in rows(texts[HARD]) if HARD in texts else ():
        device = source.startswith("interrupt ")
        name = "cpu_interrupts", (str(cpu), "device" if device else _KINDS.get(source, "other"))
        found[name] = found.get(name, 0) + count
    for cpu, source, count in rows(texts[SOFT]) if SOFT in texts else ():
        found["cpu_softirqs", (str(cpu), source)] = count
    return found
