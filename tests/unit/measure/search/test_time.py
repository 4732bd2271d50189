# SPDX-License-Identifier: Apache-2.0
"""Check that a search keeps its time limit, and keeps its results when time is over."""

from __future__ import annotations

import pytest

from tests.support.simulated import Fraying, Recorder, Rig, Sharp
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import run_search
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.result.trial import Stage
from wirespeed.model.study.spec import Search, SearchKind

BEFORE = frozenset({Stage.WARM_UP, Stage.MRR, Stage.SEARCH, Stage.CONFIRM, Stage.BURST})


def run(search: Search, rig: Rig) -> SearchResult:
    return run_search(search, rig.measure, UNLIMITED, Recorder())


def spent_s(result: SearchResult) -> list[float]:
    """Return the time of each trial that the limit bounds."""
    return [t.duration_s + t.observation.overhead_s for t in result.trials if t.stage in BEFORE]


def test_a_study_can_set_the_length_of_a_trial() -> None:
    result = run(Search(SearchKind.QUICK, trial_s=0.7), Rig(Sharp(4e6)))
    assert max(t.duration_s for t in result.trials if t.stage is Stage.SEARCH) == 0.7


@pytest.mark.parametrize("capacity_fps", [0.8e6, 3e6, 10e6])
def test_a_quick_point_takes_at_most_20_seconds_of_traffic(capacity_fps: float) -> None:
    rig = Rig(Sharp(capacity_fps, buffer_frames=1024), generator_fps=40e6)
    run(Search(SearchKind.QUICK), rig)
    assert rig.traffic_s <= 20


@pytest.mark.parametrize(("kind", "limit_s"), [(SearchKind.QUICK, 6.0), (SearchKind.MLR, 11.0)])
def test_a_time_limit_gives_the_bounds_known_by_then(kind: SearchKind, limit_s: float) -> None:
    result = run(Search(kind, time_limit_s=limit_s), Rig(Fraying(4e6, 3.5e6)))
    assert sum(spent_s(result)[:-1]) < limit_s
    assert result.not_measurable is None
    assert result.grade is Grade.D, "no fresh trial confirmed it"
    assert (result.ndr, result.pdr) == (None, None)
    assert result.bracket is not None
    assert result.bracket.carried_fps is not None
    assert result.bracket.overloads_fps is not None
    assert result.bracket.carried_fps <= 3.5e6 * 1.001 < result.bracket.overloads_fps
    assert any(
        f"{limit_s:g} s (search.time_limit_s) was over: the bounds are" in note
        for note in result.notes
    )
    assert len(result.latency) == 3


@pytest.mark.parametrize("limit_s", [15.0, 20.0])
def test_short_trials_of_an_unfinished_search_are_not_conformant(limit_s: float) -> None:
    """Two seconds without loss are not the 60 that RFC 2544 requires."""
    result = run(Search(SearchKind.RFC2544, time_limit_s=limit_s), Rig(Fraying(4e6, 3.5e6)))
    assert result.ndr is None
    assert result.bracket is not None
    assert not any(t.duration_s >= 60 for t in result.trials)
    assert not result.conformant


@pytest.mark.parametrize(
    "kind",
    [
        SearchKind.QUICK,
        SearchKind.MLR,
        SearchKind.RFC2544,
        SearchKind.TST009,
        SearchKind.B2B,
        SearchKind.MRR,
    ],
)
def test_a_time_limit_that_leaves_no_search_leaves_the_mrr(kind: SearchKind) -> None:
    result = run(Search(kind, time_limit_s=1.0), Rig(Sharp(4e6)))
    assert result.mrr_fps == 4e6
    assert result.not_measurable is None
    assert (result.ndr, result.pdr) == (None, None)
    if kind is SearchKind.MRR:
        assert result.grade is Grade.A
        return
    assert result.grade is Grade.D
    assert result.bracket is not None
    assert result.bracket.carried_fps is None or result.bracket.carried_fps <= 4e6
    assert result.bracket.overloads_fps == 4e6, "no more is received"


def test_a_fixed_load_that_time_did_not_reach_says_so() -> None:
    result = run(Search(SearchKind.FIXED, load_fps=1e6, time_limit_s=1.0), Rig(Sharp(4e6)))
    assert result.grade is None
    assert result.not_measurable == "the time limit of 1 s (search.time_limit_s) was over"


def test_bursts_keep_to_the_time_and_stay() -> None:
    rig = Rig(Sharp(5e6, 300_000))
    whole = run(Search(SearchKind.B2B, latency=False), rig)
    assert whole.back_to_back is not None
    assert whole.back_to_back.bursts == 50
    limit_s = sum(spent_s(whole)) / 2
    part = run(
        Search(SearchKind.B2B, latency=False, time_limit_s=limit_s), Rig(Sharp(5e6, 300_000))
    )
    assert sum(spent_s(part)[:-1]) < limit_s
    assert part.back_to_back is not None
    assert 0 < part.back_to_back.bursts < 50
    assert part.ndr is not None
    assert part.ndr.lower is not None
    assert any("of 50 back-to-back searches" in note for note in part.notes)


def test_noisy_trials_use_the_time_up_too() -> None:
    rig = Rig(Sharp(4e6), disturbed_share=0.9)
    result = run(Search(SearchKind.QUICK, time_limit_s=15.0), rig)
    assert sum(spent_s(result)[:-1]) < 15.0


@pytest.mark.parametrize(
    "kind", [SearchKind.QUICK, SearchKind.MLR, SearchKind.RFC2544, SearchKind.TST009]
)
def test_counters_that_fail_in_mid_search_leave_what_was_known(kind: SearchKind) -> None:
    rig = Rig(Sharp(4e6))

    def measure(load_fps: float, duration_s: float) -> Observation:
        rig.misread_share = 1.0 if len(rig.calls) >= 11 else 0.0
        return rig.measure(load_fps, duration_s)

    result = run_search(Search(kind), measure, UNLIMITED, Recorder())
    assert result.not_measurable is None
    assert result.grade is Grade.D
    assert result.ndr is None
    assert result.bracket is not None
    assert (result.bracket.carried_fps or 0.0) <= 4e6
    assert not result.conformant
    assert any("the counters contradict each other" in note for note in result.notes)
