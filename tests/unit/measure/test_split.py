# SPDX-License-Identifier: Apache-2.0
"""Split a point where settings changed, and rest its rates on one side."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tests.support.noisy_host import NoisyHost
from tests.support.simulated import Recorder
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.prober import judged
from wirespeed.measure.run import run_search
from wirespeed.measure.split import BURSTS_APART, end_side
from wirespeed.model.result.change import Change
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.spec import Search, SearchKind

RULE = Change("Open vSwitch: rule in_port=1", "output:2", "drop")
POOL = replace(RULE, what="/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", splits=False)


def trial(stage: Stage = Stage.SEARCH, *changes: Change) -> Trial:
    observation = replace(NoisyHost(4e6).measure(1e6, 1.0), changes=changes)
    return judged(observation, stage, 0.005, 1e6)


def test_end_side_without_a_change_is_all_trials() -> None:
    trials = [trial(), trial(Stage.SEARCH, POOL)]
    assert end_side(trials) is trials


def test_end_side_is_where_the_search_ended_without_the_trial_that_found_the_change() -> None:
    trials = [trial(), trial(Stage.SEARCH, RULE), trial(Stage.CONFIRM), trial(Stage.AS_IS, RULE),
              trial(Stage.LATENCY)]  # fmt: skip
    assert [id(each) for each in end_side(trials)] == [id(trials[2])]


def test_end_side_of_a_change_with_the_last_trial_is_empty() -> None:
    assert end_side([trial(), trial(Stage.CONFIRM, RULE)]) == []


@dataclass
class Changing:
    """A host whose capacity falls with a change of its settings in trial `at`."""

    at: int
    change: Change = RULE
    after_fps: float = 2e6
    count: int = 0

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        self.count += 1
        changed = self.count >= self.at and self.change.splits
        host = NoisyHost(self.after_fps if changed else 4e6)
        seen = host.measure(load_fps, duration_s)
        return replace(seen, changes=(self.change,) if self.count == self.at else ())


def searched(host: Changing) -> SearchResult:
    search = Search(SearchKind.QUICK, latency=False)
    return run_search(search, host.measure, UNLIMITED, Recorder())


@pytest.mark.parametrize("at", [5, 8, 11])
def test_run_search_changed_settings_pool_no_rate_over_the_change(at: int) -> None:
    result = searched(Changing(at))
    assert result.grade is Grade.D
    assert any("settings changed between" in why for why in result.because)
    lower = result.ndr.lower if result.ndr is not None else None
    # Of the side on which the search ended, or of none.
    assert lower is None or lower.load_fps < 2.1e6
    assert result.mrr_fps is None or result.mrr_fps < 2.1e6
    assert (lower is None) == (result.bracket is not None)


@dataclass
class Buffered(Changing):
    """The same with a ring that takes bursts of 5,000 frames."""

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        seen = super().measure(load_fps, duration_s)
        return replace(seen, drops=()) if load_fps * duration_s <= 5_000 else seen


@pytest.mark.parametrize("late", [True, False])
def test_run_search_settings_changed_between_bursts_give_no_burst(late: bool) -> None:
    search = Search(SearchKind.B2B, latency=False)
    plain = run_search(search, Buffered(10**9).measure, UNLIMITED, Recorder())
    assert plain.back_to_back is not None
    host = Buffered(len(plain.trials) - 2 if late else 10**9)
    result = run_search(search, host.measure, UNLIMITED, Recorder())
    assert (result.back_to_back is None) == late
    assert any(note == BURSTS_APART for note in result.notes) == late


def test_run_search_change_of_another_program_is_named_and_keeps_the_grade() -> None:
    plain, result = searched(Changing(10**9)), searched(Changing(6, POOL))
    assert result.grade is plain.grade
    assert any("nr_hugepages" in note for note in result.notes)
    assert not any("settings changed" in why for why in result.because)
