# SPDX-License-Identifier: Apache-2.0
"""Are quick trials as long as the rings ask for, and no longer?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.measure.simulated import Recorder, Rig, Sharp
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.presets import PRESETS
from wirespeed.measure.run import run_search
from wirespeed.measure.search.quick import Quick
from wirespeed.model.spec import Search, SearchKind
from wirespeed.model.trial import Stage


def trial_lengths(rig: Rig, search: Search | None = None) -> set[float]:
    search = search or Search(SearchKind.QUICK)
    result = run_search(search, rig.measure, UNLIMITED, Recorder())
    return {t.duration_s for t in result.trials if t.stage is Stage.SEARCH}


@pytest.mark.parametrize(
    ("capacity_fps", "ring_frames", "directions", "expected_s"),
    [
        (1e6, 1024, 1, 0.2048),  # 200 times 1,024 frames at 1 Mpps
        (1e6, 1024, 2, 0.4096),  # each direction has rings of its own, and half of the load
        (15e6, 1024, 1, 0.1),  # not below a tenth of a second
        (50e3, 1024, 1, 0.9),  # not above what may run alone
        (4e6, 0, 1, 0.9),  # nobody knows the rings: as long as allowed
    ],
)
def test_length_follows_from_the_rings(
    capacity_fps: float, ring_frames: int, directions: int, expected_s: float
) -> None:
    rig = Rig(Sharp(capacity_fps), ring_frames=ring_frames, directions=directions)
    (length,) = trial_lengths(rig)
    assert length == pytest.approx(expected_s, rel=1e-3)


def test_a_study_can_set_the_length() -> None:
    assert trial_lengths(Rig(Sharp(4e6)), Search(SearchKind.QUICK, trial_s=0.7)) == {0.7}


def test_it_is_never_called_conformant() -> None:
    quick = PRESETS[SearchKind.QUICK].search
    assert isinstance(quick, Quick)
    assert not quick.conformant
    assert not replace(quick, trial_s=60.0).conformant


@pytest.mark.parametrize("capacity_fps", [0.8e6, 3e6, 10e6])
def test_a_point_takes_at_most_20_seconds_of_traffic(capacity_fps: float) -> None:
    rig = Rig(Sharp(capacity_fps, buffer_frames=1024), generator_fps=40e6)
    run_search(Search(SearchKind.QUICK), rig.measure, UNLIMITED, Recorder())
    assert rig.traffic_s <= 20


def test_a_time_limit_gives_the_bounds_known_by_then() -> None:
    limited = Search(SearchKind.QUICK, time_limit_s=5.0)
    result = run_search(limited, Rig(Sharp(4e6)).measure, UNLIMITED, Recorder())
    before_latency = [t for t in result.trials if t.stage is not Stage.LATENCY]
    assert sum(t.duration_s + t.seen.overhead_s for t in before_latency[:-1]) < 5.0
    assert result.not_measurable is None
    for interval, figure_fps in ((result.ndr, 4e6), (result.pdr, 4e6 / 0.995)):
        assert interval is not None
        assert interval.lower is not None
        assert interval.upper is not None
        assert interval.lower.load_fps <= figure_fps < interval.upper.load_fps
        assert interval.lower.loss_ratio <= 0.005
    assert any("5 s, was over: some bounds" in note for note in result.notes)
    assert len(result.latency) == 3


@pytest.mark.parametrize("kind", [SearchKind.QUICK, SearchKind.MRR, SearchKind.RFC2544])
def test_a_time_limit_that_lets_nothing_be_known(kind: SearchKind) -> None:
    limited = Search(kind, time_limit_s=1.0)
    result = run_search(limited, Rig(Sharp(4e6)).measure, UNLIMITED, Recorder())
    assert result.not_measurable == "search.time_limit_s, 1 s, was over"
    assert (result.ndr, result.latency) == (None, ())


def test_disturbed_trials_use_the_time_up_too() -> None:
    rig = Rig(Sharp(4e6), invalid_share=0.9)
    result = run_search(
        Search(SearchKind.QUICK, time_limit_s=15.0), rig.measure, UNLIMITED, Recorder()
    )
    spent_s = sum(t.duration_s + t.seen.overhead_s for t in result.trials)
    assert spent_s < 15.0 + 3 * 4 * 0.7 + 1.0
