# SPDX-License-Identifier: Apache-2.0
"""Parse `dpif-netdev/pmd-stats-show` of Open vSwitch."""

from __future__ import annotations

import re
from collections.abc import Mapping

_THREAD = re.compile(r"^pmd thread .*core_id (?P<core>\d+):$(?P<rest>(?:\n\s+.*)*)", re.MULTILINE)
_CYCLES = re.compile(r"(idle|processing) cycles: (\d+)")
_FAILED_UPCALLS = re.compile(r"miss with failed upcall: (\d+)")
_UPCALLS = re.compile(r"miss with (?:success|failed) upcall: (\d+)")


def cycles_by_core(shown: str) -> Mapping[int, tuple[int, int]]:
    """Return processing and idle cycles of each CPU's PMD thread.

    Sleep is neither idle nor processing time there.
    """
    found = {}
    for thread in _THREAD.finditer(shown):
        cycles = {kind: int(count) for kind, count in _CYCLES.findall(thread["rest"])}
        found[int(thread["core"])] = cycles.get("processing", 0), cycles.get("idle", 0)
    return found


def failed_upcalls(shown: str) -> int:
    """Return the frames whose upcall failed.

    Most are dropped. Frames whose flow could not be installed are forwarded (ENOSPC,
    handle_packet_upcall in lib/dpif-netdev.c).
    """
    return sum(int(n) for n in _FAILED_UPCALLS.findall(shown))


def upcalls(shown: str) -> int:
    """Return all upcalls, those of the main thread included."""
    return sum(int(n) for n in _UPCALLS.findall(shown))
