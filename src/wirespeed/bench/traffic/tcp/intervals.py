# SPDX-License-Identifier: Apache-2.0
"""Derive noise evidence and payload of a TCP test, for each interval between two looks. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from wirespeed.bench.traffic.tcp.sampler import Look, Program
from wirespeed.model.result.series import Series, SeriesKind
from wirespeed.model.result.tcp import TcpProgram
from wirespeed.model.result.tcp_evidence import ProgramIntervals, TcpEvidence
from wirespeed.model.study.tcp import Tcp

EPOCH = "first look that saw traffic"
# More than clients and server exchange before a test.
_TRAFFIC_OCTETS = 65_536


def spread_back(amounts_ns: Sequence[int], lengths_ns: Sequence[int]) -> tuple[int, ...]:
    """Move what exceeds an interval to the intervals before it.

    The kernel accounts a task's wait when it ends, and steal when the CPU is back. A time longer
    than its interval began earlier.
    """
    spread, left_ns = [], 0
    for amount_ns, length_ns in zip(reversed(amounts_ns), reversed(lengths_ns), strict=True):
        fits_ns = min(amount_ns + left_ns, length_ns)
        left_ns += amount_ns - fits_ns
        spread.append(fits_ns)
    return tuple(reversed(spread))


def taken(looks: Sequence[Look], programs: Sequence[Program]) -> tuple[TcpProgram, ...]:
    """Return the time taken from each program over all looks."""
    found = (_program(looks, program) for program in programs)
    return tuple(
        TcpProgram(each.name, each.cpus, sum(each.steal_ns) / 1e9, sum(each.waited_ns) / 1e9)
        for each in found
    )


def evidence(
    looks: Sequence[Look],
    programs: Sequence[Program],
    tcp: Tcp,
    competing_s: float,
    traffic: int = _TRAFFIC_OCTETS,
) -> TcpEvidence | None:
    """Return the time taken in each interval; None where no traffic was seen.

    competing_s: total CPU time of competing processes, including processes that started and ended
    between two looks. Time that no look saw goes to intervals with new tasks. traffic: count above
    which a test has begun.
    """
    first = _first_traffic(looks, traffic)
    if first is None:
        return None
    origin_ns = looks[first].at_ns
    at_ns = tuple(look.at_ns - origin_ns for look in looks)
    unseen_ns = max(0.0, competing_s * 1e9 - sum(look.competing_ns for look in looks[1:]))
    made = sum(look.made for look in looks[1:])
    return TcpEvidence(
        at_ns,
        # The test began between two looks: only this range certainly counts.
        tcp.omit_s * 1_000_000_000,
        (tcp.omit_s + tcp.seconds) * 1_000_000_000 + at_ns[first - 1],
        tuple(_program(looks, program) for program in programs),
        tuple(
            look.competing_ns + round(unseen_ns * look.made / made if made else 0)
            for look in looks[1:]
        ),
    )


def payload(
    looks: Sequence[Look],
    names: Sequence[str],
    unit: str = "octets",
    traffic: int = _TRAFFIC_OCTETS,
) -> tuple[Series, ...]:
    """Return the counts of each interval, by name; empty where no traffic was seen."""
    first = _first_traffic(looks, traffic)
    if first is None:
        return ()
    at_ns = tuple(look.at_ns - looks[first].at_ns for look in looks[1:])
    return tuple(
        Series(
            str(name), unit, SeriesKind.COUNT, EPOCH, at_ns,
            tuple(float(b.payload[name] - a.payload[name]) for a, b in pairwise(looks)),
        )
        for name in names
    )  # fmt: skip


def _first_traffic(looks: Sequence[Look], more_than: int) -> int | None:
    """Return the first look that saw traffic; never the very first."""
    none = sum(looks[0].payload.values()) + more_than
    seen = (number for number, look in enumerate(looks) if sum(look.payload.values()) > none)
    return next(seen, None)


def _program(looks: Sequence[Look], program: Program) -> ProgramIntervals:
    lengths_ns = [b.at_ns - a.at_ns for a, b in pairwise(looks)]
    steal = [
        [b.steal_ns.get(cpu, 0) - a.steal_ns.get(cpu, 0) for a, b in pairwise(looks)]
        for cpu in program.cpus
    ]
    waits: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(lengths_ns))
    for interval, look in enumerate(looks[1:]):
        for wait in look.waits:
            if wait.program == program.name:
                waits[wait.task][interval] = wait.waited_ns
    return ProgramIntervals(
        program.name,
        len(program.cpus),
        _sums([spread_back(each, lengths_ns) for each in steal], len(lengths_ns)),
        _sums([spread_back(each, lengths_ns) for each in waits.values()], len(lengths_ns)),
    )


def _sums(rows: Sequence[Sequence[int]], length: int) -> tuple[int, ...]:
    return tuple(sum(row[i] for row in rows) for i in range(length))
