# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from wirespeed.model.result.reason import Reason
from wirespeed.model.result.result import (
    AsIs,
    BackToBack,
    Bound,
    Bracket,
    Grade,
    Interval,
    SearchResult,
    Undisturbed,
)
from wirespeed.model.result.trial import LeftOut
from wirespeed.report.text.sentence import point_sentence, result_sentences, short_sentence
from wirespeed.store.records import PointState, RunRecord

RESTS = Undisturbed(
    8e6, 24.0, 4.1, 412, 31, 3_100_000, 0, 1e-6, 0.0002, 0.002, 0.01,
    (LeftOut(Reason.CORE_SHARED, 0.78), LeftOut(Reason.GENERATOR_STOPPED, 0.031),
     LeftOut(Reason.GENERATOR_LATE, 0.0001)),
)  # fmt: skip
AS_IS = AsIs(6.2e6, 8e6, 0.09, 0.35, 4.9e6, 2.0)
LOW, HIGH = Bound(8e6, 8e6, 0.0), Bound(8.25e6, 8e6, 0.01)
C = SearchResult(
    "quick", False, (), Interval(LOW, HIGH), Interval(LOW, HIGH),
    mrr_fps=8.43e6, mrr_half_interval=0.048, grade=Grade.C, undisturbed=RESTS, as_is=AS_IS,
)  # fmt: skip


def result_sentence(result: SearchResult) -> str:
    return " ".join(result_sentences(result))


def test_a_gated_point_says_what_it_rests_on_and_what_the_host_gives() -> None:
    assert result_sentence(C) == (
        "NDR 8.000 Mpps (grade C: 17% of 24 s clean, 412 windows; no loss "
        "in 3.1 M frames, \N{LESS-THAN OR EQUAL TO}1e-6, and 31 pieces, \N{LESS-THAN OR EQUAL TO}"
        "9.7%; queues grew 0.02 \N{PLUS-MINUS SIGN} 0.2%). PDR 8.000, MRR 8.430 "
        "\N{PLUS-MINUS SIGN} 4.8% Mpps. All time counted: 9.0 to 35% lost "
        "at the NDR, highest rate without loss 4.900 Mpps (one trial of 2 s), MRR 6.200 Mpps. "
        "Excluded: "
        "core shared 78%, generator stopped 3.1%."
    )


def test_few_pieces_bound_nothing() -> None:
    said = result_sentence(replace(C, undisturbed=replace(RESTS, runs=3)))
    assert "no loss in 3.1 M frames, \N{LESS-THAN OR EQUAL TO}1e-6; queues" in said


def test_frames_lost_in_clean_time_are_never_called_none() -> None:
    lossy = replace(C, undisturbed=replace(RESTS, lost=12, loss_bound=7e-6))
    said = result_sentence(lossy)
    assert "12 of 3.1 M frames lost, 4e-6, \N{LESS-THAN OR EQUAL TO}7e-6" in said
    assert "no loss" not in said
    assert "pieces" not in said


@pytest.mark.parametrize("error", [0.0, 1.0])
def test_growth_that_is_not_known_is_not_given(error: float) -> None:
    said = result_sentence(replace(C, undisturbed=replace(RESTS, growth_error=error)))
    assert "queues" not in said
    assert "9.7%)." in said


def test_a_quiet_point_counts_whole() -> None:
    rests = replace(RESTS, clean_s=24.0, left_out=())
    as_is = replace(AS_IS, loss_low=0.0, loss_high=0.0, lossless_fps=8e6)
    said = result_sentence(replace(C, grade=Grade.A, undisturbed=rests, as_is=as_is))
    assert said.startswith("NDR 8.000 Mpps (grade A: all of 24 s count; no loss in 3.1 M frames")
    assert "All time counted: nothing lost at the NDR, MRR 6.200 Mpps." in said
    assert "clean" not in said
    assert "Excluded" not in said


@pytest.mark.parametrize(
    ("bracket", "starts"),
    [
        (
            Bracket(4.9e6, 8.25e6),
            "NDR at least 4.900, at most 8.250 Mpps: a whole trial at the",
        ),
        (Bracket(None, 8.25e6), "NDR at most 8.250 Mpps, which is too much"),
        (Bracket(4.9e6, None), "NDR at least 4.900 Mpps, where a whole trial lost nothing"),
        (Bracket(None, None), "NDR unknown: no load could be judged"),
    ],
)
def test_grade_d_is_a_bracket(bracket: Bracket, starts: str) -> None:
    d = SearchResult(
        "quick", False, (), grade=Grade.D, bracket=bracket, as_is=AsIs(6.2e6, lossless_fps=4.9e6)
    )
    said = result_sentence(d)
    assert said.startswith(starts)
    assert "(grade D: a bracket)." in said
    assert "MRR 6.200 Mpps" in said
    # The rate appears once: in the bracket, or for all time.
    assert said.count("4.900") == 1


def test_other_searches_have_their_own_figure() -> None:
    mrr = replace(C, ndr=None, pdr=None)
    assert result_sentence(mrr).startswith("MRR 8.430 \N{PLUS-MINUS SIGN} 4.8% Mpps (grade C: 17%")
    held = replace(mrr, mrr_fps=None, constant=Bound(4e6, 3.9e6, 0.025))
    assert result_sentence(held).startswith("4.000 Mpps held, 2.5% lost (grade C: 17%")
    assert "lost at that load" in result_sentence(held)
    burst = SearchResult(
        "b2b", False, (), grade=Grade.A, back_to_back=BackToBack(14e6, 900.0, 850, 950, 50, 1e-3)
    )
    assert result_sentence(burst) == (
        "Bursts of 900 frames at 14.00 Mpps pass without loss: the mean of 50, 850 to 950 "
        "(grade A)."
    )


def test_latency_is_given_both_ways(run: RunRecord) -> None:
    assert (
        "\N{MICRO SIGN}s in clean time, 3.2 and 95.7 \N{MICRO SIGN}s in all time."
        in point_sentence(run.points[0])
    )
    assert point_sentence(run.points[2]).endswith("p50 and p99: 3.2 and 8.0 \N{MICRO SIGN}s.")


def test_a_point_without_a_result_states_its_reason(run: RunRecord) -> None:
    nothing = SearchResult("quick", False, (), not_measurable="no trial could run")
    assert result_sentence(nothing) == "Not measurable: no trial could run."
    assert short_sentence(nothing) == "not measurable"
    pending = replace(run.points[0], state=PointState.PENDING, result=None)
    assert point_sentence(pending) == "Not measured yet."
    assert point_sentence(replace(pending, error="it broke")) == "Not measured: it broke."


def test_a_grade_that_was_not_recorded_is_not_made_up() -> None:
    old = replace(C, grade=None, undisturbed=None, as_is=None)
    assert result_sentence(old).startswith("NDR 8.000 Mpps (grade not recorded).")


def test_one_line_of_a_log() -> None:
    assert short_sentence(C) == "NDR 8.000, PDR 8.000, MRR 8.430 Mpps, grade C"
    d = SearchResult("quick", False, (), grade=Grade.D, bracket=Bracket(4.9e6, 8.25e6))
    assert short_sentence(d) == "NDR at least 4.900, at most 8.250 Mpps, grade D"
