# SPDX-License-Identifier: Apache-2.0
"""Draw the loads that a search tried, in order, and the outcome of each trial."""

from __future__ import annotations

from wirespeed.explain.trial import outcome, standing
from wirespeed.model.result.trial import Trial
from wirespeed.model.words import mpps, seconds
from wirespeed.report.base.trial_words import trial_words
from wirespeed.report.charts.shapes import SearchChart, TrialMark
from wirespeed.store.records import PointRecord


def search_chart(point: PointRecord) -> SearchChart | None:
    """Return every trial of the point, or None before the first one."""
    if not point.trials:
        return None
    marks, now_s = [], 0.0
    for number, stored in enumerate(point.trials, start=1):
        trial = stored.trial
        end_s = now_s + trial.duration_s + trial.observation.overhead_s
        found = outcome(trial, point.frames.search.pdr_loss)
        load_mpps = trial.intended_load_fps / 1e6
        marks.append(TrialMark(now_s, end_s, load_mpps, found, _hover(number, trial)))
        now_s = end_s
    return SearchChart(f"search-{point.key}", point.label, tuple(marks), _levels(point))


def _levels(point: PointRecord) -> tuple[tuple[str, float], ...]:
    result = point.result
    if result is None:
        return ()
    intervals = (("NDR", result.ndr), ("PDR", result.pdr))
    levels = [(name, i.lower.load_fps) for name, i in intervals if i and i.lower]
    if result.bracket is not None:
        ends = (("carried", result.bracket.carried_fps), ("too much", result.bracket.overloads_fps))
        levels += [(name, fps) for name, fps in ends if fps is not None]
    return tuple((name, fps / 1e6) for name, fps in levels)


def _hover(number: int, trial: Trial) -> str:
    return (
        f"{number}. {trial.stage}, {mpps(trial.intended_load_fps)} Mpps for "
        f"{seconds(trial.duration_s)}, {standing(trial)}: {trial_words(trial)}"
    )
