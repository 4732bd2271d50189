# SPDX-License-Identifier: Apache-2.0
"""Compute the rates of several runs of the same TCP traffic, over all time and over clean time.

Which time is clean is decided in measure/tcp_gate.py, before a rate is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import Protocol

from wirespeed.measure.tcp_intervals import Pooled, beaten_share, pool, pooled_rate
from wirespeed.model.result.result import Grade
from wirespeed.model.result.tcp import TcpDirectionResult, TcpFigure, TcpLeftOut, TcpResult, TcpRun
from wirespeed.model.study.tcp import Tcp, TcpDirection

_DIRECTIONS = (TcpDirection.UP, TcpDirection.DOWN)

# Counting ends when the sender's buffers have drained, so it may take longer than tcp.seconds.
_SHORTEST, _LONGEST, _SLACK_S = 0.8, 2.0, 1.0
# Least clean time for a rate with an error.
MIN_CLEAN_S, MIN_PIECES = 1.0, 5
# Grade B: least clean share of the time.
_MOST = 0.5
# Where no more than this share was excluded, the placebo test cannot decide.
_MUCH = 0.2
# Share of rotations that must be slower before noise explains the lower rate.
_BEATEN = 0.95


class Observed(Protocol):
    """Clean time of all runs; see TcpResult."""

    @property
    def watched_s(self) -> float: ...

    @property
    def clean_s(self) -> float: ...

    @property
    def clean_share(self) -> float: ...

    @property
    def pieces(self) -> int: ...

    @property
    def left_out(self) -> tuple[TcpLeftOut, ...]: ...


def fault(run: TcpRun, tcp: Tcp) -> str | None:
    """Return why the run has no rate at all, or None.

    Every test must count over about tcp.seconds. Where a client got no CPU, its omitted and its
    counted seconds may end at once.
    """
    seconds = tcp.seconds
    longest_s = _LONGEST * seconds + _SLACK_S
    for one in run.directions:
        counted_s = one.bytes * 8 / one.bits_per_second if one.bits_per_second else 0.0
        if not _SHORTEST * seconds <= counted_s <= longest_s:
            return f"a test counted over {counted_s:.3g} s instead of {seconds:g} s"
    return None


def summarise(runs: Sequence[TcpRun], tcp: Tcp, discarded: Sequence[str] = ()) -> TcpResult:
    """Return the result of a point from its runs (at least one)."""
    gbit = sum(result.bytes for run in runs for result in run.directions) * 8 / 1e9
    switched = [run.vswitch_cpu_s for run in runs if run.vswitch_cpu_s is not None]
    pooled = pool(runs, tcp)
    result = TcpResult(
        tuple(_figure(runs, d) for d in _DIRECTIONS if any(_results([run], d) for run in runs)),
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


def is_enough(result: Observed) -> bool:
    """Return whether there is enough clean time for a rate."""
    return result.clean_s >= MIN_CLEAN_S and result.pieces >= MIN_PIECES


def _undisturbed(result: TcpResult, pooled: Pooled) -> TcpResult:
    figures = []
    for figure in result.figures:
        rate, error = pooled_rate(pooled, figure.direction) or (None, None)
        figures.append(
            replace(figure, undisturbed_bps=_bits(rate), undisturbed_error_bps=_bits(error))
        )
    much = result.clean_share < 1 - _MUCH
    placebo = beaten_share(pooled, [f.direction for f in figures]) if much else None
    return replace(result, figures=tuple(figures), beaten_share=placebo)


def _bits(octets: float | None) -> float | None:
    return None if octets is None else octets * 8


def grade(result: Observed) -> tuple[Grade, tuple[str, ...]]:
    """Return how sure the result is, and what keeps it from a better grade, a sentence each."""
    if not is_enough(result):
        why = (
            f"{_how_little(result)}; {MIN_CLEAN_S:g} s in {MIN_PIECES} pieces are needed, so the "
            "rate over all time is the only one"
        )
        return Grade.D, (why, *_left_out(result))
    if not result.left_out:
        return Grade.A, ()
    why = f"{result.clean_share:.0%} of {result.watched_s:.1f} s were clean"
    found = Grade.B if result.clean_share >= _MOST else Grade.C
    return found, (why, *_left_out(result))


def _how_little(result: Observed) -> str:
    if not result.pieces:
        return f"no interval of the {result.watched_s:.1f} s was clean"
    return (
        f"only {result.clean_s:.1f} s in {result.pieces} pieces of {result.watched_s:.1f} s were "
        "clean"
    )


def placebo(result: TcpResult) -> tuple[str, ...]:
    """Return a warning where clean time was no faster than other time of the same length."""
    if result.beaten_share is None or result.beaten_share >= _BEATEN:
        return ()
    return (
        "noise is not shown to explain the rate: much was excluded, and what counts is faster than "
        f"only {result.beaten_share:.0%} of its rotations (placebo test)",
    )


def _left_out(result: Observed) -> tuple[str, ...]:
    if not result.left_out:
        return ()
    parts = ", ".join(f"{each.why} {each.share:.1%}" for each in result.left_out)
    return (f"excluded: {parts}",)


def _each(cpu_s: float, gbit: float) -> float:
    return cpu_s / gbit if gbit else 0.0


def _results(runs: Iterable[TcpRun], direction: TcpDirection) -> list[TcpDirectionResult]:
    return [result for run in runs for result in run.directions if result.direction is direction]


def _figure(runs: Sequence[TcpRun], direction: TcpDirection) -> TcpFigure:
    rates = [run.rate_bps(direction) for run in runs]
    results = _results(runs, direction)
    [(limited_by, agreeing)] = Counter(result.limited_by for result in results).most_common(1)
    again = [sum(result.retransmits for result in _results([run], direction)) for run in runs]
    return TcpFigure(
        direction,
        median(rates),
        min(rates),
        max(rates),
        round(median(again)),
        limited_by,
        next(result.because for result in results if result.limited_by == limited_by),
        agreeing,
        len(results),
        _mean(results, lambda result: result.transfer_time_ratio),
        _mean(results, lambda result: result.tcp_efficiency_percent),
        _mean(results, lambda result: result.buffer_delay_percent),
    )


def _mean(
    results: Sequence[TcpDirectionResult], of: Callable[[TcpDirectionResult], float | None]
) -> float | None:
    found = [value for result in results if (value := of(result)) is not None]
    return fmean(found) if found else None
