# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from wirespeed.model.result.explanation import ExpectedGain, Explanation
from wirespeed.report.text.limits import explanations, gain_words, remarks
from wirespeed.store.records import RunRecord


def test_the_reason_for_a_low_grade_is_shown(run: RunRecord) -> None:
    loud, quiet = remarks(run.points[0]), remarks(run.points[2])
    assert "Grade C: something else used the SUT's core for 72% of the time." in loud
    assert not any("Grade" in remark for remark in quiet)


def test_not_measurable_comes_first(run: RunRecord) -> None:
    result = run.points[0].result
    assert result is not None
    failed = replace(result, ndr=None, pdr=None, not_measurable="21 trials in a row were invalid")
    first = remarks(replace(run.points[0], result=failed))[0]
    assert first == "Not measurable: 21 trials in a row were invalid."


def test_a_point_without_result_has_nothing_to_explain(run: RunRecord) -> None:
    pending = replace(run.points[0], result=None, explanations=None)
    assert explanations(pending) == remarks(pending) == ()


def test_stored_explanations_are_shown_and_not_made_again(run: RunRecord) -> None:
    stored = (Explanation("told_then", "As it was known then."),)
    assert explanations(replace(run.points[0], explanations=stored)) == stored
    older = replace(run.points[0], explanations=None)
    now, then = explanations(older), run.points[0].explanations or ()
    assert [(e.limit, e.evidence) for e in now] == [(e.limit, e.evidence) for e in then] != []


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (ExpectedGain(2.5e9, "bits/s", "so"), "at most 2.50 Gbps (so)"),
        (ExpectedGain(1.5, "x", "so"), "at most 1.5x (so)"),
        (ExpectedGain(70, "ns", "so"), "at most 70 ns (so)"),
    ],
)
def test_a_gain_is_written_in_the_units_of_the_report(gain: ExpectedGain, words: str) -> None:
    assert gain_words(gain) == words
