# SPDX-License-Identifier: Apache-2.0
"""Are invalid trials repeated, remembered, announced, and never handed to a search?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.measure.simulated import Recorder, Rig, Sharp, thread
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.prober import BeyondGenerator, NotMeasurable, Prober
from wirespeed.measure.validity import USUAL, Purpose
from wirespeed.model.trial import DropCause, Observation, Stage

LONG_NS = 10_000_000


def prober_of(seen: list[Observation], repeats: int = 5) -> tuple[Prober, Recorder]:
    """A prober whose trials come out as listed."""
    coming: Iterator[Observation] = iter(seen)
    recorder = Recorder()
    return Prober(lambda _load, _duration: next(coming), recorder, USUAL, repeats, 10.0), recorder


def good(load_fps: float = 1e6) -> Observation:
    return Rig(Sharp(2e6)).measure(load_fps, 1.0)


def paused(load_fps: float = 1e6) -> Observation:
    return replace(good(load_fps), threads=(thread("t", "sut", LONG_NS),))


def test_an_invalid_trial_is_run_again() -> None:
    prober, recorder = prober_of([paused(), paused(), good()])
    assert prober.valid(1e6, 1.0).valid
    assert [t.valid for t in prober.trials] == [False, False, True]
    assert recorder.trials == prober.trials
    assert [p.attempt for p in recorder.announced] == [0, 1, 2]


def test_too_many_repeats_give_up_with_the_last_reason() -> None:
    prober, _ = prober_of([paused()] * 3, repeats=2)
    with pytest.raises(NotMeasurable, match=r"3 trials of 1 s at 1,000,000 .*10,000 us"):
        prober.valid(1e6, 1.0)
    assert len(prober.trials) == 3


def test_short_twice_in_a_row_is_the_generators_limit() -> None:
    rig = Rig(Sharp(9e6), generator_fps=3e6)
    prober = Prober(rig.measure, Recorder(), USUAL, 5, 10.0)
    with pytest.raises(BeyondGenerator, match="5,000,000") as caught:
        prober.valid(5e6, 1.0)
    assert caught.value.offered_fps == 3e6
    assert len(prober.trials) == 2


def test_short_once_may_be_chance() -> None:
    short = Rig(Sharp(9e6), generator_fps=0.9e6).measure(1e6, 1.0)
    prober, _ = prober_of([short, paused(), short, good()])
    assert prober.valid(1e6, 1.0).valid


def test_once_keeps_an_invalid_trial() -> None:
    prober, recorder = prober_of([paused()])
    assert not prober.once(1e6, 1.0, Stage.CONSTANT).valid
    assert len(recorder.trials) == 1


def test_an_unlimited_trial_records_what_was_offered() -> None:
    rig = Rig(Sharp(2e6), generator_fps=7e6)
    prober = Prober(rig.measure, Recorder(), USUAL, 0, 10.0)
    assert prober.valid(UNLIMITED, 1.0, Stage.MRR, Purpose.RATE).intended_load_fps == 7e6


def test_beyond_the_mrr_pauses_are_bounded_as_at_the_mrr() -> None:
    # The rings bridge 102 us at 10 Mpps and 512 us at the MRR of 2 Mpps.
    flooded = replace(good(10e6), threads=(thread("t", "sut", 300_000),))
    prober, _ = prober_of([flooded, flooded], repeats=0)
    with pytest.raises(NotMeasurable):
        prober.valid(10e6, 1.0)
    prober.overload_fps = 2e6
    assert prober.valid(10e6, 1.0).valid


def test_every_trial_is_closed() -> None:
    prober, _ = prober_of([replace(good(9e6), drops=())])
    (drop,) = prober.valid(9e6, 1.0).seen.drops
    assert (drop.cause, drop.frames) == (DropCause.UNKNOWN, 7_000_000)


def test_the_time_left_follows_overheads_and_repeats() -> None:
    prober, recorder = prober_of([good(), paused(), good()])
    prober.valid(1e6, 1.0)
    prober.valid(1e6, 1.0)
    # Unknown first; then 9 of 10 s at 1.2 s a second; then 9 at 2.4 s for each useful second.
    assert [p.left_s for p in recorder.announced] == [
        None,
        pytest.approx(9 * 1.2),
        pytest.approx(9 * 2.4),
    ]


def test_a_broken_measurer_passes_through() -> None:
    def broken(_load: float, _duration: float) -> Observation:
        raise OSError("ovs-vswitchd is gone")

    with pytest.raises(OSError, match="is gone"):
        Prober(broken, Recorder(), USUAL, 5, 10.0).valid(1e6, 1.0)
