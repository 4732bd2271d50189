# SPDX-License-Identifier: Apache-2.0
"""Check that noise is blamed for a loss exactly where it caused it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.measure.windows_sim import LOUD, Noise, Sut, judge, simulate
from wirespeed.measure.gate import Mask
from wirespeed.measure.placebo import noise_explains
from wirespeed.model.result.evidence import DirectionWindows, Windows


def trial(lost: list[int], clean: list[bool]) -> tuple[Windows, Mask]:
    count = len(lost)
    received = tuple(8000 - n for n in lost)
    direction = DirectionWindows("up", (8000,) * count, (0,) * count, received, (1.0,) * count)
    return Windows(0, 1_000_000, (direction,)), Mask(tuple(clean), tuple(clean), ())


def simulated(sut: Sut, noise: Noise, seed: int, load_fps: float = 7.5e6) -> tuple[Windows, Mask]:
    judged = judge(simulate(sut, load_fps, 0.5, noise, seed))
    assert judged.observation.windows is not None
    return judged.observation.windows, judged.mask


@pytest.mark.parametrize("seed", range(5))
def test_noise_explains_the_loss_that_it_caused(seed: int) -> None:
    assert noise_explains([simulated(Sut(8e6), LOUD, 10 * seed + i) for i in range(4)]) is True


def test_an_arbitrary_mask_explains_nothing_more_often_than_chance() -> None:
    # A SUT that loses frames by itself, with the masks of noisy trials of another one.
    claimed = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        lost = [int(n) for n in rng.poisson(2, 400) * (rng.random(400) < 0.3)]
        clean = np.repeat(rng.random(40) < 0.5, 10).tolist()
        claimed += noise_explains([trial(lost, clean)], rotations=200) is True
    assert claimed <= 12


def test_a_sut_that_stalls_by_itself_has_no_excuse() -> None:
    stalling = Sut(8e6, stalls_per_s=40, stall_ns=500_000)
    harmless = Noise(pauses_per_s=20, pause_ns=150_000)
    trials = [simulated(stalling, harmless, seed) for seed in range(4)]
    assert noise_explains(trials) is not True


def test_a_mask_that_excludes_the_good_windows_is_found() -> None:
    lost = [5 if 40 <= i < 60 else 0 for i in range(100)]
    clean = [40 <= i < 60 for i in range(100)]
    assert noise_explains([trial(lost, clean)]) is False


@pytest.mark.parametrize(
    ("lost", "clean"),
    [
        ([0] * 50, [True] * 25 + [False] * 25),
        ([9, 0] * 25, [True] * 50),
        ([9, 0] * 25, [False] * 50),
        ([9] * 50, [True] * 25 + [False] * 25),
        ([9] + [0] * 49, [False] * 25 + [True] * 25),
    ],
    ids=["no loss", "all count", "none counts", "the same everywhere", "one lossy window"],
)
def test_ties_decide_nothing(lost: list[int], clean: list[bool]) -> None:
    assert noise_explains([trial(lost, clean)]) is None


def test_trials_are_pooled() -> None:
    # Each of them has too few windows to decide; together they suffice.
    one = trial([9, 9, 0, 0, 0, 0, 0, 0], [False] * 2 + [True] * 6)
    assert noise_explains([one]) is None
    assert noise_explains([one] * 3) is True


def test_the_answer_does_not_depend_on_the_scale_of_counts() -> None:
    windows, mask = simulated(Sut(8e6), LOUD, 3)
    (direction,) = windows.directions
    tenfold = replace(
        direction,
        offered=tuple(10 * n for n in direction.offered),
        received=tuple(10 * n for n in direction.received),
    )
    assert noise_explains([(replace(windows, directions=(tenfold,)), mask)]) is noise_explains(
        [(windows, mask)]
    )
