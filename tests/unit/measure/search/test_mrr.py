# SPDX-License-Identifier: Apache-2.0
"""Check that the MRR is the usual receive rate under overload."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

import pytest

from tests.support.noisy_host import ALWAYS_SHARED, BUSY, NoisyHost
from tests.support.simulated import Collapsing, Recorder, Rig, Sharp, prober_of
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.prober import NotMeasurable, Prober
from wirespeed.measure.run import run_search
from wirespeed.measure.search.interface import Limits
from wirespeed.measure.search.mrr import Mrr, Overload, clean_fps
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.trial import Stage
from wirespeed.model.study.spec import Search, SearchKind

MRR = Mrr(trial_s=1.0, trials=3)


@dataclass
class Listed:
    """A SUT with one capacity for each trial."""

    capacities: list[float] = field(default_factory=list)

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        return Sharp(self.capacities.pop(0)).forwards(load_fps, duration_s, rng)


LIMITS = Limits(10e3, UNLIMITED, None)


def mrr(rig: Rig, max_fps: float = UNLIMITED) -> tuple[Overload, Prober]:
    prober = prober_of(rig.measure)
    flood = prober.once(max_fps, 1.0, Stage.WARM_UP)
    return MRR.measure(prober, replace(LIMITS, max_fps=max_fps), flood), prober


def offered(prober: Prober) -> list[float]:
    return [t.offered_fps for t in prober.trials if t.stage is Stage.MRR]


def test_the_median_trial_stands_for_all() -> None:
    found, prober = mrr(Rig(Listed([5e6, 5e6, 1e6, 6e6]), generator_fps=9e6))
    assert (found.received_fps, found.offered_fps, found.by_generator) == (5e6, 9e6, True)
    assert len(offered(prober)) == 3
    assert found.error > 0.1


def test_half_as_much_again_as_is_received_is_offered() -> None:
    found, prober = mrr(Rig(Sharp(2e6), generator_fps=40e6))
    assert found.received_fps == 2e6
    assert offered(prober) == [3e6] * 3
    assert found.offered_fps == 40e6, "the generator could have"


def test_a_sut_that_a_flood_slows_is_offered_more_until_it_is_overloaded() -> None:
    """Flooded, the SUT carries 1/16 of its capacity."""
    found, prober = mrr(Rig(Collapsing(8e6, 20e6, 0.5e6), generator_fps=50e6))
    assert found.received_fps == 8e6
    assert offered(prober)[-3:] == [12e6] * 3
    assert len(found.trials) == 3


def test_a_sut_that_forwards_nothing_is_overloaded_at_the_lowest_load() -> None:
    found, prober = mrr(Rig(Sharp(0.0), generator_fps=50e6))
    assert found.received_fps == 0.0
    assert offered(prober) == [15e3] * 3


def test_the_ceiling_is_the_best_that_was_offered() -> None:
    class Uneven(Rig):
        def measure(self, load_fps: float, duration_s: float) -> Observation:
            self.generator_fps += 1e6
            return super().measure(load_fps, duration_s)

    assert mrr(Uneven(Sharp(5e6), generator_fps=5e6))[0].offered_fps == 9e6


def test_a_given_ceiling_is_offered_unchanged() -> None:
    found, prober = mrr(Rig(Sharp(5e6)), 7e6)
    assert (found.offered_fps, found.by_generator) == (7e6, False)
    assert offered(prober) == [7e6] * 3


def test_a_ceiling_beyond_the_generator_becomes_its_best() -> None:
    found, _ = mrr(Rig(Sharp(5e6), generator_fps=7e6), 14.88e6)
    assert (found.received_fps, found.offered_fps, found.by_generator) == (5e6, 7e6, True)


def test_noisy_trials_count_unchanged_if_there_are_no_others() -> None:
    found, _ = mrr(Rig(Sharp(5e6), disturbed_share=1.0))
    assert found.received_fps is None
    assert found.whole_fps > 0


def test_counters_that_contradict_each_other_are_no_mrr() -> None:
    with pytest.raises(NotMeasurable, match="the counters contradict each other"):
        mrr(Rig(Sharp(5e6), misread_share=1.0))


def test_one_trial_that_can_be_used_is_enough() -> None:
    rig = Rig(Sharp(5e6))

    def measure(load_fps: float, duration_s: float) -> Observation:
        rig.misread_share = 1.0 if len(rig.calls) >= 2 else 0.0
        return rig.measure(load_fps, duration_s)

    prober = prober_of(measure)
    found = MRR.measure(prober, LIMITS, prober.once(UNLIMITED, 1.0, Stage.WARM_UP))
    assert found.received_fps == 5e6


def test_mrr_a_time_limit_ends_the_trials_and_the_rate_is_of_those_by_then() -> None:
    """The warm-up takes 1 s, and of 10 trials of 1 s the limit lets 3 run, with their overhead."""
    search = Search(SearchKind.MRR, latency=False, time_limit_s=4.5)
    result = run_search(search, Rig(Sharp(4e6)).measure, UNLIMITED, Recorder())
    assert result.mrr_fps == 4e6
    assert len([t for t in result.trials if t.stage is Stage.MRR]) == 3


def test_mrr_a_time_limit_leaves_one_trial() -> None:
    search = Search(SearchKind.MRR, latency=False, time_limit_s=0.1)
    result = run_search(search, Rig(Sharp(4e6)).measure, UNLIMITED, Recorder())
    assert len([t for t in result.trials if t.stage is Stage.MRR]) == 1
    assert result.mrr_fps == 4e6


def test_mrr_a_trial_that_shows_no_overload_ends_its_load() -> None:
    """Noise takes all of the warm-up and of the first trial, so the first load is low."""
    calm, made = NoisyHost(4.05e6, BUSY), 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        slow = NoisyHost(0.8e6, ALWAYS_SHARED, seed=made)
        return (slow if made <= 2 else calm).measure(load_fps, duration_s)

    search = Search(SearchKind.MRR, latency=False, time_limit_s=16.0)
    result = run_search(search, measure, UNLIMITED, Recorder())
    assert result.mrr_fps == pytest.approx(4.05e6, rel=0.01)
    loads = [t.intended_load_fps for t in result.trials if t.stage is Stage.MRR]
    assert loads.count(loads[0]) == 2


def test_mrr_a_trial_with_hardly_any_clean_time_does_not_count_next_to_others() -> None:
    prober = prober_of(NoisyHost(4.05e6).measure)
    trial = prober.once(6e6, 1.0, Stage.MRR)
    assert trial.gated is not None
    few = replace(trial, gated=replace(trial.gated, steady_windows=2, receive_fps=1.7e6))
    assert clean_fps([few, trial, few]) == [trial.gated.receive_fps]
    assert clean_fps([few, few]) == [1.7e6, 1.7e6]
