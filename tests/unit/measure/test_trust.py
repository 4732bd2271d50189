# SPDX-License-Identifier: Apache-2.0
"""Check which trials make the rates of a point doubtful."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.noisy_host import NoisyHost
from tests.support.simulated import Recorder
from wirespeed.measure.conclusion import CONTRADICTION, conclude
from wirespeed.measure.found import Found
from wirespeed.measure.presets import resolve
from wirespeed.measure.prober import Prober, judged
from wirespeed.measure.search.mrr import Overload
from wirespeed.measure.trust import churned, doubts
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.route_churn import RouteChurn
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.spec import Search, SearchKind


def trial_missing(frames: int) -> Trial:
    observation = NoisyHost(4e6).measure(1e6, 1.0)
    drops = (Drop("switch", DropCause.UNKNOWN, frames),)
    return judged(replace(observation, drops=drops), Stage.SEARCH, 0.005, 1e6)


def test_doubts_frames_without_a_cause_are_lost_or_too_many() -> None:
    (lost,) = doubts([trial_missing(50_000)])
    assert lost.startswith("counters do not close: trial 1 lost ")
    assert lost.endswith(" at switch without a known cause")
    (surplus,) = doubts([trial_missing(-50_000)])
    assert surplus.startswith("counters do not close: trial 1 counted ")
    assert surplus.endswith(" too many at switch")


def test_doubts_name_the_direction_that_does_not_close() -> None:
    """The sum of both directions closes at the switch."""
    seen = trial_missing(0)
    drops = (
        Drop("switch", DropCause.UNKNOWN, 50_000, "east-west"),
        Drop("switch", DropCause.UNKNOWN, -40_000, "west-east"),
    )
    opposed = replace(seen, observation=replace(seen.observation, drops=drops))
    (told,) = doubts([opposed])
    assert told.endswith(" at switch in direction east-west without a known cause")
    (told,) = doubts([replace(seen, observation=replace(seen.observation, drops=drops[1:]))])
    assert told.endswith(" too many at switch in direction west-east")


def test_churned_sums_the_changes_of_all_trials() -> None:
    plain = trial_missing(0)
    trials = [
        replace(plain, observation=replace(plain.observation, churn=RouteChurn(*each)))
        for each in ((600, 0.01, 0.2), (400, 0.03, 0.1))
    ]
    (told,) = churned([plain, *trials])
    assert told == (
        "1000 changes of routes in 2 trials, up to 0.03 s late; kernel and router had all of them "
        "within 0.2 s of the end of traffic"
    )
    assert churned([plain]) == ()


def test_doubts_a_misread_trial_is_of_no_figure() -> None:
    misread = replace(trial_missing(50_000), fault="the counters contradict each other")
    assert doubts([misread]) == ()


@pytest.mark.parametrize(("clean", "contradicts"), [(0.9, True), (0.999, False), (1.3, False)])
def test_overload_clean_rate_below_that_of_whole_trials_contradicts_itself(
    clean: float, contradicts: bool
) -> None:
    seen = trial_missing(0)
    found = replace(seen, observation=replace(seen.observation, path_frames=0))
    whole_fps = found.forwarding_fps
    overload = Overload((found,), clean * whole_fps, None, whole_fps, 1e6, by_generator=False)
    assert overload.contradicts_itself(0.005) is contradicts


def test_conclude_contradictory_clean_rate_is_not_printed() -> None:
    search = Search(SearchKind.MRR)
    prober = Prober(NoisyHost(4e6).measure, Recorder(), 0.005, 0.005, 1.0, 0.0)
    trial = prober.once(5e6, 1.0, Stage.MRR)
    overload = Overload((trial,), 1e6, None, trial.forwarding_fps, 5e6, by_generator=False)
    result = conclude(search, resolve(search), prober, Found(overload=overload), None)
    assert result.mrr_fps is None
    assert CONTRADICTION in result.notes
