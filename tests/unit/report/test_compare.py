# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.sample import observing
from wirespeed.model.cpus import CpuPlacement, PlacementKind
from wirespeed.model.result.result import Bound, Bracket, Grade, Interval, SearchResult
from wirespeed.report.compare.comparison import (
    Comparison,
    Difference,
    GradeChange,
    Judgement,
    Overall,
    PlacementChange,
)
from wirespeed.report.compare.runs import compare_runs
from wirespeed.store.records import PointRecord, PointState, RunRecord

NEAR, FAR = PlacementKind.ONE_CACHE, PlacementKind.ACROSS_CACHES


def with_result(point: PointRecord, **changes: object) -> PointRecord:
    assert point.result is not None
    return replace(point, result=replace(point.result, **changes))  # type: ignore[arg-type]


def scaled(run: RunRecord, factor: float) -> RunRecord:
    """Return the run as if every clean rate were `factor` times as high."""
    return replace(run, points=tuple(_scaled(point, factor) for point in run.points))


def _scaled(point: PointRecord, factor: float) -> PointRecord:
    result = point.result
    assert result is not None
    if result.bracket is not None:
        return point
    return with_result(
        point,
        ndr=_interval(result.ndr, factor),
        pdr=_interval(result.pdr, factor),
        mrr_fps=(result.mrr_fps or 0) * factor,
    )


def _interval(interval: Interval | None, factor: float) -> Interval:
    assert interval is not None
    return replace(
        interval, lower=_bound(interval.lower, factor), upper=_bound(interval.upper, factor)
    )


def _bound(bound: Bound | None, factor: float) -> Bound:
    assert bound is not None
    return replace(bound, load_fps=bound.load_fps * factor)


def only(run: RunRecord, index: int, **changes: object) -> RunRecord:
    """Return the run with one point."""
    return replace(run, points=(with_result(run.points[index], **changes),))


def first(compared: Comparison) -> Difference:
    return compared.differences[0]


def test_a_run_is_no_worse_than_itself(run: RunRecord) -> None:
    compared = compare_runs(run, run, 0.05)
    verdicts = {d.verdict for d in compared.differences}
    assert verdicts == {Judgement.SAME, Judgement.CANNOT_TELL, Judgement.AS_IS}
    assert not compared.worse
    assert compared.grades == ()


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [
        (0.94, Judgement.WORSE),
        (0.96, Judgement.WITHIN_TOLERANCE),
        (1.06, Judgement.BETTER),
        (0.9999, Judgement.SAME),
    ],
)
def test_the_tolerance_decides_where_the_runs_leave_nothing_open(
    run: RunRecord, factor: float, verdict: Judgement
) -> None:
    difference = first(compare_runs(run, scaled(run, factor), 0.05))
    assert difference.change == pytest.approx(factor - 1)
    assert difference.verdict is verdict


def test_a_loss_within_both_brackets_is_undecided(run: RunRecord) -> None:
    """6% less, but the search of each stopped 10% wide."""
    ndr = run.points[0].result and run.points[0].result.ndr
    assert ndr is not None
    assert ndr.lower is not None
    wide = replace(ndr, upper=_bound(ndr.lower, 1.1))
    a = only(run, 0, ndr=wide)
    compared = compare_runs(a, only(run, 0, ndr=_interval(wide, 0.94)), 0.05)
    assert first(compared).verdict is Judgement.CANNOT_TELL
    assert not compared.worse


def test_the_error_of_a_change_adds_width_growth_and_scatter(run: RunRecord) -> None:
    ndr, _, mrr = compare_runs(run, run, 0.05).differences[:3]
    # Half the search's width, (1.005 - 0.99) / 0.99 / 2, half the verdict's, and growth's bound.
    assert ndr.error == pytest.approx(2 * (0.0150 / 0.99 / 2 + 0.0025 + 0.0008), rel=0.01)
    assert mrr.error == pytest.approx(2**0.5 * 0.01)


def test_compare_interval_wider_than_the_tolerance_cannot_tell(run: RunRecord) -> None:
    wide = only(run, 0, mrr_half_interval=0.35)
    verdicts = {d.figure: d.verdict for d in compare_runs(wide, wide, 0.05).differences}
    assert verdicts["MRR"] is Judgement.CANNOT_TELL


def test_compare_without_an_error_is_never_better(run: RunRecord) -> None:
    bare = replace(run, points=(replace(run.points[0], trials=()),))
    a, b = only(bare, 0, mrr_half_interval=None), only(bare, 0, mrr_half_interval=None, mrr_fps=9e9)
    verdicts = {d.figure: d.verdict for d in compare_runs(a, b, 0.05).differences}
    assert verdicts["MRR"] is Judgement.CANNOT_TELL


