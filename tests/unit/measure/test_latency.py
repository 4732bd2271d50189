# SPDX-License-Identifier: Apache-2.0
"""Check the loads of latency trials, their two results, and notes on missing latency."""

from __future__ import annotations

from tests.support.noisy_host import ALWAYS_SHARED, BUSY, NoisyHost
from tests.support.simulated import LATENCY, Rig, Sharp, prober_of
from wirespeed.measure.latency import measure_latency
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.trial import Stage


def test_latency_at_10_50_and_90_percent() -> None:
    rig = Rig(Sharp(5e6))
    prober = prober_of(rig.measure)
    found, notes = measure_latency(prober, 4e6, 2.0)
    assert [(x.share, x.load_fps) for x in found] == [(0.1, 0.4e6), (0.5, 2e6), (0.9, 3.6e6)]
    assert all(x.latency == x.undisturbed == LATENCY for x in found)
    assert notes == ()
    assert rig.calls == [(0.4e6, 2.0), (2e6, 2.0), (3.6e6, 2.0)]
    assert {t.stage for t in prober.trials} == {Stage.LATENCY}


def test_frames_without_stamp_give_a_note_after_one_trial() -> None:
    rig = Rig(Sharp(5e6), latency=None)
    found, notes = measure_latency(prober_of(rig.measure), 4e6, 2.0)
    assert found == ()
    assert notes == ("no latency: the frames carry no time stamp",)
    assert len(rig.calls) == 1


def test_a_load_that_cannot_be_measured_leaves_the_others() -> None:
    good, bad = Rig(Sharp(5e6)), Rig(Sharp(5e6), misread_share=1.0)

    def measure(load_fps: float, duration_s: float) -> Observation:
        return (bad if load_fps == 2e6 else good).measure(load_fps, duration_s)

    found, (note,) = measure_latency(prober_of(measure), 4e6, 2.0)
    assert [x.share for x in found] == [0.1, 0.9]
    assert "50% of the PDR is not measurable" in note


def test_noisy_time_counts_over_all_time_only() -> None:
    rig = NoisyHost(5e6, BUSY)
    found, notes = measure_latency(prober_of(rig.measure), 4e6, 2.0)
    assert notes == ()
    for each in found:
        assert each.latency == LATENCY, "over all time: of all frames"
        assert each.undisturbed is not None
        assert 0 < each.undisturbed.count < each.load_fps * 2.0
        assert each.undisturbed.p999_ns < 140_000, "full rings are 205 us"


def test_latency_without_clean_time_has_no_clean_value() -> None:
    found, _ = measure_latency(prober_of(NoisyHost(5e6, ALWAYS_SHARED).measure), 4e6, 1.0)
    assert len(found) == 3
    assert all(each.undisturbed is None for each in found)


def test_pauses_are_bounded_as_at_full_load() -> None:
    # 120 µs: harmless at 0.4 Mpps, where a quarter of the rings bridges 640 µs; too long at 4 Mpps.
    rig = Rig(Sharp(5e6), disturbed_share=1.0, stop_ns=120_000)
    prober = prober_of(rig.measure)
    found, _ = measure_latency(prober, 4e6, 2.0)
    assert [each.undisturbed for each in found] == [None] * 3
    assert prober.once(0.4e6, 2.0, Stage.LATENCY).quiet
