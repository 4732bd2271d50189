# SPDX-License-Identifier: Apache-2.0
"""Check how the blackouts of two runs are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.unit.study.test_convergence import happened, run
from wirespeed.measure.convergence import summarise
from wirespeed.model.result.convergence import ConvergenceResult
from wirespeed.model.study.convergence import EventKind
from wirespeed.report.compare.comparison import Difference, Judgement, Overall
from wirespeed.report.compare.events import event_differences
from wirespeed.report.compare.runs import compare_runs
from wirespeed.store.records import RunRecord

__all__ = ["run"]  # the fixture


def after(kind: EventKind, blackouts_ms: Sequence[float]) -> ConvergenceResult:
    return summarise([happened(kind, ms, 0.0) for ms in blackouts_ms], 200_000)


def compared(a: Sequence[float], b: Sequence[float]) -> Difference:
    kind = EventKind.WITHDRAWAL
    [found] = event_differences("p", after(kind, a), after(kind, b), 0.05)
    return found


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ([100, 101, 102], [150, 151, 152], Judgement.WORSE),
        ([100, 101, 102], [50, 51, 52], Judgement.BETTER),
        ([100, 101, 102], [101, 102, 103], Judgement.SAME),
        ([50, 100, 200], [60, 130, 180], Judgement.CANNOT_TELL),
        ([100], [300], Judgement.CANNOT_TELL),
        # Below the frames' interval of 1 ms nothing is known.
        ([0, 0, 0], [0.5, 0.5, 0.5], Judgement.CANNOT_TELL),
        ([0, 0, 0], [20, 20, 20], Judgement.WORSE),
    ],
)
def test_blackout_is_judged_by_the_interval_of_its_repeats(
    a: Sequence[float], b: Sequence[float], verdict: Judgement
) -> None:
    assert compared(a, b).verdict is verdict


def test_blackout_difference_has_medians_and_a_gain_where_it_is_shorter() -> None:
    found = compared([100, 101, 105], [50, 51, 52])
    assert (found.figure, found.unit) == ("blackout p50 after withdrawal", "ms")
    assert (found.a_fps, found.b_fps) == (101, 51)
    assert found.change == pytest.approx(-50 / 101)
    assert found.gain == pytest.approx(50 / 101)


def test_event_of_one_run_alone_is_gone_or_new() -> None:
    one, other = after(EventKind.LINK_DOWN, [9, 9]), after(EventKind.PEER_KILLED, [9, 9])
    verdicts = {d.figure: d.verdict for d in event_differences("p", one, other, 0.05)}
    assert verdicts == {
        "blackout p50 after link-down": Judgement.GONE,
        "blackout p50 after peer-killed": Judgement.NEW,
    }


def test_run_whose_prefixes_are_dark_for_longer_is_worse(run: RunRecord) -> None:
    def repeated(factor: float) -> RunRecord:
        kind = EventKind.WITHDRAWAL
        points = []
        for point in run.points:
            assert point.result is not None
            longer = after(kind, [100 * factor, 101 * factor, 102 * factor])
            points.append(replace(point, result=replace(point.result, convergence=longer)))
        return replace(run, points=tuple(points))

    assert compare_runs(repeated(1), repeated(2), 0.05).overall is Overall.WORSE
    assert compare_runs(repeated(2), repeated(1), 0.05).overall is Overall.BETTER
