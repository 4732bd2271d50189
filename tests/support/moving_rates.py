# SPDX-License-Identifier: Apache-2.0
"""Simulate rates of a design on a host that moves between two CPU placements."""

from __future__ import annotations

import math
import random

from wirespeed.experiment.combinations import Combination, factorial
from wirespeed.experiment.effects import mean
from wirespeed.experiment.order import ordered
from wirespeed.experiment.placement_fit import Sample, fit_placements
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.study.design import Order

NEAR, FAR = PlacementKind.ONE_CACHE, PlacementKind.ACROSS_CACHES
FACTORS, REPEATS = 3, 5
# In seconds: a stay in one placement, and one measurement.
STAY_S, POINT_S = (10.0, 60.0), 12.0
# Relative scatter of a rate within its placement, and the drift from one block to the next.
SCATTER, DRIFT = 0.02, 0.02
# Each factor gains or loses at least this share.
LEAST = 0.04

Samples = dict[Combination, list[Sample]]


def simulated(loss: float, seed: int) -> tuple[Samples, Combination]:
    """Simulate rates of all combinations of three factors in random blocks.

    Returns the rates and the best combination. loss: share that "far" forwards less than "near". A
    measurement has the placement of most of its time.
    """
    draw = random.Random(seed)
    gains = [draw.uniform(LEAST, 0.1) * draw.choice((-1, 1)) for _ in range(FACTORS)]
    cells = list(factorial(FACTORS))
    samples: Samples = {cell: [] for cell in cells}
    near, left_s, block_term = draw.random() < 0.5, draw.uniform(0, STAY_S[1]), 0.0
    for number, (cell, block) in enumerate(ordered(cells, REPEATS, Order.BLOCKS, seed)):
        if number % len(cells) == 0:
            block_term = draw.gauss(0, DRIFT)
        spent = {True: 0.0, False: 0.0}
        to_go_s = POINT_S
        while to_go_s > 0:
            step_s = min(to_go_s, left_s)
            spent[near] += step_s
            to_go_s, left_s = to_go_s - step_s, left_s - step_s
            if left_s <= 0:
                near, left_s = not near, draw.uniform(*STAY_S)
        mostly_near = spent[True] >= spent[False]
        log = sum(math.log1p(gains[at]) for at in cell) + block_term + draw.gauss(0, SCATTER)
        log += 0.0 if mostly_near else math.log1p(-loss)
        samples[cell].append(Sample(4e6 * math.exp(log), NEAR if mostly_near else FAR, block))
    return samples, frozenset(at for at, gain in enumerate(gains) if gain > 0)


def best_with_placement(samples: Samples) -> Combination:
    """Return the combination with the highest rate adjusted to one placement."""
    fit = fit_placements(samples, blocks=True)
    return max(fit.cells, key=lambda cell: mean(fit.cells[cell]) if fit.cells[cell] else 0.0)


def best_without_placement(samples: Samples) -> Combination:
    """Return the combination with the highest mean rate over all placements."""
    return max(samples, key=lambda cell: mean([sample.fps for sample in samples[cell]]))
