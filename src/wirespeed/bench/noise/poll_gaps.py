# SPDX-License-Identifier: Apache-2.0
"""Read when a thread that times its polls did not poll (wsdp's gap log)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from wirespeed.bench.interface import BenchError, GapLog
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.model.input.bounded import load_json
from wirespeed.model.result.evidence import ContentionSamples, Disturbance, DisturbanceKind, Source

_FORMAT = "wirespeed-gaps-1"
# Threads of equal priority alternate every few ms, so the scheduler causes no longer stop.
_FROZEN_NS = 40_000_000
# The contention probe runs every 2 ms; on a busy CPU some runs are late.
_PACE_NS = 5_000_000


def read_gap_logs(text: str, program: str, role: str) -> tuple[GapLog, ...]:
    """Parse the output of `/wirespeed/gaps` (docs/reference/wsdp.md)."""
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
    """Yield each gap as a stop."""
    for begin, length in log.gaps:
        yield Disturbance(
            log.cpu, clock.at_ns(begin), clock.length_ns(length), DisturbanceKind.STOPPED,
            Source.POLL_GAP, log.role,
        )  # fmt: skip


def told_apart(stop: Disturbance, samples: Sequence[ContentionSamples]) -> Disturbance:
    """Mark a stop as frozen if neither the scheduler nor the hypervisor caused it.

    Such a stop lasted too long, and the contention probe ran on that CPU meanwhile.
    """
    if stop.source is not Source.POLL_GAP or stop.length_ns < _FROZEN_NS:
        return stop
    end_ns = stop.begin_ns + stop.length_ns
    taken = sum(stop.begin_ns < at_ns < end_ns
                for each in samples if each.cpu == stop.cpu for at_ns in each.at_ns)  # fmt: skip
    alive = taken >= stop.length_ns / _PACE_NS
    return replace(stop, source=Source.FROZEN) if alive else stop


def unseen(log: GapLog) -> Iterator[str]:
    """Report gaps that overflowed the log."""
    if log.overflowed:
        yield f"{log.thread} stopped {log.overflowed:,} times more than its log has room for"
