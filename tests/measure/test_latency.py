# SPDX-License-Identifier: Apache-2.0
"""Is latency measured where it should be, and its absence told?"""

from __future__ import annotations

import random

from tests.measure.simulated import LATENCY, Recorder, Rig, Sharp
from wirespeed.measure.latency import REPEATS, measure_latency
from wirespeed.measure.prober import Prober
from wirespeed.measure.validity import USUAL
from wirespeed.model.trial import Observation, Stage


def prober_of(rig: Rig, repeats: int = 2) -> Prober:
    return Prober(rig.measure, Recorder(), USUAL, repeats, 10.0)


def test_latency_at_10_50_and_90_percent() -> None:
    rig = Rig(Sharp(5e6))
    prober = prober_of(rig)
    found, notes = measure_latency(prober, 4e6, 2.0)
    assert [(x.share, x.load_fps) for x in found] == [(0.1, 0.4e6), (0.5, 2e6), (0.9, 3.6e6)]
    assert all(x.latency == LATENCY for x in found)
    assert notes == ()
    assert rig.calls == [(0.4e6, 2.0), (2e6, 2.0), (3.6e6, 2.0)]
    assert {t.stage for t in prober.trials} == {Stage.LATENCY}


def test_frames_without_stamp_give_a_note_after_one_trial() -> None:
    rig = Rig(Sharp(5e6), latency=None)
    found, notes = measure_latency(prober_of(rig), 4e6, 2.0)
    assert found == ()
    assert notes == ("no latency: the frames carry no time stamp",)
    assert len(rig.calls) == 1


def test_a_load_that_cannot_be_measured_leaves_the_others() -> None:
    calm, rough = Rig(Sharp(5e6)), Rig(Sharp(5e6), invalid_share=1.0)

    def measure(load_fps: float, duration_s: float) -> Observation:
        return (rough if load_fps == 2e6 else calm).measure(load_fps, duration_s)

    prober = Prober(measure, Recorder(), USUAL, 2, 10.0)
    found, (note,) = measure_latency(prober, 4e6, 2.0)
    assert [x.share for x in found] == [0.1, 0.9]
    assert "50% of the PDR is not measurable" in note


def test_a_restless_machine_costs_few_repeats() -> None:
    rig = Rig(Sharp(5e6), invalid_share=1.0)
    measure_latency(prober_of(rig, repeats=50), 4e6, 2.0)
    assert len(rig.calls) == 3 * (1 + REPEATS)


def test_pauses_are_bounded_as_at_full_load() -> None:
    # 300 us: harmless at 0.4 Mpps, where the rings bridge 2.6 ms; too long at 4 Mpps (256 us).
    rig = Rig(Sharp(5e6), invalid_share=1.0, pause_ns=300_000, rng=random.Random(1))
    found, notes = measure_latency(prober_of(rig), 4e6, 2.0)
    assert found == ()
    assert len(notes) == 3
