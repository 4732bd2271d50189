# SPDX-License-Identifier: Apache-2.0
"""Check the verdicts of gated trials on systems whose truth is known.

Everything is simulated with fixed seeds. Each result is a share of many trials, and each limit
leaves space for the few that a 95% interval may miss.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.measure.windows_sim import (
    LOUD,
    MS,
    PDR_LOSS,
    QUIET,
    WIDTH,
    Noise,
    Sut,
    decide,
    judge,
    search_ndr,
    simulate,
    whole,
)
from wirespeed.measure.gate import Mask
from wirespeed.measure.verdict import Verdict, verdict
from wirespeed.measure.windows import is_quiet
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import lossy_runs_bound
from wirespeed.model.result.trial import CleanRun, Gated

CAPACITY = 8e6
SHARP = Sut(CAPACITY)
DEEP = Sut(CAPACITY, buffer_frames=4096)
# Frequent stops keep runs of clean windows short.
FREQUENT = Noise(stops_per_s=100)
# Rare stops let an overload count again after each of them.
SELDOM = Noise(stops_per_s=3)


def judged(pieces: list[Gated]) -> Verdict:
    return verdict(pieces, WIDTH, PDR_LOSS)


def mean_growth(sut: Sut, load_fps: float, noise: Noise, trials: int = 20) -> float:
    """Return the signed mean over all clean runs of many trials, which no single trial shows."""
    runs = [
        run
        for seed in range(trials)
        for run in judge(simulate(sut, load_fps, 0.5, noise, seed)).gated.runs
    ]
    return sum(run.growth_frames for run in runs) / sum(run.offered for run in runs)


@pytest.mark.parametrize("noise", [QUIET, LOUD], ids=["quiet", "loud"])
@pytest.mark.parametrize(
    ("sut", "directions"),
    [(SHARP, 1), (DEEP, 1), (replace(SHARP, shares=(0.25,) * 4), 1), (Sut(CAPACITY / 2), 2)],
    ids=["sharp", "deep queue", "four queues", "two directions"],
)
def test_a_search_finds_the_capacity(sut: Sut, directions: int, noise: Noise) -> None:
    for seed in range(2):
        found = search_ndr(sut, 5e6, 12e6, noise, seed, directions=directions)
        assert CAPACITY * (1 - 2 * WIDTH) <= found <= CAPACITY * (1 + WIDTH)


def test_a_queue_that_takes_more_than_its_share_limits_the_load() -> None:
    uneven = replace(SHARP, shares=(0.625, 0.375))
    found = search_ndr(uneven, 5e6, 12e6, LOUD)
    # Half of the capacity serves five eighths of the load.
    assert found == pytest.approx(0.8 * CAPACITY, rel=2 * WIDTH)


def test_a_noisy_capacity_is_never_exceeded() -> None:
    noisy = replace(SHARP, spread=0.05)
    for seed in range(3):
        found = search_ndr(noisy, 5e6, 12e6, LOUD, seed)
        assert 0.9 * CAPACITY <= found <= CAPACITY * (1 + WIDTH)


def test_noise_that_makes_whole_trials_lose_a_fifth_hides_no_capacity() -> None:
    load_fps = 0.97 * CAPACITY
    assert whole(simulate(SHARP, load_fps, 1.0, LOUD, 1)) > 0.1
    found = decide(SHARP, load_fps, LOUD, 1)
    assert found.decided
    assert found.ndr
    assert found.lost == 0


def test_a_deep_queue_does_not_hide_an_overload() -> None:
    # 4,096 frames hold 1% too much for 50 ms without any loss.
    hidden = simulate(DEEP, 1.01 * CAPACITY, 0.05, seed=1)
    assert whole(hidden) == 0
    growth = judge(hidden).gated.runs
    assert sum(run.growth_frames for run in growth) > 3000
    for seed in range(10):
        for noise in (QUIET, SELDOM):
            found = decide(DEEP, 1.01 * CAPACITY, noise, seed)
            assert found.decided
            assert not found.ndr
            assert found.overload == pytest.approx(0.01, abs=WIDTH / 4)
        # With noise before the path can fill, little counts: it may stay undecided.
        assert not decide(DEEP, 1.01 * CAPACITY, LOUD, seed, most=4).ndr


@given(st.floats(1.012, 1.5), st.sampled_from([SHARP, DEEP]), st.integers(0, 10_000))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_no_overload_passes(overload: float, sut: Sut, seed: int) -> None:
    found = decide(sut, overload * CAPACITY, LOUD, seed, most=6)
    assert not found.ndr
    assert not (found.decided and found.lost == 0 and found.growth < WIDTH)


def test_a_steady_overload_is_seen_although_it_never_drains() -> None:
    found = decide(SHARP, 1.2 * CAPACITY, Noise(stops_per_s=60), seed=1)
    assert found.decided
    assert not found.pdr
    assert found.loss == pytest.approx(1 / 6, abs=0.02)


def test_stalls_of_the_sut_itself_are_not_excused() -> None:
    stalling = replace(SHARP, stalls_per_s=30, stall_ns=600_000)
    for noise in (QUIET, LOUD):
        found = decide(stalling, 0.95 * CAPACITY, noise, seed=2)
        assert found.decided
        assert not found.ndr
        assert found.loss > 1e-3


def test_rare_loss_stays_in_the_verdict() -> None:
    rare = replace(SHARP, rare_loss=0.2, loss_frames=20)
    found = decide(rare, 0.9 * CAPACITY, LOUD, seed=3)
    assert found.decided
    assert not found.ndr
    assert found.loss == pytest.approx(0.2 * 20 / 7200, rel=0.5)


@given(st.integers(0, 10_000), st.floats(0.3, 1.3))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_a_quiet_trial_counts_whole(seed: int, share: float) -> None:
    observation = simulate(SHARP, share * CAPACITY, 0.3, QUIET, seed)
    found = judge(observation)
    answer = judged([found.gated])
    assert is_quiet(observation, found.mask)
    assert answer.decided
    assert answer.loss == whole(observation)
    assert answer.offered == observation.total("offered")


def covered(hits: list[bool]) -> None:
    assert sum(hits) >= 0.93 * len(hits)


def test_the_interval_of_growth_covers_an_overload() -> None:
    # No trial fills this queue; with 20 µs of noise in its readings, growth is load / capacity - 1.
    endless = Sut(CAPACITY, buffer_frames=10**7, jitter_ns=20_000)
    hits: list[bool] = []
    for seed in range(120):
        truth = 0.002 * (1 + seed % 5)
        found = judged([judge(simulate(endless, (1 + truth) * CAPACITY, 0.2, seed=seed)).gated])
        hits.append(abs(found.growth - truth) <= found.growth_error)
    covered(hits)


def true_growth(observation: Observation, mask: Mask) -> float:
    """Return the growth of queues in clean windows, from latency without noise, in frames."""
    assert observation.windows is not None
    (direction,) = observation.windows.directions
    rises = np.diff(direction.latency_ns, append=direction.latency_ns[-1])[np.array(mask.clean)]
    return float((np.array(direction.offered)[np.array(mask.clean)] * rises).sum() / MS)


@pytest.mark.parametrize(
    ("share", "noise"),
    [(0.7, LOUD), (0.95, LOUD), (0.95, FREQUENT), (1.005, SELDOM), (1.02, SELDOM)],
    ids=["70% loud", "95% loud", "95% frequent stops", "100.5%", "102%"],
)
def test_the_interval_of_growth_covers_what_queues_did(share: float, noise: Noise) -> None:
    noisy = replace(DEEP, jitter_ns=20_000)
    hits: list[bool] = []
    for seed in range(40):
        shown, frames = [], 0.0
        for piece in range(4):
            observation, exact = (
                simulate(sut, share * CAPACITY, 1.0, noise, 4 * seed + piece)
                for sut in (noisy, replace(noisy, jitter_ns=0.0))
            )
            found = judge(observation)
            shown.append(found.gated)
            frames += true_growth(exact, found.mask)
        answer = judged(shown)
        if answer.runs >= 10:
            truth = max(0.0, frames / answer.offered)
            hits.append(abs(answer.growth - truth) <= answer.growth_error)
    assert len(hits) >= 30
    covered(hits)


@pytest.mark.parametrize("noise", [LOUD, FREQUENT], ids=["loud", "frequent stops"])
@pytest.mark.parametrize("jitter_ns", [1_000.0, 20_000.0])
def test_starts_chosen_drained_bias_growth_by_less_than_a_quarter_of_the_width(
    noise: Noise, jitter_ns: float
) -> None:
    # A run starts where latency happens to be low. Below the capacity that reads as growth.
    sut = replace(SHARP, jitter_ns=jitter_ns)
    assert abs(mean_growth(sut, 0.9 * CAPACITY, noise)) < WIDTH / 4


@pytest.mark.parametrize("noise", [LOUD, FREQUENT], ids=["loud", "frequent stops"])
def test_starts_chosen_drained_hide_no_overload(noise: Noise) -> None:
    # Growth is 1%; a queue that is full at times grows by less, and loses frames instead.
    for sut in (DEEP, replace(DEEP, jitter_ns=20_000)):
        runs = [
            run
            for seed in range(20)
            for run in judge(simulate(sut, 1.01 * CAPACITY, 0.5, noise, seed)).gated.runs
        ]
        offered = sum(run.offered for run in runs)
        lost = sum(run.lost for run in runs) / offered
        growth = sum(run.growth_frames for run in runs) / offered
        assert lost + growth == pytest.approx(0.01, abs=WIDTH / 2)


def losses(rng: np.random.Generator, runs: int, events: float, mean_frames: float) -> list[int]:
    """Return losses of events that strike runs alike, each with a geometric number of frames."""
    return [
        int(rng.geometric(1 / mean_frames, rng.poisson(events / runs)).sum()) for _ in range(runs)
    ]


@pytest.mark.parametrize("runs", [10, 60])
@pytest.mark.parametrize("events", [3, 10, 40])
@pytest.mark.parametrize("mean_frames", [1, 20])
def test_the_bound_on_loss_holds_where_frames_are_lost_together(
    runs: int, events: float, mean_frames: float
) -> None:
    rng = np.random.default_rng(runs + int(events))
    hits: list[bool] = []
    ratios: list[float] = []
    while len(hits) < 400:
        lost = losses(rng, runs, events, mean_frames)
        if mean_frames > 1 and not any(lost):
            continue  # 3/offered does not hold where losses cluster: see lossy_runs_bound
        pieces = [CleanRun(10, 80_000, n, 0.0) for n in lost]
        found = judged([Gated(1_000_000, 10 * runs, tuple(pieces), 0, 0, 0, ())])
        truth = events * mean_frames / (runs * 80_000)
        hits.append(found.loss_bound >= truth)
        ratios.append(found.loss_bound / truth)
    covered(hits)
    assert np.median(ratios) < 6


def test_the_bound_on_lossy_runs_covers_their_true_share() -> None:
    rng = np.random.default_rng(4)
    hits: list[bool] = []
    while len(hits) < 400:
        share = rng.uniform(0.01, 0.4)
        lossy = rng.random(20) < share
        runs = [CleanRun(10, 80_000, 50 * int(is_lossy), 0.0) for is_lossy in lossy]
        found = judged([Gated(1_000_000, 200, tuple(runs), 0, 0, 0, ())])
        bound = lossy_runs_bound(found.lost, found.runs)
        hits.append(bound is None or bound >= share)
    covered(hits)


def test_the_bound_on_loss_holds_in_gated_trials() -> None:
    rare = replace(SHARP, rare_loss=0.02, loss_frames=20)
    hits: list[bool] = []
    for seed in range(60):
        found = judged([judge(simulate(rare, 7.2e6, 1.0, LOUD, seed)).gated])
        if found.lost:
            hits.append(found.loss_bound >= 0.02 * 20 / 7200)
    assert len(hits) >= 40
    covered(hits)
