# SPDX-License-Identifier: Apache-2.0
"""Check that a search on a noisy host agrees with one on a quiet host, and its grade."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.noisy_host import (
    ALWAYS_SHARED,
    BUSY,
    LOUD,
    QUIET,
    Noise,
    NoisyHost,
    without_windows,
)
from tests.support.simulated import Recorder
from tests.unit.measure.test_run import lower_fps
from wirespeed.measure import proof
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.proof import noise_explains_loss
from wirespeed.measure.run import WIDTH, WIDTH_WHEN_DISTURBED, run_search
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.result.series import COUNTED
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.spec import Search, SearchKind

QUICK = Search(SearchKind.QUICK, latency=False)
KINDS = (
    QUICK,
    Search(SearchKind.MLR, latency=False),
    Search(SearchKind.RFC2544, trial_s=4.0, latency=False),
    Search(SearchKind.TST009, trial_s=1.0, latency=False),
)
CAPACITY_FPS = 4.05e6
LOUDEST = Noise(shared=0.85, shared_ns=60e6, stops_per_s=5, pauses_per_s=5)


def run(host: NoisyHost, search: Search = QUICK) -> SearchResult:
    return run_search(search, host.measure, UNLIMITED, Recorder())


@pytest.mark.parametrize("search", KINDS)
def test_a_quiet_host_gives_grade_a(search: Search) -> None:
    """Windows and whole trials agree."""
    result = run(NoisyHost(CAPACITY_FPS), search)
    assert result.grade is Grade.A
    assert result.because == ()
    assert lower_fps(result.ndr) == pytest.approx(CAPACITY_FPS, rel=1.5 * WIDTH)
    assert result.undisturbed is not None
    assert result.undisturbed.share == 1.0
    assert result.as_is is not None
    assert (result.as_is.loss_low, result.as_is.loss_high) == (0.0, 0.0)
    assert result.as_is.mrr_fps == pytest.approx(result.mrr_fps, rel=0.005)
    assert all(trial.quiet for trial in result.trials)


@pytest.mark.parametrize("search", KINDS)
@pytest.mark.parametrize(
    ("noise", "grade", "width"),
    [(BUSY, Grade.B, WIDTH), (LOUD, Grade.C, WIDTH_WHEN_DISTURBED)],
)
def test_noise_does_not_move_the_clean_rates(
    search: Search, noise: Noise, grade: Grade, width: float
) -> None:
    result = run(NoisyHost(CAPACITY_FPS, noise), search)
    assert result.grade is grade
    assert not result.conformant
    assert lower_fps(result.ndr) == pytest.approx(CAPACITY_FPS, rel=3 * width)
    assert result.mrr_fps == pytest.approx(CAPACITY_FPS, rel=0.005)
    assert result.as_is is not None
    assert result.as_is.mrr_fps is not None
    assert result.as_is.mrr_fps < 0.97 * CAPACITY_FPS, "over all time it is less"
    assert result.as_is.loss_high is not None
    assert result.as_is.loss_high > 0.01
    assert "core shared" in result.because[0]
    assert result.undisturbed is not None
    assert result.undisturbed.width == width
    assert result.bracket is None


@given(
    capacity_fps=st.floats(0.5e6, 9e6),
    seed=st.integers(0, 10_000),
    noise=st.builds(
        Noise,
        shared=st.floats(0.0, 0.9),
        shared_ns=st.floats(10e6, 100e6),
        stops_per_s=st.floats(0, 20),
        pauses_per_s=st.floats(0, 20),
    ),
)
@settings(deadline=None, max_examples=15)
def test_no_noise_makes_a_figure_too_high(capacity_fps: float, seed: int, noise: Noise) -> None:
    """No point stays without an answer, either."""
    result = run(NoisyHost(capacity_fps, noise, seed=seed))
    assert result.grade is not None
    figures = [i.lower.load_fps for i in (result.ndr, result.pdr) if i and i.lower]
    assert figures == sorted(figures)
    if result.ndr is not None and result.ndr.lower is not None:
        assert result.undisturbed is not None
        assert figures[0] <= capacity_fps * (1 + result.undisturbed.width)
    for interval in (result.ndr, result.pdr):
        if interval and interval.lower and interval.upper:
            assert interval.lower.load_fps < interval.upper.load_fps
    if result.bracket and result.bracket.carried_fps and result.bracket.overloads_fps:
        assert result.bracket.carried_fps < result.bracket.overloads_fps


@pytest.mark.parametrize("seed", range(3))
def test_lower_loads_are_judged_when_little_time_is_clean(seed: int) -> None:
    """Near its capacity a SUT takes long to drain, and no load there can be judged.

    The search goes on below instead of giving up.
    """
    result = run(NoisyHost(CAPACITY_FPS, LOUDEST, seed=seed))
    assert result.grade is Grade.C
    assert 0.85 * CAPACITY_FPS < lower_fps(result.ndr) <= CAPACITY_FPS
    assert any("too little of the time was clean to judge" in n for n in result.notes)
    assert result.limited_by is None


@pytest.mark.parametrize("search", KINDS)
def test_whole_trials_give_a_bracket_on_an_always_shared_core(search: Search) -> None:
    result = run(NoisyHost(CAPACITY_FPS, ALWAYS_SHARED), search)
    assert result.grade is Grade.D
    assert (result.ndr, result.pdr, result.mrr_fps, result.undisturbed) == (None,) * 4
    assert result.as_is is not None
    assert result.as_is.mrr_fps == pytest.approx(0.6 * CAPACITY_FPS, rel=0.01)
    assert result.bracket is not None
    assert result.bracket.carried_fps == pytest.approx(0.6 * CAPACITY_FPS, rel=0.02)
    assert result.bracket.overloads_fps is None, "what a shared core drops, a whole one may carry"
    assert result.because == ("of the time that decides, excluded: core shared 100.0%",)
    assert Stage.AS_IS not in {t.stage for t in result.trials}, "the search itself looked for that"


@pytest.mark.parametrize("kind", [SearchKind.FIXED, SearchKind.SOAK])
def test_a_held_load_that_cannot_be_judged_has_rates_over_all_time(kind: SearchKind) -> None:
    """Some of the time was clean, but too little for a verdict."""
    search = Search(kind, load_fps=3.9e6, trial_s=0.3, total_s=0.3, extension=1.0, latency=False)
    if kind is SearchKind.FIXED:
        search = replace(search, total_s=None)
    result = run(NoisyHost(CAPACITY_FPS, LOUD, seed=3), search)
    [trial] = [t for t in result.trials if t.stage is Stage.CONSTANT]
    assert trial.gated is not None
    assert 0 < trial.gated.clean_windows < 100
    assert result.constant is not None
    assert result.constant.loss_ratio == trial.loss_ratio > 0
    assert result.grade is Grade.D


def test_a_stop_now_and_then_costs_the_grade_not_the_load() -> None:
    """Stops are so rare that the trial is quiet, and yet it loses frames in stops with evidence."""
    now_and_then = Noise(stops_per_s=0.3, stop_ns=2e6)
    search = Search(SearchKind.FIXED, load_fps=2e6, trial_s=60.0)
    result = run(NoisyHost(CAPACITY_FPS, now_and_then), search)
    [trial] = [t for t in result.trials if t.stage is Stage.CONSTANT]
    assert trial.quiet
    assert trial.lost > 0
    assert result.constant is not None
    assert result.constant.loss_ratio == 0.0
    assert result.as_is is not None
    assert result.as_is.loss_low == trial.loss_ratio
    assert result.grade is Grade.B
    assert not result.conformant
    assert "SUT stopped" in result.because[0]


def test_a_frame_lost_in_time_that_counts_fails_a_quiet_trial() -> None:
    search = Search(SearchKind.FIXED, load_fps=2e6, trial_s=60.0)
    result = run(NoisyHost(CAPACITY_FPS, loss=1e-6), search)
    assert result.constant is not None
    assert result.constant.loss_ratio == pytest.approx(1e-6, rel=0.5)
    assert result.grade is Grade.A


def test_the_suts_own_stalls_are_not_excused() -> None:
    """The SUT stops by itself, without evidence: what it loses then is its own loss."""
    stalling = Noise(own_stalls_per_s=50)
    result = run(NoisyHost(CAPACITY_FPS, stalling))
    lossy = [t for t in result.trials if t.stage is Stage.SEARCH and t.lost]
    assert lossy
    assert all(trial.quiet for trial in result.trials)
    if result.ndr is not None and result.ndr.lower is not None:
        # A stall of 1 to 2 ms fills 1,024 descriptors from about 0.7 Mpps on.
        assert lower_fps(result.ndr) < 0.5 * CAPACITY_FPS


def test_an_overload_that_queues_hide_is_seen() -> None:
    """40,000 frames of queue take 2% of overload for half a second at 4 Mpps."""
    result = run(NoisyHost(CAPACITY_FPS, buffer_frames=40_000))
    assert lower_fps(result.ndr) <= CAPACITY_FPS * (1 + 2 * WIDTH)


def test_a_small_loss_at_any_load_leaves_the_pdr() -> None:
    result = run(NoisyHost(CAPACITY_FPS, BUSY, loss=0.001))
    assert result.ndr is not None
    assert result.ndr.lower is None
    assert lower_fps(result.pdr) == pytest.approx(CAPACITY_FPS, rel=0.02)
    assert result.grade is Grade.B


def test_both_directions_are_judged_together() -> None:
    result = run(NoisyHost(CAPACITY_FPS, BUSY, directions=2))
    assert lower_fps(result.ndr) == pytest.approx(CAPACITY_FPS, rel=3 * WIDTH)


def test_frames_without_stamps_fall_back_to_whole_trials() -> None:
    host = NoisyHost(CAPACITY_FPS, unseen=("frames of 64 B carry no time stamp",))

    def measure(load_fps: float, duration_s: float) -> Observation:
        return without_windows(host.measure(load_fps, duration_s))

    result = run_search(replace(QUICK, latency=True), measure, UNLIMITED, Recorder())
    assert lower_fps(result.ndr) == pytest.approx(CAPACITY_FPS, rel=0.01)
    assert result.grade is Grade.B
    assert "frames of 64 B carry no time stamp" in result.because
    assert "no latency: the frames carry no time stamp" in result.notes
    assert result.latency == ()


def test_a_quiet_host_that_could_not_be_watched_is_no_grade_a() -> None:
    result = run(NoisyHost(CAPACITY_FPS, QUIET, unseen=("perf is forbidden",)))
    assert result.grade is Grade.B
    assert "perf is forbidden" in result.because


@pytest.mark.parametrize("limit_s", [6.0, 12.0, 20.0])
def test_a_noisy_host_keeps_to_the_time(limit_s: float) -> None:
    result = run(NoisyHost(CAPACITY_FPS, LOUD), replace(QUICK, time_limit_s=limit_s))
    counted = [
        t.duration_s + t.observation.overhead_s for t in result.trials if t.stage is not Stage.AS_IS
    ]
    assert sum(counted[:-1]) < limit_s
    assert result.grade in {Grade.C, Grade.D}
    assert result.not_measurable is None


@pytest.mark.parametrize("limit_s", [None, 2.0])
def test_mrr_of_a_load_that_is_no_overload_is_no_mrr(limit_s: float | None) -> None:
    """The flood and the first trial meet a stopped SUT, so the load derived from them is low."""
    calm = NoisyHost(CAPACITY_FPS)
    made = 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        stopped = NoisyHost(0.2 * CAPACITY_FPS, ALWAYS_SHARED, seed=made)
        return (stopped if made <= 2 else calm).measure(load_fps, duration_s)

    search = replace(QUICK, time_limit_s=limit_s)
    result = run_search(search, measure, UNLIMITED, Recorder())
    if limit_s is None:
        assert result.mrr_fps == pytest.approx(CAPACITY_FPS, rel=0.01)
    else:
        assert result.mrr_fps is None, "time was over before the load was raised"


def test_an_mrr_rests_on_all_steady_time() -> None:
    """An overloaded SUT never drains between two events of noise."""
    often = Noise(stops_per_s=60, stop_ns=400e3)
    host = NoisyHost(CAPACITY_FPS, often, buffer_frames=16_384)
    result = run(host, Search(SearchKind.MRR))
    assert result.mrr_fps == pytest.approx(CAPACITY_FPS, rel=0.01)
    assert result.undisturbed is not None
    assert result.undisturbed.windows > 1_000
    assert result.grade in {Grade.B, Grade.C}
    assert not any("drained" in why for why in result.because)


def test_noise_explains_the_loss_only_under_the_true_mask() -> None:
    """In the placebo test, a mask that does not fit the losses does not explain them."""
    result = run(NoisyHost(CAPACITY_FPS, LOUD))
    at_ndr = [t for t in result.trials if t.intended_load_fps == lower_fps(result.ndr)]
    deciding = [t for t in at_ndr if t.stage in (Stage.SEARCH, Stage.CONFIRM)]
    assert noise_explains_loss(deciding) is True
    assert noise_explains_loss([_mask_reversed(trial) for trial in deciding]) is not True


def _mask_reversed(trial: Trial) -> Trial:
    series = tuple(
        replace(s, values=s.values[::-1]) if s.name == COUNTED else s for s in trial.series
    )
    return replace(trial, series=series)


def test_whole_trials_decide_when_noise_does_not_explain_the_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proof, "noise_explains_loss", lambda _deciding: False)
    result = run(NoisyHost(CAPACITY_FPS, LOUD))
    assert result.grade is Grade.D
    assert result.ndr is None
    assert result.bracket is not None
    assert proof.NOT_NOISE in result.notes
