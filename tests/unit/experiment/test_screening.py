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


def proven(*factors: int, log: float = 0.05) -> Term:
    return Term(frozenset(factors), log, 0.001, 40, proven=True)


def test_best_combination_more_than_16_proven_gains_are_all_chosen() -> None:
    terms = [proven(at, log=0.01 * (1 + at)) for at in range(40)]
    harmful = proven(40, log=-0.1)
    assert best_combination(41, [*terms, harmful]) == frozenset(range(40))
    pair = proven(0, 1, log=-0.2)
    assert best_combination(41, [*terms, harmful, pair]) == frozenset(range(1, 40))


def test_best_combination_more_than_16_interacting_levels_are_completed() -> None:
    mains = [proven(at, log=0.1) for at in range(24)]
    pairs = [proven(at, at + 1, log=-0.01) for at in range(0, 24, 2)]
    assert best_combination(24, [*mains, *pairs]) == frozenset(range(24))


def test_best_combination_of_a_group_has_its_best_level_interacting_or_not() -> None:
    groups = (frozenset({0, 1}), frozenset({2, 3}))
    mains = [proven(0, log=0.08), proven(1, log=0.09), proven(2, log=0.05), proven(3, log=0.01)]
    assert best_combination(4, mains, groups) == {1, 2}
    assert best_combination(4, [*mains, proven(0, 2, log=0.02)], groups) == {0, 2}
    assert best_combination(4, [*mains, proven(0, 2, log=-0.02)], groups) == {1, 2}
