# SPDX-License-Identifier: Apache-2.0
"""Check that the longest burst gives the buffer that the SUT has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.simulated import Recorder, Rig, Sharp, prober_of
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.presets import PRESETS
from wirespeed.measure.prober import Prober
from wirespeed.measure.run import run_search
from wirespeed.measure.search.b2b import B2b
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.model.result.trial import Stage
from wirespeed.model.study.spec import Search, SearchKind

PRESET = PRESETS[SearchKind.B2B].search
assert isinstance(PRESET, B2b)
SEARCH = replace(PRESET, searches=3)
LINE_FPS = 14.88e6


def run(rig: Rig, search: B2b = SEARCH, extension: float = 1.0) -> tuple[Figures, Prober]:
    prober = prober_of(rig.measure, extension)
    return search.find(prober, Limits(10e3, LINE_FPS, None)), prober


@given(
    capacity_fps=st.floats(0.5e6, 12e6),
    buffer_frames=st.integers(256, 30_000),
)
@settings(deadline=None)
def test_the_corrected_time_is_the_buffer(capacity_fps: float, buffer_frames: int) -> None:
    """Check a buffer B behind capacity C, which a burst of n frames at line rate L overflows.

    It does at n = B L/(L-C); corrected by (1 - C/L) that is B frames, B / L seconds.
    """
    rig = Rig(Sharp(capacity_fps, buffer_frames), ring_frames=1024)
    figures, _ = run(rig)
    assert figures.back_to_back is not None
    b2b = figures.back_to_back
    truth = buffer_frames * LINE_FPS / (LINE_FPS - capacity_fps)
    assert b2b.mean_frames == pytest.approx(truth, rel=0.011, abs=2)
    assert b2b.min_frames <= b2b.mean_frames <= b2b.max_frames
    assert b2b.bursts == 3
    # The throughput comes from short trials, where the buffer looks like capacity.
    assert figures.ndr is not None
    assert figures.ndr.lower is not None
    throughput_fps = figures.ndr.lower.load_fps
    assert b2b.buffer_s == pytest.approx(truth / LINE_FPS * (1 - throughput_fps / LINE_FPS), 0.02)


def test_a_search_starts_at_what_the_one_before_found() -> None:
    _, prober = run(Rig(Sharp(5e6, 300_000)), replace(SEARCH, searches=2))
    bursts = [t.offered for t in prober.trials if t.stage is Stage.BURST]
    assert bursts[0] == 1024
    assert sum(frames < 100_000 for frames in bursts) < 10, "only the first has to find the way"


def test_bursts_are_sent_at_full_rate() -> None:
    _, prober = run(Rig(Sharp(5e6, 2000)))
    bursts = [t for t in prober.trials if t.stage is Stage.BURST]
    assert bursts
    assert all(t.intended_load_fps == LINE_FPS for t in bursts)


def test_a_noisy_burst_is_sent_again() -> None:
    """A burst is too short to exclude time, so its loss under noise means nothing."""
    quiet, _ = run(Rig(Sharp(5e6, 2000)))
    disturbed, prober = run(Rig(Sharp(5e6, 2000), disturbed_share=0.3), extension=100)
    assert any(not t.quiet for t in prober.trials if t.stage is Stage.BURST)
    assert disturbed.back_to_back is not None
    assert disturbed.back_to_back == quiet.back_to_back


def test_a_burst_that_could_not_be_watched_is_not_sent_again() -> None:
    """Without observation it would never count as quiet."""
    quiet_rig, external = Rig(Sharp(5e6, 2000)), Rig(Sharp(5e6, 2000), unseen=("a DUT",))
    quiet, _ = run(quiet_rig)
    found, _ = run(external)
    assert found.back_to_back == quiet.back_to_back
    assert len(external.calls) == len(quiet_rig.calls)


def test_a_sut_that_keeps_up_has_no_burst() -> None:
    figures, prober = run(Rig(Sharp(15e6)))
    assert figures.back_to_back is None
    assert figures.notes == ("no back-to-back burst: the SUT keeps up with 14,880,000 frames/s",)
    assert not any(t.stage is Stage.BURST for t in prober.trials)


def test_a_sut_that_passes_nothing_has_no_burst() -> None:
    figures, _ = run(Rig(Sharp(1.0)))
    assert figures.back_to_back is None
    assert "no load passes" in figures.notes[0]


def test_a_buffer_beyond_the_longest_burst_is_not_guessed() -> None:
    figures, _ = run(Rig(Sharp(5e6, 400_000)), replace(SEARCH, longest_burst_s=0.01))
    assert figures.back_to_back is None
    assert figures.notes == ("no back-to-back burst: 0.01 s pass without loss",)


def test_the_preset_repeats_the_search_50_times() -> None:
    rig = Rig(Sharp(5e6, 2000))
    result = run_search(Search(SearchKind.B2B, latency=False), rig.measure, UNLIMITED, Recorder())
    assert result.back_to_back is not None
    assert result.back_to_back.bursts == 50
    assert not result.conformant
