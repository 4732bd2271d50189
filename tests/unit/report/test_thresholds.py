# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.model.result.result import Bound, Bracket, Grade, Interval, SearchResult
from wirespeed.model.words import EMULATED
from wirespeed.report.text.threshold_text import check_labels, read_thresholds
from wirespeed.report.views.thresholds import Judged, Metric, Threshold, Verdict, judge, unmet
from wirespeed.store.records import PointState, RunRecord


def read(text: str) -> Threshold:
    [found] = read_thresholds([text])
    return found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("p2p, 64 B: ndr >= 5e6", ("p2p, 64 B", Metric.NDR, ">=", 5e6)),
        (" p2p,  64 B :MRR>4.5e6 ", ("p2p, 64 B", Metric.MRR, ">", 4.5e6)),
        ("a:b: pdr >= 1", ("a:b", Metric.PDR, ">=", 1.0)),
        ("*: p99 <= 120.5", ("*", Metric.P99, "<=", 120.5)),
        ("*:p50<20", ("*", Metric.P50, "<", 20.0)),
        ("*: grade >= B", ("*", Metric.GRADE, ">=", Grade.B)),
    ],
)
def test_read_valid_text_returns_threshold(text: str, wanted: tuple[object, ...]) -> None:
    found = read(text)
    assert (found.label, found.metric, found.comparison, found.limit) == wanted


