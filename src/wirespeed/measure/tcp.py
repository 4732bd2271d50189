# SPDX-License-Identifier: Apache-2.0
"""What do runs of the same TCP traffic say together: as this host is, and undisturbed?

Which time is undisturbed is decided in measure/tcp_gate.py, before a rate is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean, median

from wirespeed.measure.tcp_intervals import Pooled, beaten_share, pool, pooled_rate
from wirespeed.model.result import Grade
from wirespeed.model.tcp import Tcp, TcpDirection, TcpFigure, TcpResult, TcpRun, TcpWay

_DIRECTIONS = (TcpDirection.UP, TcpDirection.DOWN)

# Counting ends when what the sender's buffers held has arrived, so it may take longer than asked.
_SHORTEST, _LONGEST, _SLACK_S = 0.8, 2.0, 1.0
# So much undisturbed time is enough for a rate with an error.
MIN_CLEAN_S, MIN_PIECES = 1.0, 5
# Grade B: undisturbed for so large a share of the time.
_MOST = 0.5
# Where no more than so much was left out, a placebo cannot tell.
_MUCH = 0.2
# So many rotations must be slower before noise explains what is missing.
_BEATEN = 0.95


def fault(run: TcpRun, tcp: Tcp) -> str | None:
    """Why the run has no rate at all, or None.

    Every test must count over about the seconds asked for: where the host took the CPU from a
    client, its omitted and its counted seconds may end at once.
    """
    seconds = tcp.seconds
    longest_s = _LONGEST * seconds + _SLACK_S
    for way in run.ways:
        counted_s = way.bytes * 8 / way.bits_per_second if way.bits_per_second else 0.0
        if not _SHORTEST * seconds <= counted_s <= longest_s:
            return f"a test counted over {counted_s:.3g} s instead of {seconds:g} s"
    return None


def summarise(runs: Sequence[TcpRun], tcp: Tcp, discarded: Sequence[str] = ()) -> TcpResult:
    """The result of a point from its runs (at least one)."""
    gbit = sum(way.bytes for run in runs for way in run.ways) * 8 / 1e9
    switched = [run.vswitch_cpu_s for run in runs if run.vswitch_cpu_s is not None]
    pooled = pool(runs, tcp)
    result = TcpResult(
        tuple(_figure(runs, d) for d in _DIRECTIONS if any(_ways([run], d) for run in runs)),
        tuple(runs),
        _each(sum(run.server_cpu_s for run in runs), gbit),
        _each(sum(run.clients_cpu_s for run in runs), gbit),
        _each(sum(switched), gbit) if switched else None,
        tuple(discarded),
        pooled.watched_s,
        pooled.clean_s,
        pooled.pieces,
        pooled.left_out,
    )
    return _undisturbed(result, pooled) if is_enough(result) else result


def is_enough(result: TcpResult) -> bool:
    """Whether there is as much undisturbed time as a rate needs."""
    return result.clean_s >= MIN_CLEAN_S and result.pieces >= MIN_PIECES


def _undisturbed(result: TcpResult, pooled: Pooled) -> TcpResult:
    figures = []
    for figure in result.figures:
        rate_bps, error_bps = pooled_rate(pooled, figure.direction)
        figures.append(replace(figure, undisturbed_bps=rate_bps, undisturbed_error_bps=error_bps))
    much = result.clean_share < 1 - _MUCH
    placebo = beaten_share(pooled, [f.direction for f in figures]) if much else None
    return replace(result, figures=tuple(figures), beaten_share=placebo)


def grade(result: TcpResult) -> tuple[Grade, tuple[str, ...]]:
    """How sure the result is, and what keeps it from a better grade, a sentence each."""
    if not is_enough(result):
        why = (
            f"only {result.clean_s:.1f} s in {result.pieces} pieces of {result.watched_s:.1f} s "
            f"were undisturbed; {MIN_CLEAN_S:g} s in {MIN_PIECES} pieces are needed, so the rate "
            "of this host as it is stands alone"
        )
        return Grade.D, (why, *_left_out(result))
    if not result.left_out:
        return Grade.A, ()
    why = f"{result.clean_share:.0%} of {result.watched_s:.1f} s were undisturbed"
    found = Grade.B if result.clean_share >= _MOST else Grade.C
    return found, (why, *_left_out(result))


def placebo(result: TcpResult) -> tuple[str, ...]:
    """A warning where undisturbed time was no faster than the same share of any other time."""
    if result.beaten_share is None or result.beaten_share >= _BEATEN:
        return ()
    return (
        "noise is not shown to explain the rate: much was left out, and the rest is faster than "
        f"only {result.beaten_share:.0%} of rotations of it",
    )


def _left_out(result: TcpResult) -> tuple[str, ...]:
    if not result.left_out:
        return ()
    parts = ", ".join(f"{each.why} {each.share:.1%}" for each in result.left_out)
    return (f"left out: {parts}",)


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
