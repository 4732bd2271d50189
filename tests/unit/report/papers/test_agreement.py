# SPDX-License-Identifier: Apache-2.0
"""Check that agreement and difference are reported where they exist."""

from __future__ import annotations

import pytest

from wirespeed.report.papers.agreement import (
    Trend,
    compare_curves,
    compare_ratio,
    correlation,
    trend,
    trend_words,
)
from wirespeed.report.papers.interface import Agreement

FALLING, LEVEL, RISING = (4.0, 2.0, 1.0), (5.0, 5.2, 4.9), (1.0, 2.0, 5.0)


@pytest.mark.parametrize(
    ("values", "found", "words"),
    [
        (FALLING, Trend.FALLS, "falls with each VNF, to 0.25x"),
        ((4.0, 5.0, 1.0), Trend.FALLS, "falls, to 0.25x"),
        (LEVEL, Trend.LEVEL, "stays level, at 0.98x"),
        (RISING, Trend.RISES, "rises with each VNF, to 5.00x"),
        ((1.0, 2.0), Trend.RISES, "rises, to 2.00x"),
    ],
)
def test_trends(values: tuple[float, ...], found: Trend, words: str) -> None:
    assert trend(values) is found
    assert trend_words(values, "VNF") == words


def test_curves_of_the_same_shape_agree_whatever_their_rates() -> None:
    said = compare_curves(
        "chain", "VNF", ("here", "S2"), (FALLING, (400.0, 200.0, 100.0)), "why not"
    )
    assert said.agreement is Agreement.AGREES
    assert said.text == (
        "chain: in S2 it falls with each VNF, to 0.25x, here it falls with each VNF, to 0.25x; "
        "correlation 1.00."
    )


def test_curves_of_another_shape_differ_and_say_why() -> None:
    said = compare_curves(
        "chain", "VNF", ("here", "S2"), (FALLING, LEVEL), "Here one CPU forwarded"
    )
    assert said.agreement is Agreement.DIFFERS
    assert said.text.endswith("here it falls with each VNF, to 0.25x; correlation 0.33. "
                              "Here one CPU forwarded.")  # fmt: skip


def test_one_point_is_no_curve() -> None:
    said = compare_curves("chain", "VNF", ("here", "S2"), ((1.0,), (2.0,)))
    assert said.agreement is Agreement.OPEN


def test_correlations() -> None:
    assert correlation(FALLING, [8 * x for x in FALLING]) == pytest.approx(1.0)
    assert correlation(FALLING, RISING) == pytest.approx(-1.0, abs=0.05)
    assert correlation((1.0, 2.0), (1.0, 2.0)) is None
    assert correlation((1.0, 1.0, 1.0), FALLING) is None


@pytest.mark.parametrize(
    ("ours", "theirs", "agreement"),
    [
        (0.5, 0.6, Agreement.AGREES),
        (1.0, 0.95, Agreement.AGREES),
        (2.0, 0.6, Agreement.DIFFERS),
        (1.0, 8.0, Agreement.DIFFERS),
    ],
)
def test_ratios(ours: float, theirs: float, agreement: Agreement) -> None:
    said = compare_ratio("switch beside host", ("here", "S4"), ours, theirs)
    assert said.agreement is agreement
    assert said.sentence == f"switch beside host: {theirs:.2f}x in S4, {ours:.2f}x here"
