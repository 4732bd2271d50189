# SPDX-License-Identifier: Apache-2.0
"""When was a thread that times its own polls away from its queues? (wsdp's gap log)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from wirespeed.bench.interface import BenchError, GapLog
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.model.input.bounded import load_json
from wirespeed.model.result.evidence import ContentionSamples, Disturbance, DisturbanceKind, Source

_FORMAT = "wirespeed-gaps-1"
# Threads of equal priority take turns of a few ms.
_FROZEN_NS = 40_000_000
# The contention probe is due every 2 ms; some of its turns come late on a busy CPU.
_PACE_NS = 5_000_000


def read_gap_logs(text: str, program: str, role: str) -> tuple[GapLog, ...]:
    """What `/wirespeed/gaps` wrote (docs/reference/wsdp.md)."""
    file = load_json(text)
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


def told_apart(stop: Disturbance, samples: Sequence[ContentionSamples]) -> Disturbance:
    """A stop that was neither the scheduler's doing nor the hypervisor's is `frozen`: it lasted too
    long, and the contention probe got its turns on that CPU meanwhile."""
    if stop.source is not Source.POLL_GAP or stop.length_ns < _FROZEN_NS:
        return stop
    end_ns = stop.begin_ns + stop.length_ns
    taken = sum(stop.begin_ns < at_ns < end_ns
                for each in samples if each.cpu == stop.cpu for at_ns in each.at_ns)  # fmt: skip
    alive = taken >= stop.length_ns / _PACE_NS
    return replace(stop, source=Source.FROZEN) if alive else stop


def unseen(log: GapLog) -> Iterator[str]:
    if log.overflowed:
        yield f"{log.thread} stopped {log.overflowed:,} times more than its log has room for"
