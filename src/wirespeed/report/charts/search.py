# SPDX-License-Identifier: Apache-2.0
"""Which loads did a search try, in which order, and how did each trial end?"""

from __future__ import annotations

from wirespeed.model.trial import Trial
from wirespeed.report.charts.shapes import Mark, SearchChart, TrialMark
from wirespeed.report.text import loss, mpps, seconds
from wirespeed.store.records import PointRecord


def search_chart(point: PointRecord) -> SearchChart | None:
    """Every trial of the point, or None before the first one."""
    if not point.trials:
        return None
    marks, now_s = [], 0.0
    for number, stored in enumerate(point.trials, start=1):
        trial = stored.trial
        end_s = now_s + trial.duration_s + trial.seen.overhead_s
        mark = outcome(trial, point.spec.search.pdr_loss)
        load_mpps = trial.intended_load_fps / 1e6
        marks.append(TrialMark(now_s, end_s, load_mpps, mark, _hover(number, trial)))
        now_s = end_s
    return SearchChart(f"search-{point.id}", point.label, tuple(marks), _levels(point))


def _levels(point: PointRecord) -> tuple[tuple[str, float], ...]:
    result = point.result
    if result is None:
        return ()
    intervals = (("NDR", result.ndr), ("PDR", result.pdr))
    return tuple((name, i.lower.load_fps / 1e6) for name, i in intervals if i and i.lower)


def outcome(trial: Trial, pdr_loss: float) -> Mark:
    """An invalid trial has no loss to speak of."""
    if not trial.valid:
        return Mark.INVALID
    if trial.lost == 0:
        return Mark.NO_LOSS
    return Mark.WITHIN_GOAL if trial.loss_ratio <= pdr_loss else Mark.LOSS


def _hover(number: int, trial: Trial) -> str:
    said = f"lost {trial.lost:,} ({loss(trial.loss_ratio)})"
    if not trial.valid:
        said = f"invalid: {trial.invalid_reason}"
    return (
        f"{number}. {trial.stage}, {mpps(trial.intended_load_fps)} Mpps for "
        f"{seconds(trial.duration_s)}: {said}"
    )