def test_compare_lower_bound_is_a_range_without_an_error(run: RunRecord) -> None:
    ndr = run.points[0].result and run.points[0].result.ndr
    assert ndr is not None
    unreached = only(run, 0, ndr=replace(ndr, upper=None))
    difference = first(compare_runs(unreached, unreached, 0.05))
    assert (difference.verdict, difference.error) == (Judgement.CANNOT_TELL, None)
    assert difference.a_bracket is not None
    assert difference.a_bracket.overloads_fps is None


@pytest.mark.parametrize(
    ("verdicts", "overall"),
    [
        ([Judgement.SAME, Judgement.WITHIN_TOLERANCE], Overall.SAME),
        ([Judgement.SAME, Judgement.BETTER], Overall.BETTER),
        ([Judgement.BETTER, Judgement.CANNOT_TELL], Overall.CANNOT_TELL),
        ([Judgement.CANNOT_TELL, Judgement.SAME], Overall.CANNOT_TELL),
        ([Judgement.APART], Overall.CANNOT_TELL),
        ([Judgement.NEW, Judgement.AS_IS], Overall.CANNOT_TELL),
        ([Judgement.BETTER, Judgement.CANNOT_TELL, Judgement.GONE], Overall.WORSE),
        ([Judgement.WORSE, Judgement.BETTER], Overall.WORSE),
    ],
)
def test_compare_overall_verdict(verdicts: list[Judgement], overall: Overall) -> None:
    found = [Difference("p", "NDR", 1.0, 1.0, 0.0, 0.0, one) for one in verdicts]
    assert Comparison(tuple(found), (), (), (), ()).overall is overall


def test_brackets_differ_only_when_they_are_disjoint(run: RunRecord) -> None:
    def verdict(a: Bracket, b: Bracket) -> Judgement:
        compared = compare_runs(only(run, 3, bracket=a), only(run, 3, bracket=b), 0.05)
        return first(compared).verdict

    there = Bracket(2e6, 4e6)
    assert verdict(there, Bracket(3.9e6, 8e6)) is Judgement.CANNOT_TELL
    assert verdict(there, Bracket(5e6, None)) is Judgement.BETTER
    assert verdict(there, Bracket(4.1e6, None)) is Judgement.BETTER_WITHIN_TOLERANCE
    assert verdict(there, Bracket(None, 1.8e6)) is Judgement.WORSE
    assert verdict(there, Bracket(1e6, 1.95e6)) is Judgement.WITHIN_TOLERANCE
    assert verdict(there, Bracket(None, None)) is Judgement.CANNOT_TELL


def test_a_bracket_is_compared_with_an_ndr_as_a_range(run: RunRecord) -> None:
    ndr = run.points[0].result and run.points[0].result.ndr
    assert ndr is not None
    assert ndr.lower is not None
    fps = ndr.lower.load_fps
    d = {"grade": Grade.D, "ndr": None, "pdr": None, "mrr_fps": None}
    within = only(run, 0, **d, bracket=Bracket(0.5 * fps, 1.2 * fps))
    below = only(run, 0, **d, bracket=Bracket(0.3 * fps, 0.5 * fps))
    a = replace(run, points=run.points[:1])
    difference = first(compare_runs(a, within, 0.05))
    assert (difference.verdict, difference.b_bracket) == (
        Judgement.CANNOT_TELL,
        Bracket(0.5 * fps, 1.2 * fps),
    )
    assert first(compare_runs(a, below, 0.05)).verdict is Judgement.WORSE
    assert not any(d.verdict is Judgement.GONE for d in compare_runs(a, within, 0.05).differences)


def test_a_grade_that_changed_is_reported(run: RunRecord) -> None:
    compared = compare_runs(only(run, 0), only(run, 0, grade=Grade.B), 0.05)
    assert compared.grades == (GradeChange(run.points[0].label, Grade.C, Grade.B),)


def test_rates_over_all_time_are_shown_and_decide_nothing(run: RunRecord) -> None:
    as_is = run.points[0].result and run.points[0].result.as_is
    assert as_is is not None
    loud = only(run, 0, as_is=replace(as_is, lossless_fps=1e5, mrr_fps=1e5))
    compared = compare_runs(only(run, 0), loud, 0.05)
    shown = [d for d in compared.differences if d.verdict is Judgement.AS_IS]
    assert [d.figure for d in shown] == ["lossless as is", "MRR as is"]
    assert all(d.change is not None and d.change < -0.9 for d in shown)
    assert not compared.worse


def test_a_figure_that_is_gone_is_worse(run: RunRecord) -> None:
    gone = only(run, 0, ndr=None, not_measurable="no trial could run")
    compared = compare_runs(only(run, 0), gone, 0.05)
    assert [d.verdict for d in compared.worse] == [Judgement.GONE]
    assert first(compare_runs(gone, only(run, 0), 0.05)).verdict is Judgement.NEW


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


def test_compare_single_trial_has_no_known_error(run: RunRecord) -> None:
    bound = Bound(1e6, 1e6, 0.0)
    result = SearchResult("fixed", False, (), constant=bound)
    point = replace(run.points[0], result=result, trials=())
    alone = replace(run, points=(point,))
    (difference,) = compare_runs(alone, alone, 0.05).differences
    assert (difference.figure, difference.error) == ("constant", None)


