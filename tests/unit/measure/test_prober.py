# SPDX-License-Identifier: Apache-2.0
"""Check that a trial is extended until its load is judged, and never because of its loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.noisy_host import BUSY, LOUD, QUIET, Noise, NoisyHost
from tests.support.simulated import Recorder, Rig, Sharp, count, stop
from tests.support.simulated import prober_of as quiet_prober
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.prober import (
    LOST_TIME,
    UNDECIDED_IN_A_ROW,
    BeyondGenerator,
    NotMeasurable,
    OutOfTime,
    Prober,
    Undecided,
    judged,
)
from wirespeed.model.result.evidence import ContentionSamples, Evidence
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.trial import Stage, Trial


def prober_of(observation: list[Observation], extension: float = 5) -> tuple[Prober, Recorder]:
    """Return a prober whose trials come out as listed."""
    coming: Iterator[Observation] = iter(observation)
    recorder = Recorder()
    prober = Prober(
        lambda _load, _duration: next(coming), recorder, 0.005, 0.005, extension, expected_s=10.0
    )
    return prober, recorder


def good(load_fps: float = 1e6) -> Observation:
    return Rig(Sharp(2e6)).measure(load_fps, 1.0)


def noisy(load_fps: float = 1e6, length_ns: int = 10_000_000) -> Observation:
    return replace(good(load_fps), evidence=Evidence((stop(length_ns),)))


def misread(load_fps: float = 1e6) -> Observation:
    return replace(good(load_fps), directions=(count("d0", 10, 10, 11),))


def test_a_trial_is_extended_until_the_load_is_judged() -> None:
    prober, recorder = prober_of([noisy(), noisy(), good(), good()])
    point = prober.at(1e6, 1.0)
    assert point.decided
    assert point.exceeded == 0
    assert [t.quiet for t in prober.trials] == [False, False, True]
    assert recorder.trials == prober.trials == list(point.trials)
    assert "SUT stopped 100%" in (prober.trials[0].disturbed or "")


def test_a_load_that_cannot_be_judged_does_not_pass() -> None:
    """Time without anything clean counts a quarter."""
    prober, _ = prober_of([noisy()] * 100, extension=3)
    point = prober.at(1e6, 1.0)
    assert not point.decided
    assert point.exceeded > prober.pdr_limit
    assert len(prober.trials) == 3 / LOST_TIME


def test_a_load_asked_for_again_goes_on_from_what_is_known() -> None:
    rig = NoisyHost(4e6, LOUD)
    prober = quiet_prober(rig.measure)
    first = prober.at(4.0e6, 0.2)
    assert not first.decided
    again = prober.at(4.0e6, 0.2)
    assert again.trials[: len(first.trials)] == first.trials
    assert again.verdict.windows >= first.verdict.windows


def test_a_judged_load_asked_for_again_is_judged_afresh() -> None:
    prober, _ = prober_of([good(), good()])
    prober.at(1e6, 1.0)
    assert len(prober.at(1e6, 1.0).trials) == 1


def test_several_loads_that_cannot_be_judged_end_it() -> None:
    prober, _ = prober_of([noisy()] * 100, extension=2)
    for number in range(1, UNDECIDED_IN_A_ROW):
        prober.at(1e6 + number, 1.0)
    with pytest.raises(Undecided, match=r"0 clean windows in 8 s .*SUT stopped 100%"):
        prober.at(1e6, 1.0)
    assert len(prober.trials) == 2 / LOST_TIME * UNDECIDED_IN_A_ROW


def test_loads_that_can_be_judged_in_between_let_it_go_on() -> None:
    prober, _ = prober_of([noisy(), noisy(), good()] * 3, extension=LOST_TIME)
    points = [prober.at(1e6 + number, 1.0) for number in range(9)]
    assert [p.decided for p in points] == [False, False, True] * 3


def test_time_that_is_over_is_reported_before_the_next_trial() -> None:
    prober, _ = prober_of([noisy()] * 9, extension=9)
    prober.time_limit_s = 3.0
    assert not prober.at(1e6, 1.0).decided
    assert prober.spent_s == pytest.approx(3.6), "one trial may go beyond it"
    with pytest.raises(OutOfTime, match="limit of 3 s"):
        prober.at(2e6, 1.0)


def test_short_twice_in_a_row_is_the_generators_limit() -> None:
    rig = Rig(Sharp(9e6), generator_fps=3e6)
    prober = quiet_prober(rig.measure)
    with pytest.raises(BeyondGenerator, match="5,000,000") as caught:
        prober.at(5e6, 1.0)
    assert caught.value.offered_fps == 3e6
    assert len(prober.trials) == 2


def test_short_once_may_be_chance() -> None:
    short = Rig(Sharp(9e6), generator_fps=0.9e6).measure(1e6, 1.0)
    prober, _ = prober_of([short, good()])
    assert prober.at(1e6, 1.0).decided
    assert prober.points[0].trials == (prober.trials[1],)


def test_a_generator_that_was_stopped_is_not_called_short() -> None:
    short = Rig(Sharp(9e6), generator_fps=0.9e6).measure(1e6, 1.0)
    paused = replace(short, evidence=Evidence((stop(10**8, "generator"),)))
    prober, _ = prober_of([paused, paused, paused, good()])
    assert prober.at(1e6, 1.0).decided


def test_a_generator_whose_core_is_shared_is_not_called_short() -> None:
    """A shared core may be able to offer all of it; a shared core of the SUT is no limit for it."""
    short = Rig(Sharp(9e6), generator_fps=0.9e6).measure(1e6, 1.0)
    threads = tuple(replace(t, cpu=0 if t.role == "generator" else 1) for t in short.threads)

    def with_slow(cpu: int) -> Observation:
        slow = ContentionSamples(cpu, cpu == 1, (0, 1_000_000_000), (1.5, 1.5))
        return replace(short, threads=threads, evidence=Evidence(contention=(slow,)))

    prober, _ = prober_of([with_slow(0)])
    assert prober.usable(1e6, 1.0, Stage.SEARCH).offered_fps == pytest.approx(0.9e6)
    prober, _ = prober_of([with_slow(1)] * 2)
    with pytest.raises(BeyondGenerator):
        prober.usable(1e6, 1.0, Stage.SEARCH)


def test_pauses_of_the_generator_are_distinguished_from_a_load_beyond_it() -> None:
    paused = NoisyHost(4e6, Noise(pauses_per_s=20, pause_ns=5e6), generator_fps=2.2e6)
    quiet_prober(paused.measure).usable(2e6, 1.0, Stage.SEARCH)
    slow = NoisyHost(4e6, generator_fps=1.9e6)
    with pytest.raises(BeyondGenerator):
        quiet_prober(slow.measure).usable(2e6, 1.0, Stage.SEARCH)


def test_counters_that_were_misread_once_are_read_again() -> None:
    prober, recorder = prober_of([misread(), misread(), good()])
    assert prober.at(1e6, 1.0).decided
    assert [t.fault is None for t in recorder.trials] == [False, False, True]
    assert [p.attempt for p in recorder.announced] == [0, 1, 2]


def test_counters_that_are_always_misread_end_it() -> None:
    prober, _ = prober_of([misread()] * 5)
    with pytest.raises(NotMeasurable, match="direction d0 received 11 of 10 offered"):
        prober.at(1e6, 1.0)
    assert len(prober.trials) == 3
    assert all(t.gated is None and not t.quiet for t in prober.trials)


def test_once_keeps_whatever_comes() -> None:
    prober, recorder = prober_of([misread()])
    assert prober.once(1e6, 1.0, Stage.CONSTANT).fault is not None
    assert len(recorder.trials) == 1


def test_an_unlimited_trial_records_what_was_offered() -> None:
    rig = Rig(Sharp(2e6), generator_fps=7e6)
    trial = quiet_prober(rig.measure).usable(UNLIMITED, 1.0, Stage.MRR)
    assert trial.intended_load_fps == 7e6


def test_beyond_the_mrr_pauses_are_bounded_as_at_the_mrr() -> None:
    # A quarter of the rings bridges 26 µs at 10 Mpps and 128 µs at the MRR of 2 Mpps.
    flooded = noisy(10e6, 120_000)
    prober, _ = prober_of([flooded, flooded])
    assert not prober.once(10e6, 1.0, Stage.MRR).quiet
    prober.overload_fps = 2e6
    assert prober.once(10e6, 1.0, Stage.MRR).quiet


def test_every_trial_is_closed() -> None:
    prober, _ = prober_of([replace(good(9e6), drops=())])
    (trial,) = prober.at(9e6, 1.0).trials
    (drop,) = trial.observation.drops
    assert (drop.cause, drop.frames) == (DropCause.UNKNOWN, 7_000_000)


def test_the_time_left_follows_overheads() -> None:
    prober, recorder = prober_of([good(), noisy(), good()])
    prober.at(1e6, 1.0)
    prober.at(1e6, 1.0)
    # Out of 10 s of traffic; then the remainder, at 1.2 s a second.
    assert [p.left_s for p in recorder.announced] == [
        10.0,
        pytest.approx(9 * 1.2),
        pytest.approx(8 * 1.2),
    ]


def test_a_broken_measurer_passes_through() -> None:
    def broken(_load: float, _duration: float) -> Observation:
        raise OSError("ovs-vswitchd is gone")

    with pytest.raises(OSError, match="is gone"):
        quiet_prober(broken).at(1e6, 1.0)


def test_a_trial_that_could_not_be_watched_is_not_quiet() -> None:
    observation = replace(good(), evidence=Evidence(unseen=("perf is forbidden",)))
    prober, _ = prober_of([observation])
    (trial,) = prober.at(1e6, 1.0).trials
    assert not trial.quiet
    assert "perf is forbidden" in (trial.disturbed or "")


def trial_of(observation: Observation) -> Trial:
    return judged(observation, Stage.SEARCH, 0.005, observation.intended_load_fps)


@given(
    noise=st.sampled_from([QUIET, BUSY, LOUD]),
    seed=st.integers(0, 1000),
    load_fps=st.floats(1e6, 6e6),
    kept=st.floats(0.0, 1.0),
)
@settings(deadline=None, max_examples=30)
def test_counted_windows_do_not_depend_on_loss(
    noise: Noise, seed: int, load_fps: float, kept: float
) -> None:
    """The same evidence and latency, with and without loss, give the same windows and reasons."""
    lossless = NoisyHost(20e6, noise, seed=seed).measure(load_fps, 0.3)
    assert lossless.windows is not None
    directions = tuple(
        replace(direction, received=tuple(int(kept * n) for n in direction.received))
        for direction in lossless.windows.directions
    )
    lossy = replace(
        lossless,
        directions=tuple(
            count(
                direction.name,
                sum(direction.offered),
                sum(direction.offered),
                sum(direction.received),
            )
            for direction in directions
        ),
        windows=replace(lossless.windows, directions=directions),
    )
    one, other = trial_of(lossless), trial_of(lossy)
    assert (one.quiet, one.disturbed) == (other.quiet, other.disturbed)
    assert one.gated is not None
    assert other.gated is not None
    assert one.gated.left_out == other.gated.left_out
    assert one.gated.steady_offered == other.gated.steady_offered
    assert [(r.windows, r.offered) for r in one.gated.runs] == [
        (r.windows, r.offered) for r in other.gated.runs
    ]


@given(stops=st.integers(0, 2_000_000), longer=st.integers(0, 2_000_000))
def test_a_longer_stop_is_never_better(stops: int, longer: int) -> None:
    if not trial_of(noisy(length_ns=stops)).quiet:
        assert not trial_of(noisy(length_ns=stops + longer)).quiet
