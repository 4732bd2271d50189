# SPDX-License-Identifier: Apache-2.0
"""Decide which intervals of a TCP run were clean, and why the others were not.

Reads only evidence: neither rates nor octets are among its arguments, so a slow interval cannot be
excluded for being slow. docs/explanation/how-a-tcp-run-is-judged.md has the reasoning.
"""

from __future__ import annotations

from wirespeed.model.result.tcp_evidence import ProgramIntervals, TcpEvidence

BESIDE = "right before or after a disturbance"
UNWATCHED = "not watched closely enough"

# Counters read later than this do not tell which tenth of a second had noise.
_LONGEST_NS = 250_000_000
# A wait is counted when it ends, and steal in steps of 10 ms: it may belong to the interval before.
# TCP needs some ms to recover its rate: the interval after is excluded as well.
_BESIDE = 1


def reasons(evidence: TcpEvidence, max_taken: float) -> tuple[str | None, ...]:
    """Return why each interval is excluded; None: neither it nor its neighbours had noise."""
    direct = disturbed(evidence, max_taken)
    return tuple(
        why or (BESIDE if any(direct[max(0, i - _BESIDE) : i + _BESIDE + 1]) else None)
        for i, why in enumerate(direct)
    )


def disturbed(evidence: TcpEvidence, max_taken: float) -> tuple[str | None, ...]:
    """Return why each interval itself had noise: more than max_taken of it was lost."""
    return tuple(
        _why(evidence, interval, length_ns, max_taken)
        for interval, length_ns in enumerate(evidence.lengths_ns)
    )


def _why(evidence: TcpEvidence, interval: int, length_ns: int, max_taken: float) -> str | None:
    if length_ns > _LONGEST_NS:
        return UNWATCHED
    competing_ns = evidence.competing_ns[interval]
    worst = max(evidence.programs, key=lambda p: sum(_taken_ns(p, interval, competing_ns)) / p.cpus)
    steal_ns, lost_ns = _taken_ns(worst, interval, competing_ns)
    if steal_ns + lost_ns <= max_taken * length_ns * worst.cpus:
        return None
    return f"{'steal from' if steal_ns > lost_ns else 'competing processes before'} {worst.name}"


def _taken_ns(program: ProgramIntervals, interval: int, competing_ns: int) -> tuple[int, int]:
    """Return steal time, and time lost to competing processes: see TcpRun.taken_ratio."""
    return program.steal_ns[interval], min(program.waited_ns[interval], competing_ns)