def test_compare_old_runs_takes_the_placement_of_their_trials(run: RunRecord) -> None:
    def placed(core_to_core_ns: float) -> RunRecord:
        pair = (CpuPlacement(core_to_core_ns, 1.0), CpuPlacement(core_to_core_ns, 1.0))
        point = run.points[0]
        return replace(run, points=(observing(point, placement=pair), *run.points[1:]))

    assert compare_runs(run, run, 0.05).placements == ()
    assert compare_runs(placed(45), placed(60), 0.05).placements == ()
    (found,) = compare_runs(placed(45), placed(220), 0.05).placements
    assert found == PlacementChange(run.points[0].label, (NEAR,), (FAR,))


def placed(
    run: RunRecord, first: PlacementKind | None, factor: float = 1.0,
    others: dict[PlacementKind, float] | None = None,
) -> RunRecord:  # fmt: skip
    """Return the run's first point with its rates times a factor, found in that placement.

    others: factors of further placements.
    """
    point = run.points[0]
    more = tuple(
        replace(one.result, placement=kind)
        for kind, by in (others or {}).items()
        if (one := _scaled(point, by)).result is not None
    )
    return replace(
        run,
        points=(with_result(_scaled(point, factor), placement=first, by_placement=more),),
    )


def verdicts(compared: Comparison) -> dict[tuple[str, PlacementKind | None], Judgement]:
    return {
        (d.figure, d.placement): d.verdict
        for d in compared.differences
        if d.verdict is not Judgement.AS_IS
    }


def test_compare_runs_without_a_common_placement_judges_nothing(run: RunRecord) -> None:
    compared = compare_runs(placed(run, NEAR), placed(run, FAR, 0.6), 0.05)
    assert set(verdicts(compared).values()) == {Judgement.APART}
    assert all(d.change is None for d in compared.differences if d.verdict is Judgement.APART)
    assert compared.placements == (PlacementChange(run.points[0].label, (NEAR,), (FAR,)),)
    assert not compared.worse


def test_compare_headlines_of_two_placements_are_matched_with_the_others(run: RunRecord) -> None:
    """Far headline against near headline: both met both, and near is 10% worse."""
    a = placed(run, NEAR, 1.0, {FAR: 0.6})
    b = placed(run, FAR, 0.6, {NEAR: 0.9})
    found = verdicts(compare_runs(a, b, 0.05))
    assert found["NDR", NEAR] is Judgement.WORSE
    assert found["NDR", FAR] is Judgement.SAME


def test_compare_one_common_placement_of_several_is_the_one_compared(run: RunRecord) -> None:
    found = verdicts(compare_runs(placed(run, NEAR, 1.0, {FAR: 0.6}), placed(run, FAR, 0.6), 0.05))
    assert {kind for _, kind in found} == {FAR}
    assert found["NDR", FAR] is Judgement.SAME


def test_compare_merged_placements_name_the_one_that_is_compared(run: RunRecord) -> None:
    """Run A made no difference between the placements that run B found apart."""
    a = only(placed(run, NEAR), 0, merged=(FAR,))
    b = placed(run, NEAR, 1.0, {FAR: 0.6})
    for pair in ((a, b), (b, a)):
        changes = {
            d.placement: abs(d.change or 0) > 0.3
            for d in compare_runs(*pair, 0.05).differences
            if d.figure == "NDR"
        }
        assert changes == {NEAR: False, FAR: True}


def test_compare_rate_missing_in_one_placement_only_is_not_gone(run: RunRecord) -> None:
    a, b = placed(run, NEAR, 1.0, {FAR: 0.6}), placed(run, NEAR, 1.0, {FAR: 0.6})
    assert b.points[0].result is not None
    (far,) = b.points[0].result.by_placement
    b = only(b, 0, by_placement=(replace(far, ndr=None),))
    found = verdicts(compare_runs(a, b, 0.05))
    assert ("NDR", FAR) not in found
    assert found["NDR", NEAR] is Judgement.SAME


def test_compare_one_placement_in_both_runs_is_as_without_placements(run: RunRecord) -> None:
    plain = compare_runs(placed(run, None), placed(run, None, 0.9), 0.05)
    assert compare_runs(placed(run, NEAR), placed(run, NEAR, 0.9), 0.05) == plain


def test_compare_placement_known_of_one_run_compares_and_says_so(run: RunRecord) -> None:
    b = placed(run, None, 0.9)
    unknown = replace(b, points=(replace(b.points[0], trials=()),))
    compared = compare_runs(placed(run, NEAR), unknown, 0.05)
    assert verdicts(compared)["NDR", None] is Judgement.WORSE
    assert compared.placements == (PlacementChange(run.points[0].label, (NEAR,), ()),)
