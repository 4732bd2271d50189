# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from wirespeed.model.cpus import Proximity
from wirespeed.model.result import Bound, Interval, SearchResult
from wirespeed.report.compare import Difference, Placement, Verdict, compare_runs
from wirespeed.store.records import PointRecord, PointState, RunRecord


def scaled(run: RunRecord, factor: float) -> RunRecord:
    """The run as if everything had been found at `factor` times the rate."""
    return replace(run, points=tuple(_scaled(point, factor) for point in run.points))


def _scaled(point: PointRecord, factor: float) -> PointRecord:
    result = point.result
    assert result is not None
    return replace(
        point,
        result=replace(
            result,
            ndr=_interval(result.ndr, factor),
            pdr=_interval(result.pdr, factor),
            mrr_fps=(result.mrr_fps or 0) * factor,
        ),
    )


def _interval(interval: Interval | None, factor: float) -> Interval:
    assert interval is not None
    assert interval.lower is not None
    return replace(interval, lower=_bound(interval.lower, factor))


def _bound(bound: Bound, factor: float) -> Bound:
    return replace(bound, load_fps=bound.load_fps * factor)


def first(run_a: RunRecord, run_b: RunRecord, tolerance: float = 0.05) -> Difference:
    return compare_runs(run_a, run_b, tolerance).differences[0]


def test_a_run_is_no_worse_than_itself(run: RunRecord) -> None:
    compared = compare_runs(run, run, 0.0)
    assert len(compared.differences) == 3 * len(run.points)
    assert {d.verdict for d in compared.differences} == {Verdict.SAME}
    assert not compared.worse


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [
        (0.94, Verdict.WORSE),
        (0.96, Verdict.WITHIN_TOLERANCE),
        (1.06, Verdict.BETTER),
        (0.9999, Verdict.SAME),
    ],
)
def test_the_tolerance_decides(run: RunRecord, factor: float, verdict: Verdict) -> None:
    difference = first(run, scaled(run, factor))
    assert difference.change == pytest.approx(factor - 1)
    assert difference.verdict is verdict


def test_noise_comes_from_width_and_scatter(run: RunRecord) -> None:
    ndr, _, mrr = compare_runs(run, run, 0.05).differences[:3]
    assert 0 < mrr.noise < 0.02
    assert ndr.noise > mrr.noise


def test_a_figure_that_is_gone_is_worse(run: RunRecord) -> None:
    result = run.points[0].result
    assert result is not None
    gone = replace(result, ndr=None, not_measurable="all invalid")
    b = replace(run, points=(replace(run.points[0], result=gone), *run.points[1:]))
    compared = compare_runs(run, b, 0.05)
    assert [d.verdict for d in compared.worse] == [Verdict.GONE]
    assert first(b, run).verdict is Verdict.NEW


def test_only_points_with_the_same_parameters_are_compared(run: RunRecord) -> None:
    a = replace(run, points=run.points[:4])
    b = replace(run, points=run.points[2:])
    compared = compare_runs(a, b, 0.05)
    assert {d.label for d in compared.differences} == {p.label for p in run.points[2:4]}
    assert compared.only_a == tuple(p.label for p in run.points[:2])
    assert compared.only_b == tuple(p.label for p in run.points[4:])


def test_a_point_that_is_not_complete_is_not_compared(run: RunRecord) -> None:
    b = replace(run, points=tuple(replace(p, state=PointState.RUNNING) for p in run.points))
    assert compare_runs(run, b, 0.05).differences == ()


def test_a_result_without_bounds_has_no_width(run: RunRecord) -> None:
    bound = Bound(1e6, 1e6, 0.0)
    result = SearchResult("fixed", False, (), constant=bound)
    point = replace(run.points[0], result=result, trials=())
    only = replace(run, points=(point,))
    (difference,) = compare_runs(only, only, 0.05).differences
    assert (difference.figure, difference.noise) == ("constant", 0.0)


def test_cpus_that_were_placed_differently_are_named(run: RunRecord) -> None:
    def placed(core_to_core_ns: float) -> RunRecord:
        pair = (Proximity(core_to_core_ns, 1.0), Proximity(core_to_core_ns, 1.0))
        point = run.points[0]
        trials = tuple(
            replace(t, trial=replace(t.trial, seen=replace(t.trial.seen, proximity=pair)))
            for t in point.trials
        )
        return replace(run, points=(replace(point, trials=trials), *run.points[1:]))

    assert compare_runs(run, run, 0.05).placements == ()
    assert compare_runs(placed(45), placed(60), 0.05).placements == ()
    assert compare_runs(run, placed(60), 0.05).placements == (), "not known for all"
    (found,) = compare_runs(placed(45), placed(220), 0.05).placements
    assert found == Placement(run.points[0].label, Proximity(45, 1.0), Proximity(220, 1.0))
