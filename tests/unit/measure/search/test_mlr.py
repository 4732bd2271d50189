# SPDX-License-Identifier: Apache-2.0
"""Check what MLRsearch gets, and that its bounds mean what we say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.simulated import Fraying, Rig, Sharp, prober_of, stop
from wirespeed.measure.bounds import so_far
from wirespeed.measure.prober import OutOfTime
from wirespeed.measure.search.confirm import CONFIRMATIONS
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.measure.search.mlr import Mlr
from wirespeed.model.result.evidence import Evidence
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.trial import Stage, Trial

SEARCH = Mlr(1.0, 1.0, 21.0, exceed_ratio=0.5, width=0.005, pdr_loss=0.005, confirm_s=5.0)


def run(rig: Rig, search: Mlr = SEARCH) -> tuple[Figures, list[Trial]]:
    prober = prober_of(rig.measure)
    return search.find(prober, Limits(10e3, 10e6, None)), prober.trials


def lower_fps(figures: Figures) -> tuple[float, float]:
    assert figures.ndr is not None
    assert figures.pdr is not None
    assert figures.ndr.lower is not None
    assert figures.pdr.lower is not None
    return figures.ndr.lower.load_fps, figures.pdr.lower.load_fps


def test_ndr_and_pdr_of_a_sharp_sut() -> None:
    ndr, pdr = lower_fps(run(Rig(Sharp(4e6)))[0])
    assert ndr == pytest.approx(4e6, rel=0.0051)
    assert pdr == pytest.approx(4e6 / 0.995, rel=0.0051)


def test_a_larger_loss_goal_raises_the_pdr() -> None:
    search = replace(SEARCH, pdr_loss=0.1)
    prober = prober_of(Rig(Sharp(4e6)).measure)
    prober.pdr_loss = 0.1
    _, pdr = lower_fps(search.find(prober, Limits(10e3, 10e6, None)))
    assert pdr == pytest.approx(4e6 / 0.9, rel=0.0051)


def test_a_pdr_tolerates_at_least_the_width() -> None:
    """A width that lets growth of 1% pass lets a loss of 1% pass, too."""
    prober = prober_of(Rig(Sharp(4e6)).measure)
    prober.width = 0.01
    pdr = SEARCH.find(prober, Limits(10e3, 4e6 / 0.993, None)).pdr
    assert pdr is not None
    assert pdr.lower is not None
    assert pdr.lower.load_fps == 4e6 / 0.993
    assert pdr.upper is None


def test_a_bound_rests_on_more_than_half_of_the_duration_sum() -> None:
    figures, trials = run(Rig(Sharp(4e6)))
    for interval in (figures.ndr, figures.pdr):
        assert interval is not None
        for end in (interval.lower, interval.upper):
            assert end is not None
            at_load = [t for t in trials if t.intended_load_fps == end.load_fps]
            assert sum(t.duration_s for t in at_load) >= 21.0 / 2


def test_frames_that_were_not_offered_are_not_loss() -> None:
    """The generator falls a little short of a SUT that keeps up."""

    class Lagging(Rig):
        def measure(self, load_fps: float, duration_s: float) -> Observation:
            self.generator_fps = load_fps * 0.999
            return super().measure(load_fps, duration_s)

    figures, trials = run(Lagging(Sharp(50e6)))
    assert trials[0].observation.total("unsent") > 0
    assert lower_fps(figures) == (10e6, 10e6)


def test_a_bound_says_what_was_forwarded_and_lost() -> None:
    figures, _ = run(Rig(Sharp(4e6)))
    assert figures.ndr is not None
    assert figures.ndr.lower is not None
    assert figures.ndr.lower.loss_ratio == 0
    assert figures.ndr.lower.forwarding_fps == figures.ndr.lower.load_fps
    assert figures.pdr is not None
    assert figures.pdr.upper is not None
    assert figures.pdr.upper.loss_ratio == pytest.approx(
        1 - 4e6 / figures.pdr.upper.load_fps, rel=1e-4
    )
    assert figures.pdr.upper.forwarding_fps == pytest.approx(4e6, rel=1e-6)


def test_long_trials_come_only_near_the_end() -> None:
    search = replace(SEARCH, trial_s=60.0, duration_sum_s=60.0)
    _, trials = run(Rig(Sharp(4e6)), search)
    full = [t for t in trials if t.duration_s == 60.0]
    assert 2 <= len(full) <= 4
    assert all(t.intended_load_fps == pytest.approx(4e6, rel=0.02) for t in full)


def test_conformance_needs_60_seconds_and_no_exceptions() -> None:
    assert not SEARCH.conformant
    long = replace(SEARCH, trial_s=60.0, duration_sum_s=60.0)
    assert not long.conformant
    assert replace(long, exceed_ratio=0.0).conformant


def confirmed(capacities: Sequence[float | None]) -> tuple[Figures, list[Trial]]:
    """Search a SUT of 4 Mpps that forwards these rates in the trials that confirm.

    None: the SUT is stopped, so that no verdict is possible. The last rate stays from then on.
    """
    left = list(capacities)

    def measure(load_fps: float, duration_s: float) -> Observation:
        if duration_s != SEARCH.confirm_s:
            return Rig(Sharp(4e6)).measure(load_fps, duration_s)
        capacity_fps = left.pop(0) if len(left) > 1 else left[0]
        if capacity_fps is None:
            return Rig(Sharp(4e6), disturbed_share=1.0).measure(load_fps, duration_s)
        return Rig(Sharp(capacity_fps)).measure(load_fps, duration_s)

    prober = prober_of(measure)
    figures = SEARCH.find(prober, Limits(10e3, 10e6, None))
    return figures, [t for t in prober.trials if t.stage is Stage.CONFIRM]


def test_the_ndr_is_confirmed_by_a_fresh_trial() -> None:
    figures, (trial,) = confirmed([4e6])
    assert trial.duration_s == 5.0
    assert trial.intended_load_fps == lower_fps(figures)[0]
    assert figures.notes == ()


def test_an_ndr_that_fails_its_confirmation_steps_down_until_one_passes() -> None:
    figures, trials = confirmed([3.95e6])
    ndr = figures.ndr
    assert ndr is not None
    assert ndr.lower is not None
    assert ndr.upper is not None
    loads = [t.intended_load_fps for t in trials]
    assert loads == sorted(loads, reverse=True)
    assert ndr.lower.load_fps == loads[-1] <= 3.95e6
    assert ndr.upper.load_fps == loads[-2] > 3.95e6


def test_an_ndr_that_no_fresh_trial_confirms_is_none() -> None:
    figures, trials = confirmed([1e6])
    assert figures.ndr is not None
    assert figures.ndr.lower is None
    assert len(trials) == 2 * CONFIRMATIONS, "two of three failed, so the third decides nothing"
    assert "passed a fresh trial" in figures.notes[0]


def test_an_ndr_that_nobody_could_confirm_stands_and_says_so() -> None:
    figures, _ = confirmed([None])
    assert lower_fps(figures)[0] == pytest.approx(4e6, rel=0.0051)
    assert "not confirmed" in figures.notes[0]


def test_a_refuted_ndr_does_not_stand_where_the_next_trial_says_nothing() -> None:
    figures, trials = confirmed([3.9e6, None])
    refuted_fps = trials[0].intended_load_fps
    ndr = figures.ndr
    assert ndr is not None
    assert ndr.upper is not None
    assert ndr.upper.load_fps == refuted_fps
    assert ndr.lower is None, "this search tried nothing below"
    assert "not confirmed" in figures.notes[0]


def test_a_load_that_cannot_be_judged_is_passed_by_below() -> None:
    """No verdict is possible above 3 Mpps; a load below that passes is still found."""

    def measure(load_fps: float, duration_s: float) -> Observation:
        observation = Rig(Sharp(9e6)).measure(load_fps, duration_s)
        unknown = Evidence((stop(10**9),)) if load_fps > 3e6 else Evidence()
        return replace(observation, evidence=unknown)

    prober = prober_of(measure)
    search = replace(SEARCH, duration_sum_s=1.0)
    ndr = search.find(prober, Limits(10e3, 3.1e6, None)).ndr
    assert ndr is not None
    assert ndr.lower is not None
    assert 2.9e6 < ndr.lower.load_fps <= 3e6


def test_mlr_time_over_while_it_looks_for_the_pdr_confirms_the_ndr() -> None:
    """Loss rises slowly above the NDR, so that the PDR is far above it and takes long to find."""

    def found(time_limit_s: float) -> tuple[Figures, list[Trial]]:
        prober = prober_of(Rig(Fraying(4e6, 3e6)).measure)
        prober.time_limit_s = time_limit_s
        return SEARCH.find(prober, Limits(10e3, 4e6, None)), prober.trials

    whole, trials = found(math.inf)
    took_s = sum(t.duration_s + t.observation.overhead_s for t in trials)
    early, _ = found(took_s - SEARCH.confirm_s)
    assert early.ended is not None
    assert early.unconfirmed is None
    assert lower_fps(early)[0] == pytest.approx(lower_fps(whole)[0], rel=0.005)


def test_mlr_time_over_before_the_ndr_is_bounded_leaves_it_open() -> None:
    prober = prober_of(Rig(Sharp(4e6)).measure)
    prober.time_limit_s = 3.0
    with pytest.raises(OutOfTime):
        SEARCH.find(prober, Limits(10e3, 10e6, None))


def test_mlr_time_over_without_a_load_that_passed_looks_for_one_below() -> None:
    """Loss rises slowly from 3.3 Mpps on, so that the first loads, near the MRR of 4 Mpps, fail."""
    prober = prober_of(Rig(Fraying(4e6, 3.3e6)).measure)
    prober.time_limit_s = 2.5
    with pytest.raises(OutOfTime):
        replace(SEARCH, first_trial_s=0.2).find(prober, Limits(10e3, 10e6, 4e6))
    ndr = so_far(prober).ndr
    assert ndr is not None
    assert ndr.lower is not None
    assert ndr.upper is not None
    assert ndr.lower.load_fps <= 3.3e6 < ndr.upper.load_fps < 3.5e6


def test_mlr_time_over_brings_the_bounds_together_with_the_time_kept_back() -> None:
    """More time gives no wider bracket."""
    widths = []
    for time_limit_s in (4.0, 5.0, 6.0):
        prober = prober_of(Rig(Fraying(4e6, 2e6)).measure)
        prober.time_limit_s = time_limit_s
        try:
            ndr = replace(SEARCH, first_trial_s=0.2).find(prober, Limits(10e3, 10e6, 4e6)).ndr
        except OutOfTime:
            ndr = so_far(prober).ndr
        assert ndr is not None
        assert ndr.lower is not None
        assert ndr.upper is not None
        assert ndr.lower.load_fps <= 2e6 <= ndr.upper.load_fps * 1.006
        widths.append(1 - ndr.lower.load_fps / ndr.upper.load_fps)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] < 0.1
