# SPDX-License-Identifier: Apache-2.0
"""Summarise the runs of events after which a router converges. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from wirespeed.model.result.convergence import (
    ConvergenceFigure,
    ConvergenceResult,
    ConvergenceRun,
    Spread,
)


def summarise(runs: Sequence[ConvergenceRun], rate_fps: float) -> ConvergenceResult:
    """Return the result of all runs, by type of event in the order of their first run."""
    kinds = dict.fromkeys(run.event for run in runs)
    figures = (_figure([run for run in runs if run.event == kind]) for kind in kinds)
    return ConvergenceResult(tuple(figures), tuple(runs), rate_fps)


def _figure(runs: Sequence[ConvergenceRun]) -> ConvergenceFigure:
    return ConvergenceFigure(
        event=runs[0].event,
        runs=len(runs),
        blackout=_all([run.blackout for run in runs]),
        lost=max(run.lost for run in runs),
        misrouted=max(run.misrouted for run in runs),
        looped=max(run.looped for run in runs),
        duplicated=max(run.duplicated for run in runs),
        unreachable=max(run.unreachable for run in runs),
        blocked_ms=statistics.median(run.blocked_ms for run in runs),
        linear_ms=statistics.median(run.linear_ms for run in runs),
        reroute=_known(runs, lambda run: run.reroute),
        protocol=_known(runs, lambda run: run.protocol),
        forwarding=_known(runs, lambda run: run.forwarding),
        outliers=max(run.outliers for run in runs),
    )


def _known(
    runs: Sequence[ConvergenceRun], read: Callable[[ConvergenceRun], Spread | None]
) -> Spread | None:
    found = [spread for run in runs if (spread := read(run)) is not None]
    return _all(found) if found else None


def _all(spreads: Sequence[Spread]) -> Spread:
    """Return the medians over runs, and the largest maximum."""
    return Spread(
        statistics.median(each.p50_ms for each in spreads),
        statistics.median(each.p99_ms for each in spreads),
        max(each.max_ms for each in spreads),
    )
