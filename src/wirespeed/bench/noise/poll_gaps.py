# SPDX-License-Identifier: Apache-2.0
"""When was a thread that times its own polls away from its queues? (wsdp's gap log)"""

from __future__ import annotations

import json
from collections.abc import Iterator

from wirespeed.bench.interface import BenchError, GapLog
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.model.evidence import Disturbance, DisturbanceKind, Source

_FORMAT = "wirespeed-gaps-1"


def read_gap_logs(text: str, program: str, role: str) -> tuple[GapLog, ...]:
    """What `/wirespeed/gaps` wrote (docs/reference/wsdp.md)."""
    file = json.loads(text)
    if file["format"] != _FORMAT:
        raise BenchError(f"wsdp writes gaps as {file['format']}, not as {_FORMAT}")
    return tuple(
        GapLog(
            f"{program}/lcore{lcore}",
            role,
            log["cpu"],
            tuple((begin, length) for begin, length, _ in log["gaps"]),
            log["overflowed"],
        )
        for lcore, log in file["lcores"].items()
    )


def stops(log: GapLog, clock: TrialClock) -> Iterator[Disturbance]:
    for begin, length in log.gaps:
        yield Disturbance(
            log.cpu, clock.at_ns(begin), clock.length_ns(length), DisturbanceKind.STOPPED,
            Source.POLL_GAP, log.role,
        )  # fmt: skip


def unseen(log: GapLog) -> Iterator[str]:
    if log.overflowed:
        yield f"{log.thread} stopped {log.overflowed:,} times more than its log has room for"
