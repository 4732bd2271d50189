# SPDX-License-Identifier: Apache-2.0
"""Which runs of the same TCP traffic can be believed, and what do they say together?

Decided before the rate is looked at, as for trials of frames, but by other rules: TCP waits while a
program is away and goes on, so a pause spoils nothing by itself; what a run loses is the share of
its time that was taken. docs/explanation/how-a-trial-is-judged.md has the reasoning and figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median

from wirespeed.model.tcp import Tcp, TcpDirection, TcpFigure, TcpProgram, TcpResult, TcpRun, TcpWay

_DIRECTIONS = (TcpDirection.UP, TcpDirection.DOWN)


# Counting ends when what the sender's buffers held has arrived, so it may take longer than asked.
_SHORTEST, _LONGEST, _SLACK_S = 0.8, 2.0, 1.0


def invalid(run: TcpRun, tcp: Tcp) -> str | None:
    """Why the run says nothing, or None. Reads no rate.

    Every test must count over about the seconds asked for: where the host took the CPU from a
    client, its omitted and its counted seconds may end at once.
    """
    for program in run.programs:
        ratio = run.taken_ratio(program)
        if ratio > tcp.max_taken:
            return (
                f"{_who(program)} may have lost {ratio:.1%} of the run, the limit is "
                f"{tcp.max_taken:.0%}: {_evidence(program, run)}"
            )
    seconds = tcp.seconds
    longest_s = _LONGEST * seconds + _SLACK_S
    for way in run.ways:
        counted_s = way.bytes * 8 / way.bits_per_second if way.bits_per_second else 0.0
        if not _SHORTEST * seconds <= counted_s <= longest_s:
            return f"a test counted over {counted_s:.3g} s instead of {seconds:g} s"
    return None


def _who(program: TcpProgram) -> str:
    return f"{program.name} on {program.cpus} CPU{'s' if program.cpus > 1 else ''}"


def _evidence(program: TcpProgram, run: TcpRun) -> str:
    others = f" ({', '.join(run.others)})" if run.others else ""
    return (
        f"in {run.elapsed_s:.1f} s {program.steal_s:.2f} s steal, {program.waited_s:.2f} s "
        f"run-queue wait, and other programs ran for {run.others_cpu_s:.2f} s{others}"
    )


def summarise(runs: Sequence[TcpRun], discarded: Sequence[str] = ()) -> TcpResult:
    """The result of a point from its valid runs (at least one)."""
    gbit = sum(way.bytes for run in runs for way in run.ways) * 8 / 1e9
    switched = [run.vswitch_cpu_s for run in runs if run.vswitch_cpu_s is not None]
    return TcpResult(
        tuple(_figure(runs, d) for d in _DIRECTIONS if any(_ways([run], d) for run in runs)),
        tuple(runs),
        _each(sum(run.server_cpu_s for run in runs), gbit),
        _each(sum(run.clients_cpu_s for run in runs), gbit),
        _each(sum(switched), gbit) if switched else None,
        tuple(discarded),
    )


def _each(cpu_s: float, gbit: float) -> float:
    return cpu_s / gbit if gbit else 0.0


def _ways(runs: Iterable[TcpRun], direction: TcpDirection) -> list[TcpWay]:
    return [way for run in runs for way in run.ways if way.direction is direction]


def _figure(runs: Sequence[TcpRun], direction: TcpDirection) -> TcpFigure:
    rates = [run.rate_bps(direction) for run in runs]
    ways = _ways(runs, direction)
    [(limited_by, agreeing)] = Counter(way.limited_by for way in ways).most_common(1)
    again = [sum(way.retransmits for way in _ways([run], direction)) for run in runs]
    return TcpFigure(
        direction,
        median(rates),
        min(rates),
        max(rates),
        round(median(again)),
        limited_by,
        next(way.because for way in ways if way.limited_by == limited_by),
        agreeing,
        len(ways),
        _mean(ways, lambda way: way.transfer_time_ratio),
        _mean(ways, lambda way: way.tcp_efficiency_percent),
        _mean(ways, lambda way: way.buffer_delay_percent),
    )


def _mean(ways: Sequence[TcpWay], of: Callable[[TcpWay], float | None]) -> float | None:
    found = [value for way in ways if (value := of(way)) is not None]
    return fmean(found) if found else None
