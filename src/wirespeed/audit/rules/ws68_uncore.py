# SPDX-License-Identifier: Apache-2.0
"""Find uncore frequencies that may fall below their maximum."""

from __future__ import annotations

from wirespeed.audit.fixes import comment, write_to
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NothingToCheck, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.platform import Uncore

_FOLDER = "/sys/devices/system/cpu/intel_uncore_frequency"
_KHZ_IN_GHZ = 1_000_000


def check(subject: Subject) -> Outcome:
    parts = subject.facts.uncore
    if parts is None:
        raise NothingToCheck("the kernel does not control uncore frequencies")
    low = [part for part in parts if part.min_khz < _wanted_khz(part)]
    if not low:
        return Passed(f"{len(parts)} parts stay at their maximum")
    return [
        Problem(
            found=f"from {_ghz(part.min_khz)} to {_ghz(part.max_khz)}",
            wanted=f"always {_ghz(_wanted_khz(part))}",
            fix=_fix(part),
            subject=part.name,
        )
        for part in low
    ]


def _fix(part: Uncore) -> tuple[str, ...]:
    wanted, folder = _wanted_khz(part), f"{_FOLDER}/{part.name}"
    raise_max = (write_to(f"{folder}/max_freq_khz", wanted),) if part.max_khz < wanted else ()
    return (
        *raise_max,
        write_to(f"{folder}/min_freq_khz", wanted),
        comment(f"at every boot: {folder}/min_freq_khz={wanted} in section [sysfs] of a tuned "
                "profile"),
    )  # fmt: skip


def _wanted_khz(part: Uncore) -> int:
    return max(part.max_khz, part.highest_khz or 0)


def _ghz(khz: int) -> str:
    return f"{khz / _KHZ_IN_GHZ:.1f} GHz"


RULE = Rule(
    id="WS68",
    name="uncore-frequency",
    title="Caches and memory may run slower",
    severity=Severity.LOW,
    needs=(Need.UNCORE, Need.ISOLATED),
    wanted="min_freq_khz of each part of the uncore at its maximum",
    why="The uncore clocks the last-level cache, memory and PCIe. It may slow down while few cores "
    "work, and threads that poll then wait longer for each frame. A fixed maximum takes more power "
    "and may leave less turbo for the cores.",
    source="Linux, admin-guide/pm/intel_uncore_frequency_scaling.rst; DPDK, rte_power_uncore",
    check=check,
    vendor_advice=True,
)
