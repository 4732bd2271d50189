# SPDX-License-Identifier: Apache-2.0
"""What must hold for every search that looks for a lossless rate, whatever the SUT is like?"""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.measure.simulated import Noisy, RareLoss, Recorder, Rig, Sharp, Sut
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import run_search
from wirespeed.model.result import Interval, SearchResult
from wirespeed.model.spec import Search, SearchKind

KINDS = (SearchKind.RFC2544, SearchKind.TST009, SearchKind.MLR, SearchKind.QUICK)
BOTH_GOALS = (SearchKind.MLR, SearchKind.QUICK)
WIDTH = 0.005
STEP_FPS = 10_000.0
# Loads are whole frames a trial: how far that can move a bound.
ROUNDING = 1e-4
# No search of a sharp SUT between 10 kpps and 20 Mpps needs more, at any seed tried.
MOST_TRIALS = 150

kinds = st.sampled_from(KINDS)
capacities = st.floats(30e3, 15e6)
seeds = st.integers(0, 2**32)


def search_on(rig: Rig, kind: SearchKind, repeats: int | None = None) -> SearchResult:
    asked = Search(kind=kind, repeats_invalid=repeats, latency=False)
    return run_search(asked, rig.measure, UNLIMITED, Recorder())


def resolution_fps(kind: SearchKind, capacity_fps: float) -> float:
    return STEP_FPS if kind is SearchKind.TST009 else capacity_fps * WIDTH


def bounds(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    assert interval.lower is not None
    assert interval.upper is not None
    return interval.lower.load_fps, interval.upper.load_fps


@given(kind=kinds, capacity_fps=capacities, directions=st.integers(1, 2))
@settings(deadline=None)
def test_a_sharp_sut_lies_between_the_bounds(
    kind: SearchKind, capacity_fps: float, directions: int
) -> None:
    rig = Rig(Sharp(capacity_fps), directions=directions)
    lower, upper = bounds(search_on(rig, kind).ndr)
    slack = capacity_fps * ROUNDING
    assert lower - slack <= capacity_fps <= upper + slack
    assert 0 < upper - lower <= resolution_fps(kind, upper) + slack
    assert len(rig.calls) <= MOST_TRIALS


@given(kind=kinds, capacity_fps=st.floats(300e3, 15e6), buffer_frames=st.integers(0, 1024))
@settings(deadline=None)
def test_a_buffer_hides_little(kind: SearchKind, capacity_fps: float, buffer_frames: int) -> None:
    """Below what 1,024 frames are of a final trial: 1 s at 0.3 Mpps holds 0.34%, `quick` 0.5%."""
    rig = Rig(Sharp(capacity_fps, buffer_frames), ring_frames=1024)
    lower, _ = bounds(search_on(rig, kind).ndr)
    final_frames = 200 * 1024 if kind is SearchKind.QUICK else capacity_fps
    hidden = max(0.0012, 1.1 * buffer_frames / final_frames)
    assert lower <= capacity_fps * (1 + hidden)
    assert lower >= capacity_fps - resolution_fps(kind, capacity_fps) * 1.01


@given(kind=kinds, capacity_fps=capacities, share=st.floats(0.05, 0.6), seed=seeds)
@settings(deadline=None)
def test_invalid_trials_never_decide(
    kind: SearchKind, capacity_fps: float, share: float, seed: int
) -> None:
    """They come back with nonsense for a loss figure; the result has to be the undisturbed one."""
    calm = search_on(Rig(Sharp(capacity_fps)), kind)
    rough_rig = Rig(Sharp(capacity_fps), invalid_share=share, rng=random.Random(seed))
    rough = search_on(rough_rig, kind, repeats=100)
    assert (rough.ndr, rough.pdr) == (calm.ndr, calm.pdr)
    # The warm-up is never looked at, so it is no matter whether it was valid.
    valid_loads = [t.intended_load_fps for t in rough.trials[1:] if t.valid]
    assert valid_loads == [t.intended_load_fps for t in calm.trials[1:]]


@given(
    kind=kinds,
    seed=seeds,
    sut=st.builds(Noisy, capacities, st.floats(0.0, 0.1))
    | st.builds(RareLoss, capacities, st.floats(0.0, 0.5), st.integers(1, 10_000)),
)
@settings(deadline=None)
def test_any_sut_gives_ordered_bounds_in_bounded_trials(
    kind: SearchKind, seed: int, sut: Sut
) -> None:
    rig = Rig(sut, rng=random.Random(seed))
    result = search_on(rig, kind)
    assert result.not_measurable is None
    assert len(rig.calls) <= 5 * MOST_TRIALS
    for interval in (result.ndr, result.pdr):
        if interval and interval.lower and interval.upper:
            assert interval.lower.load_fps < interval.upper.load_fps
            assert interval.lower.loss_ratio <= 0.005


@given(
    kind=st.sampled_from(BOTH_GOALS),
    seed=seeds,
    capacity_fps=capacities,
    spread=st.floats(0.0, 0.1),
)
@settings(deadline=None)
def test_pdr_is_at_least_ndr(
    kind: SearchKind, seed: int, capacity_fps: float, spread: float
) -> None:
    rig = Rig(Noisy(capacity_fps, spread), rng=random.Random(seed))
    result = search_on(rig, kind)
    assert result.ndr is not None
    assert result.pdr is not None
    assume(result.ndr.lower is not None)
    assert result.ndr.lower is not None
    assert result.pdr.lower is not None
    assert result.pdr.lower.load_fps >= result.ndr.lower.load_fps
    assert result.pdr.lower.loss_ratio <= 0.005
    assert result.ndr.lower.loss_ratio == 0


@pytest.mark.parametrize("kind", KINDS)
@given(capacity_fps=st.floats(1.0, 9.9e3))
@settings(deadline=None, max_examples=20)
def test_a_sut_below_the_minimum_load_has_no_lower_bound(
    kind: SearchKind, capacity_fps: float
) -> None:
    ndr = search_on(Rig(Sharp(capacity_fps)), kind).ndr
    assert ndr is not None
    assert ndr.lower is None
    assert ndr.upper is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_sut_faster_than_the_generator_has_no_upper_bound(kind: SearchKind) -> None:
    result = search_on(Rig(Sharp(30e6), generator_fps=12e6), kind)
    assert result.ndr is not None
    assert result.ndr.upper is None
    assert result.ndr.lower is not None
    assert result.ndr.lower.load_fps == pytest.approx(12e6, rel=0.002)
    assert result.limited_by == "generator"


@pytest.mark.parametrize("kind", KINDS)
def test_a_machine_without_a_quiet_moment_gives_no_figure(kind: SearchKind) -> None:
    rig = Rig(Sharp(5e6), invalid_share=1.0)
    result = search_on(rig, kind, repeats=3)
    assert result.ndr is None
    assert result.pdr is None
    assert result.not_measurable is not None
    assert "generator thread lcore1" in result.not_measurable
    assert len(rig.calls) == 1 + 4


@pytest.mark.parametrize("kind", BOTH_GOALS)
def test_a_stray_loss_does_not_set_the_ndr(kind: SearchKind) -> None:
    """In one trial of ten 10 frames vanish; at least 9 searches of 10 are within 2%."""
    close = 0
    for seed in range(50):
        rig = Rig(RareLoss(5e6, 0.1), rng=random.Random(seed))
        ndr = search_on(rig, kind).ndr
        close += bool(ndr and ndr.lower and 4.9e6 <= ndr.lower.load_fps <= 5.03e6)
    assert close >= 45
