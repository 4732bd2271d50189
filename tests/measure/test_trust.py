# SPDX-License-Identifier: Apache-2.0
"""Check which trials make the rates of a point doubtful."""

from __future__ import annotations

from dataclasses import replace

from tests.measure.noisy_host import NoisyHost
from wirespeed.measure.prober import judged
from wirespeed.measure.trust import doubts
from wirespeed.model.hop_counts import Drop, DropCause
from wirespeed.model.trial import Stage, Trial


def trial_missing(frames: int) -> Trial:
    observation = NoisyHost(4e6).measure(1e6, 1.0)
    drops = (Drop("switch", DropCause.UNKNOWN, frames),)
    return judged(replace(observation, drops=drops), Stage.SEARCH, 0.005, 1e6)


def test_doubts_frames_without_a_cause_are_lost_or_too_many() -> None:
    (lost,) = doubts([trial_missing(50_000)], None, None, ())
    assert lost.startswith("counters do not close: trial 1 lost ")
    assert lost.endswith(" at switch without a known cause")
    (surplus,) = doubts([trial_missing(-50_000)], None, None, ())
    assert surplus.startswith("counters do not close: trial 1 counted ")
    assert surplus.endswith(" too many at switch")


def test_doubts_a_misread_trial_is_of_no_figure() -> None:
    misread = replace(trial_missing(50_000), fault="the counters contradict each other")
    assert doubts([misread], None, None, ()) == ()
