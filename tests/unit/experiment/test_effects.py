# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.experiment.combinations import Combination, factorial, pairs
from wirespeed.experiment.effects import Verdict, contrast, mean, scatter, step

BASE: Combination = frozenset()
A, B = frozenset({0}), frozenset({1})
AB = A | B


def test_a_step_is_the_factor_between_the_geometric_means() -> None:
    found = step({BASE: [1.0, 4.0], A: [6.0, 6.0]}, BASE, A, blocks=False)
    assert found is not None
    assert found.ratio == pytest.approx(3.0)
    assert (found.of, found.on_top_of, found.repeats) == (A, BASE, 2)


def test_one_repeat_has_no_interval_and_no_verdict() -> None:
    found = step({BASE: [1.0], A: [9.0]}, BASE, A, blocks=False)
    assert found is not None
    assert (found.low, found.high, found.verdict) == (None, None, Verdict.UNSURE)


def test_step_and_contrast_unmeasured_cell_give_none() -> None:
    assert step({BASE: [1.0]}, BASE, A, blocks=False) is None
    assert contrast({BASE: [1.0], A: []}, A, blocks=False) is None
    assert contrast({BASE: [1.0]}, A, blocks=False) is None


def test_main_effects_and_interaction_of_a_factorial() -> None:
    # A doubles, B triples, and together they give 1.5 times the product.
    cells = {BASE: [1.0, 1.0], A: [2.0, 2.0], B: [3.0, 3.0], AB: [9.0, 9.0]}
    assert set(cells) == set(factorial(2))
    main, interaction = contrast(cells, A, blocks=False), contrast(cells, AB, blocks=False)
    assert main is not None
    assert interaction is not None
    assert main.ratio == pytest.approx(math.sqrt(2.0 * 3.0))
    assert interaction.ratio == pytest.approx(1.5)
    assert pairs(3) == (AB, frozenset({0, 2}), frozenset({1, 2}))


def test_blocks_take_the_machine_out_of_the_difference() -> None:
    # The machine is four times faster in one block than in another; the factor gains 10%.
    machine = [1.0, 4.0, 2.0, 0.5]
    cells = {BASE: machine, A: [1.1 * each for each in machine]}
    paired, apart = (step(cells, BASE, A, blocks=blocks) for blocks in (True, False))
    assert paired is not None
    assert apart is not None
    assert paired.low == pytest.approx(1.1)
    assert paired.verdict is Verdict.GAIN
    assert apart.verdict is Verdict.UNSURE


def test_a_loss_is_a_loss() -> None:
    found = step({BASE: [10.0, 10.1, 9.9], A: [5.0, 5.1, 4.9]}, BASE, A, blocks=False)
    assert found is not None
    assert found.verdict is Verdict.LOSS


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("repeats", [3, 5])
def test_intervals_hold_the_truth_as_often_as_they_say(repeats: int, blocks: bool) -> None:
    # Nine of ten intervals hold the truth with this few repeats, and none is needlessly wide.
    draw = np.random.default_rng(7)
    runs, truth = 150, 1.2
    hits, wide = 0, 0
    for _ in range(runs):
        machine = draw.normal(0, 0.3 if blocks else 0.0, repeats)
        noise = draw.normal(0, 0.05, (2, repeats))
        cells = {
            BASE: list(np.exp(machine + noise[0])),
            A: list(truth * np.exp(machine + noise[1])),
        }
        found = step(cells, BASE, A, blocks=blocks)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
        wide += found.high / found.low > 3
    assert hits / runs >= 0.9
    assert wide / runs < 0.05


def test_the_mean_is_geometric() -> None:
    assert mean([1.0, 4.0]) == pytest.approx(2.0)


def test_scatter_is_within_combinations_only() -> None:
    assert scatter({BASE: [1.0, 1.0], A: [9.0, 9.0]}) == 0
    assert scatter({BASE: [1.0, math.e], A: [5.0, 5.0]}) == pytest.approx(0.5)
    assert scatter({BASE: [1.0], A: [9.0]}) == 0


@given(
    rate=st.floats(1e3, 1e9), repeats=st.lists(st.integers(2, 9), min_size=4, max_size=4),
    blocks=st.booleans(),
)  # fmt: skip
def test_equal_rates_are_no_effect_whatever_their_number(
    rate: float, repeats: list[int], blocks: bool
) -> None:
    cells = {cell: (rate,) * n for cell, n in zip((BASE, A, B, AB), repeats, strict=True)}
    for effect in (
        step(cells, BASE, A, blocks=blocks),
        contrast(cells, A, blocks=blocks),
        contrast(cells, AB, blocks=blocks),
    ):
        assert effect is not None
        assert effect.verdict is Verdict.UNSURE
        assert effect.repeats_to_be_sure == math.inf
