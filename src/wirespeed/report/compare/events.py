# SPDX-License-Identifier: Apache-2.0
"""Compare the blackouts after events of two runs, by type of event. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wirespeed.model.result.convergence import ConvergenceResult, ConvergenceRun
from wirespeed.model.result.quantile import half_interval
from wirespeed.report.compare.comparison import Difference, Judgement
from wirespeed.report.compare.judge import judge


@dataclass(frozen=True, slots=True)
class _Blackout:
    """Blackout of the median prefix over the repeats of an event, in ms."""

    median_ms: float
    error_ms: float | None
    """Half of the 95% interval; None with fewer than two repeats."""
    resolution_ms: float


def event_differences(
    label: str, a: ConvergenceResult, b: ConvergenceResult, tolerance: float
) -> Iterator[Difference]:
    """Yield the difference of each event that a run has, those of A first."""
    runs_a, runs_b = _by_event(a.runs), _by_event(b.runs)
    for event in dict.fromkeys((*runs_a, *runs_b)):
        yield _difference(
            label, event, _blackout(runs_a.get(event)), _blackout(runs_b.get(event)), tolerance
        )


def _by_event(runs: Sequence[ConvergenceRun]) -> dict[str, list[ConvergenceRun]]:
    found: dict[str, list[ConvergenceRun]] = {}
    for run in runs:
        found.setdefault(run.event, []).append(run)
    return found


def _blackout(runs: Sequence[ConvergenceRun] | None) -> _Blackout | None:
    if not runs:
        return None
    values = [run.blackout.p50_ms for run in runs]
    half = half_interval(values) if any(values) or len(values) < 2 else 0.0
    return _Blackout(
        statistics.median(values),
        None if half is None else half * statistics.fmean(values),
        max(run.interval_ms for run in runs),
    )


def _difference(
    label: str, event: str, a: _Blackout | None, b: _Blackout | None, tolerance: float
) -> Difference:
    """Return the difference in shares of A's blackout, or of the resolution where that is more."""
    change = error = None
    verdict = Judgement.NEW if a is None else Judgement.GONE
    if a is not None and b is not None:
        resolution_ms = max(a.resolution_ms, b.resolution_ms)
        base_ms = max(a.median_ms, resolution_ms)
        change = (b.median_ms - a.median_ms) / base_ms
        if a.error_ms is not None and b.error_ms is not None:
            error = (math.hypot(a.error_ms, b.error_ms) + resolution_ms) / base_ms
        verdict = judge(-change, error, tolerance)
    return Difference(
        label, f"blackout p50 after {event}", None if a is None else a.median_ms,
        None if b is None else b.median_ms, change, error, verdict, unit="ms",
        lower_is_better=True,
    )  # fmt: skip
