# SPDX-License-Identifier: Apache-2.0
"""Is the MRR what usually arrives under overload?"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from tests.measure.simulated import Recorder, Rig, Sharp
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.prober import NotMeasurable, Prober
from wirespeed.measure.search.mrr import Mrr
from wirespeed.measure.validity import USUAL
from wirespeed.model.trial import Observation, Stage

MRR = Mrr(trial_s=1.0, trials=3)


@dataclass
class Listed:
    """One capacity a trial."""

    capacities: list[float] = field(default_factory=list)

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        return Sharp(self.capacities.pop(0)).forwards(load_fps, duration_s, rng)


def prober_of(rig: Rig) -> Prober:
    return Prober(rig.measure, Recorder(), USUAL, 5, 0.0)


def test_the_median_trial_stands_for_all() -> None:
    prober = prober_of(Rig(Listed([5e6, 1e6, 6e6]), generator_fps=9e6))
    found = MRR.measure(prober, UNLIMITED)
    assert (found.received_fps, found.offered_fps, found.by_generator) == (5e6, 9e6, True)
    assert {t.stage for t in prober.trials} == {Stage.MRR}


def test_the_ceiling_is_the_best_that_was_offered() -> None:
    class Uneven(Rig):
        def measure(self, load_fps: float, duration_s: float) -> Observation:
            self.generator_fps += 1e6
            return super().measure(load_fps, duration_s)

    assert (
        MRR.measure(prober_of(Uneven(Sharp(5e6), generator_fps=6e6)), UNLIMITED).offered_fps == 9e6
    )


def test_a_given_ceiling_is_offered_as_it_is() -> None:
    found = MRR.measure(prober_of(Rig(Sharp(5e6))), 8e6)
    assert (found.offered_fps, found.by_generator) == (8e6, False)


def test_a_ceiling_beyond_the_generator_becomes_its_best() -> None:
    found = MRR.measure(prober_of(Rig(Sharp(5e6), generator_fps=7e6)), 14.88e6)
    assert (found.received_fps, found.offered_fps, found.by_generator) == (5e6, 7e6, True)


def test_never_quiet_is_not_measurable() -> None:
    with pytest.raises(NotMeasurable):
        MRR.measure(prober_of(Rig(Sharp(5e6), invalid_share=1.0)), UNLIMITED)
