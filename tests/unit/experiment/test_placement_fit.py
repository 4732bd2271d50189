# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.moving_rates import (
    FAR,
    NEAR,
    best_with_placement,
    best_without_placement,
    simulated,
)
from wirespeed.experiment.combinations import Combination
from wirespeed.experiment.effects import step
from wirespeed.experiment.placement_fit import Sample, fit_placements

BASE: Combination = frozenset()
A, B = frozenset({0}), frozenset({1})


def test_fit_takes_the_placement_and_the_block_out_of_the_rates() -> None:
    # Far has half the rate of near, the second block 1.5 times that of the first; A gains 20%.
    samples = {
        BASE: [Sample(100, NEAR, 1), Sample(75, FAR, 2)],
        A: [Sample(60, FAR, 1), Sample(180, NEAR, 2), Sample(120, NEAR, 1)],
    }
    fit = fit_placements(samples, blocks=True)
    assert fit.reference is NEAR
    found = step(fit.cells, BASE, A, blocks=True, fit=fit)
    assert found is not None
    assert (found.ratio, found.low, found.high) == pytest.approx((1.2, 1.2, 1.2))


def test_fit_without_a_common_placement_leaves_the_combination_out() -> None:
    samples = {
        BASE: [Sample(100, NEAR), Sample(101, NEAR)],
        A: [Sample(60, FAR), Sample(61, FAR)],
        B: [Sample(110, NEAR), Sample(111, NEAR)],
    }
    fit = fit_placements(samples, blocks=False)
    assert fit.cells[A] == ()
    assert step(fit.cells, BASE, A, blocks=False, fit=fit) is None
    found = step(fit.cells, BASE, B, blocks=False, fit=fit)
    assert found is not None
    assert found.ratio == pytest.approx(1.1, rel=0.01)


def test_fit_third_combination_connects_two_placements() -> None:
    samples = {
        BASE: [Sample(100, NEAR)], A: [Sample(60, FAR)], B: [Sample(100, NEAR), Sample(50, FAR)],
    }  # fmt: skip
    fit = fit_placements(samples, blocks=False)
    found = step(fit.cells, BASE, A, blocks=False, fit=fit)
    assert found is not None
    assert found.ratio == pytest.approx(1.2)
    assert (found.low, found.high) == (None, None), "no rate is left to tell the scatter"


def test_fit_intervals_hold_the_truth_as_often_as_they_say() -> None:
    draw = np.random.default_rng(11)
    runs, truth, hits = 200, 1.1, 0
    for _ in range(runs):
        samples: dict[Combination, list[Sample]] = {BASE: [], A: []}
        for block in range(5):
            drift = draw.normal(0, 0.1)
            for cell, of in samples.items():
                far = draw.random() < 0.4 or block == 0
                log = drift + draw.normal(0, 0.03) + (cell == A) * math.log(truth)
                log += math.log(0.65) * far
                of.append(Sample(1e6 * math.exp(log), FAR if far else NEAR, block))
        fit = fit_placements(samples, blocks=True)
        found = step(fit.cells, BASE, A, blocks=True, fit=fit)
        assert found is not None
        hits += found.low is None or found.high is None or found.low <= truth <= found.high
    assert hits / runs >= 0.91


@pytest.mark.parametrize("loss", [0.0, 0.1, 0.35])
def test_best_setting_on_a_host_that_moves_is_found_with_the_placement(loss: float) -> None:
    # The smallest effect is 4%. Without the placement, a difference of 35% hides it.
    runs = [simulated(loss, seed) for seed in range(100)]
    assert sum(best_with_placement(samples) == best for samples, best in runs) >= 95
    if loss == 0.35:
        assert sum(best_without_placement(samples) == best for samples, best in runs) < 50
