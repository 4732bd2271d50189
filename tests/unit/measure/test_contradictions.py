# SPDX-License-Identifier: Apache-2.0
"""Check that contradictions between two rates of a point are explained."""

from __future__ import annotations

import random

import pytest

from tests.support.noisy_host import Noise, NoisyHost
from tests.support.simulated import Collapsing, Recorder, Rig, Sharp
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.proof import refuted
from wirespeed.measure.run import run_search
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Stage
from wirespeed.model.study.spec import Search, SearchKind

QUICK = Search(SearchKind.QUICK, latency=False)


def run(host: NoisyHost | Rig) -> SearchResult:
    return run_search(QUICK, host.measure, UNLIMITED, Recorder())


def lower_fps(result: SearchResult) -> float:
    assert result.ndr is not None
    assert result.ndr.lower is not None
    return result.ndr.lower.load_fps


def test_mrr_below_the_ndr_stands_as_measured_and_is_named() -> None:
    """The SUT forwards 8 Mpps, but only 2 when offered more than 9."""
    result = run(Rig(Collapsing(8e6, 9e6, 2e6), generator_fps=50e6))
    assert result.mrr_fps == pytest.approx(2e6)
    assert lower_fps(result) == pytest.approx(8e6, rel=0.005)
    assert any("an overload slows the SUT down" in note for note in result.notes)


def test_mrr_within_its_error_of_the_ndr_is_not_named() -> None:
    result = run(NoisyHost(4e6))
    assert not any("slows" in note for note in result.notes)


def test_mlr_unconfirmed_ndr_becomes_bracket() -> None:
    """A load that passes shorter trials fails each confirmation, at any load."""

    def measure(load_fps: float, duration_s: float) -> Observation:
        return Rig(Sharp(4e6 if duration_s < 1.0 else 1e3)).measure(load_fps, duration_s)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert result.ndr is None
    assert result.bracket is not None
    assert str(result.grade) == "D"


def test_refuted_by_pooled_loss_where_half_of_the_trials_lose() -> None:
    """Each trial that lost frames was outvoted; together they lost more than 1 of 10,000."""
    quiet, lossy = NoisyHost(4e6), NoisyHost(4e6, loss=0.003)
    trials = [
        run_search(
            Search(SearchKind.FIXED, load_fps=2e6, trial_s=0.3, latency=False),
            host.measure, UNLIMITED, Recorder(),
        ).trials[-1]
        for host in (quiet, quiet, lossy)
    ]  # fmt: skip
    assert refuted(trials[:2], 0.005, 0.005) is None
    why = refuted(trials, 0.005, 0.005)
    assert why is not None
    assert "more than 0.01%" in why


def test_refuted_where_every_trial_lost_frames_and_noise_does_not_explain_it() -> None:
    """All of its time, with and without noise, loses the same share: 5 frames of 100,000."""
    host = NoisyHost(4e6, Noise(stops_per_s=3, stop_ns=3e5), loss=5e-5, seed=3)
    search = Search(SearchKind.FIXED, load_fps=2e6, trial_s=1.0, latency=False)
    trials = [
        t
        for _ in range(3)
        for t in run_search(search, host.measure, UNLIMITED, Recorder()).trials
        if t.stage is Stage.CONSTANT
    ]
    assert all(trial.lost for trial in trials)
    assert refuted(trials, 0.005, 0.005) is not None


COMPILER = [Noise(), Noise(stops_per_s=30, stop_ns=4e6), Noise(shared=0.3, stops_per_s=20),
            Noise(shared=0.8, shared_ns=12e6, stops_per_s=10, pauses_per_s=10)]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_search_next_to_a_compiler_never_exceeds_the_truth_plus_its_width(seed: int) -> None:
    rng = random.Random(seed)
    capacity_fps = rng.uniform(0.1e6, 4e6)
    host = NoisyHost(
        capacity_fps, COMPILER[seed % len(COMPILER)], generator_fps=8 * capacity_fps,
        buffer_frames=max(64, round(capacity_fps / 500)), seed=seed,
    )  # fmt: skip
    result = run(host)
    width = result.undisturbed.width if result.undisturbed is not None else 0.01
    most_fps = capacity_fps * (1 + width)
    if result.ndr is not None and result.ndr.lower is not None:
        assert result.ndr.lower.load_fps <= most_fps
    if result.bracket is not None and result.bracket.carried_fps is not None:
        assert result.bracket.carried_fps <= most_fps
    if result.bracket is not None and result.bracket.overloads_fps and result.mrr_fps:
        assert result.mrr_half_interval is not None
        assert result.bracket.overloads_fps <= result.mrr_fps * (1 + result.mrr_half_interval)
