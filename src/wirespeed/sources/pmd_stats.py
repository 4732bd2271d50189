# SPDX-License-Identifier: Apache-2.0
"""Parse `dpif-netdev/pmd-stats-show` of Open vSwitch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_THREAD = re.compile(
    r"^pmd thread numa_id (?P<node>\d+) core_id (?P<core>\d+):$(?P<rest>(?:\n\s+.*)*)", re.MULTILINE
)
_COUNTER = re.compile(r"^\s+([a-z ]+): (\d+)(?: \(.*\))?$", re.MULTILINE)
_FAILED_UPCALLS = re.compile(r"miss with failed upcall: (\d+)")
_UPCALLS = re.compile(r"miss with (?:success|failed) upcall: (\d+)")


@dataclass(frozen=True, slots=True)
class PmdCounters:
    """Counters of a PMD thread, by the name that Open vSwitch prints."""

    node: int
    counts: Mapping[str, int]


def counters_by_core(shown: str) -> Mapping[int, PmdCounters]:
    """Return the whole numbers of each CPU's PMD thread; averages are omitted."""
    return {
        int(thread["core"]): PmdCounters(
            int(thread["node"]),
            {name: int(count) for name, count in _COUNTER.findall(thread["rest"])},
        )
        for thread in _THREAD.finditer(shown)
    }


def cycles_by_core(shown: str) -> Mapping[int, tuple[int, int]]:
    """Return processing and idle cycles of each CPU's PMD thread.

    Sleep is neither idle nor processing time there.
    """
    return {
        core: (thread.counts.get("processing cycles", 0), thread.counts.get("idle cycles", 0))
        for core, thread in counters_by_core(shown).items()
    }


def failed_upcalls(shown: str) -> int:
    """Return the frames whose upcall failed.

    Most are dropped. Frames whose flow could not be installed are forwarded (ENOSPC,
    handle_packet_upcall in lib/dpif-netdev.c).
    """
    return sum(int(n) for n in _FAILED_UPCALLS.findall(shown))


def upcalls(shown: str) -> int:
    """Return all upcalls, those of the main thread included."""
    return sum(int(n) for n in _UPCALLS.findall(shown))
