# SPDX-License-Identifier: Apache-2.0
"""Effects of factors from few measurements."""

from __future__ import annotations

import math
import random

import pytest

from tests.support.tuned_host import FAR, NEAR
from wirespeed.experiment.fractions import screening_fraction
from wirespeed.experiment.screening import (
    NotSeparable,
    Screened,
    Term,
    best_combination,
    fit,
    holm,
)

A, B = frozenset({0}), frozenset({1})


def runs(gain: float) -> list[Screened]:
    draw = random.Random(1)
    return [
        Screened(
            cell,
            1e6 * (1 + gain * (0 in cell)) * (0.65 if far else 1) * 1.1**block
            * math.exp(draw.gauss(0, 0.01)),
            FAR if far else NEAR, block,
        )
        for block in range(3)
        for cell in screening_fraction(4)
        for far in (draw.random() < 0.5,)
    ]  # fmt: skip


def test_fit_moving_cpus_and_blocks_do_not_move_the_effects() -> None:
    found = fit(runs(0.1), [frozenset({at}) for at in range(4)])
    low, high = found.terms[0].interval
    assert low < 0.1 < high
    assert abs(found.terms[1].gain) < 0.02
    assert found.blocks[1] == pytest.approx(1.1, rel=0.02)
    assert min(found.placements.values()) in (
        pytest.approx(0.65, rel=0.03), pytest.approx(1.0),
    )  # fmt: skip


def test_fit_too_few_runs_are_not_separable() -> None:
    with pytest.raises(NotSeparable):
        fit(runs(0.1)[:5], [frozenset({at}) for at in range(4)])


def test_holm_weaker_effect_after_an_unproven_one_is_unproven() -> None:
    terms = [Term(A, 0.1, 0.01, 20), Term(B, 0.021, 0.01, 20), Term(A | B, 0.02, 0.01, 20)]
    assert holm(terms) == {A}


def test_best_combination_proven_interaction_outweighs_a_main_effect() -> None:
    terms = [
        Term(A, 0.02, 0.001, 20, proven=True), Term(B, 0.03, 0.001, 20, proven=True),
        Term(A | B, -0.1, 0.001, 20, proven=True),
    ]  # fmt: skip
    assert best_combination(2, terms) == B


def test_best_combination_unproven_effects_change_nothing() -> None:
    assert best_combination(1, [Term(A, 0.5, 0.4, 20)]) == frozenset()