@pytest.mark.parametrize(
    ("text", "column", "why"),
    [
        ("", 1, 'must be ":" after the label'),
        ("p2p, 64 B", 10, 'must be ":" after the label'),
        (": ndr >= 5", 1, "must be the label of a point"),
        ("a: ndx >= 5", 4, "must be one of ndr, pdr, mrr"),
        ("a:", 3, "must be one of ndr"),
        ("a: ndr => 5", 8, "must be one of >=, <=, >, <"),
        ("a: ndr = 5", 8, "must be one of >="),
        ("a: ndr >= ", 11, "must be a number"),
        ("a: ndr >= five", 11, "must be a number"),
        ("a: ndr >= -5", 11, "must be a number"),
        ("a: ndr >= nan", 11, "must be a number"),
        ("a: ndr >= 0", 11, "must be a number above 0"),
        ("a: ndr >= 1e999", 11, "must be a number above 0"),
        ("a: ndr >= 5e6 fps", 15, "must be the end"),
        ("a: ndr >= 5 Mpps", 13, "must be the end"),
        ("a: grade >= E", 13, "must be A, B or C"),
        ("a: grade >= D", 13, "must be A, B or C: every rate has at least a D"),
        ("a: grade <= B", 10, "must be >="),
        ("a: grade >= BB", 14, "must be the end"),
    ],
)
def test_read_wrong_text_names_column(text: str, column: int, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(text)
    assert f'--threshold "{text}": column {column}: {why}' in refused.value.what


def test_check_labels_unknown_point_is_refused_with_a_near_one() -> None:
    with pytest.raises(BadInput) as refused:
        check_labels([read("p2p, 65 B: ndr > 1")], ["p2p, 64 B", "pvp, 64 B"], "study s")
    assert 'study s has no point "p2p, 65 B"' in refused.value.what
    assert 'Did you mean "p2p, 64 B"?' in refused.value.next_step
    check_labels([read("*: ndr > 1")], ["p2p, 64 B"], "study s")


def test_check_labels_caption_of_an_emulated_point_is_its_label() -> None:
    threshold = read(f"p2p, 64 B ({EMULATED}): ndr > 1")
    assert threshold.label == "p2p, 64 B"
    check_labels([threshold], ["p2p, 64 B"], "study s")


def of_first(run: RunRecord, text: str, **changed: object) -> Judged:
    """Return the verdict on the run's first point with a changed result."""
    point = run.points[0]
    assert point.result is not None
    result = replace(point.result, **changed)  # type: ignore[arg-type]
    [judged] = judge(replace(run, points=(replace(point, result=result),)), [read(text)])
    return judged


def bound(fps: float) -> Bound:
    return Bound(fps, fps, 0.0)


EXACT = Interval(bound(5e6), bound(5.1e6))
NO_LIMIT_FOUND = Interval(bound(5e6), None)
NONE_PASSED = Interval(None, bound(5e6))


@pytest.mark.parametrize(
    ("ndr", "bracket", "limit", "verdict"),
    [
        (EXACT, None, ">= 5e6", Verdict.MET),
        (EXACT, None, "> 5e6", Verdict.MISSED),
        (EXACT, None, ">= 5.05e6", Verdict.MISSED),
        (EXACT, None, "<= 5e6", Verdict.MET),
        (NO_LIMIT_FOUND, None, ">= 5e6", Verdict.MET),
        (NO_LIMIT_FOUND, None, ">= 6e6", Verdict.CANNOT_TELL),
        (NO_LIMIT_FOUND, None, "< 4e6", Verdict.MISSED),
        (NONE_PASSED, None, ">= 6e6", Verdict.MISSED),
        (NONE_PASSED, None, ">= 1e6", Verdict.CANNOT_TELL),
        (NONE_PASSED, None, ">= 5e6", Verdict.MISSED),
        (NONE_PASSED, None, "< 5e6", Verdict.MET),
        (None, Bracket(4e6, 8e6), ">= 8e6", Verdict.MISSED),
        (None, Bracket(4e6, 8e6), "< 8e6", Verdict.MET),
        (None, Bracket(4e6, 8e6), ">= 4e6", Verdict.MET),
        (None, Bracket(4e6, 8e6), ">= 5e6", Verdict.CANNOT_TELL),
        (None, Bracket(4e6, 8e6), ">= 9e6", Verdict.MISSED),
        (None, Bracket(None, 8e6), ">= 5e6", Verdict.CANNOT_TELL),
        (None, Bracket(4e6, None), ">= 5e6", Verdict.CANNOT_TELL),
        (None, Bracket(None, None), ">= 5e6", Verdict.CANNOT_TELL),
        (None, None, ">= 5e6", Verdict.CANNOT_TELL),
    ],
)
def test_judge_rate_against_limit(
    run: RunRecord, ndr: Interval | None, bracket: Bracket | None, limit: str, verdict: Verdict
) -> None:
    judged = of_first(run, f"*: ndr {limit}", ndr=ndr, bracket=bracket)
    assert judged.verdict is verdict
    assert unmet([judged]) == (() if verdict is Verdict.MET else (judged,))


def test_judge_latency_is_that_of_the_table(run: RunRecord) -> None:
    result = run.points[0].result
    assert result is not None
    latency = result.half_load_latency
    assert latency is not None
    at = latency.p99_ns / 1e3
    assert of_first(run, f"*: p99 <= {at * 1.001}").verdict is Verdict.MET
    assert of_first(run, f"*: p99 <= {at * 0.999}").verdict is Verdict.MISSED
    found = of_first(run, f"*: p50 < {at}").found
    assert found.endswith("\N{MICRO SIGN}s at half the PDR, clean time")
    half = result.latency_at(0.5)
    assert half is not None
    whole = (replace(half, undisturbed=None),)
    assert of_first(run, "*: p99 < 1e9", latency=whole).found.endswith("all time")
    assert of_first(run, "*: p99 < 1e9", latency=()).verdict is Verdict.CANNOT_TELL


@pytest.mark.parametrize(
    ("grade", "wanted", "verdict"),
    [
        (Grade.A, "B", Verdict.MET),
        (Grade.B, "B", Verdict.MET),
        (Grade.C, "B", Verdict.MISSED),
        (None, "C", Verdict.CANNOT_TELL),
    ],
)
def test_judge_grade(run: RunRecord, grade: Grade | None, wanted: str, verdict: Verdict) -> None:
    assert of_first(run, f"*: grade >= {wanted}", grade=grade).verdict is verdict


def labels(judged: Sequence[Judged]) -> list[str]:
    return [one.label for one in judged]


def test_judge_star_names_every_point_that_the_host_can_run(run: RunRecord) -> None:
    first, *others = run.points
    skipped = replace(first, state=PointState.NOT_RUN, error="needs 8 cores", result=None)
    some = replace(run, points=(skipped, *others))
    assert labels(judge(some, [read("*: grade >= C")])) == [point.label for point in others]
    [named] = judge(some, [read(f"{first.label}: ndr > 1")])
    assert (named.verdict, named.found) == (Verdict.CANNOT_TELL, "not run: needs 8 cores")


def test_judge_star_without_any_point_is_not_met(run: RunRecord) -> None:
    skipped = replace(run.points[0], state=PointState.NOT_RUN, error="needs 8 cores", result=None)
    [judged] = judge(replace(run, points=(skipped,)), [read("*: ndr > 1")])
    assert unmet([judged]) == (judged,)
    assert str(judged) == "*: ndr > 1: cannot tell (no point was measured)"


def test_judge_emulated_point_by_its_label_or_caption(run: RunRecord) -> None:
    result = run.points[0].result
    assert isinstance(result, SearchResult)
    point = replace(run.points[0], result=replace(result, emulated="the guest's CPUs"))
    some = replace(run, points=(point,))
    for label in (point.label, point.caption):
        [judged] = judge(some, [read(f"{label}: mrr > 1")])
        assert judged.verdict is Verdict.MET
