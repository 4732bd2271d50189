# SPDX-License-Identifier: Apache-2.0
"""Check that every figure rests on one placement of the polling CPUs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.measure.moving_host import FAR, NEAR, MovingHost
from tests.measure.noisy_host import NoisyHost
from tests.measure.simulated import Recorder
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import WIDTH, run_search
from wirespeed.model.cpus import CpuPlacement, PlacementKind
from wirespeed.model.observation import Observation
from wirespeed.model.result import Grade
from wirespeed.model.spec import Search, SearchKind
from wirespeed.store.codec import decode, encode

QUICK = Search(SearchKind.QUICK)


@pytest.mark.parametrize(
    ("ns", "slowdown", "kind"),
    [
        (45.0, 1.0, PlacementKind.ONE_CACHE),
        (100.0, 1.2, PlacementKind.ONE_CACHE),
        (101.0, 1.0, PlacementKind.ACROSS_CACHES),
        (20.0, 1.3, PlacementKind.ONE_CORE),
    ],
)
def test_placement_kind_follows_the_limits(ns: float, slowdown: float, kind: PlacementKind) -> None:
    assert CpuPlacement(ns, slowdown).kind is kind


@pytest.mark.parametrize("loss", [0.1, 0.35])
def test_search_on_a_moving_host_finds_each_placement(loss: float) -> None:
    met = 0
    for seed in range(8):
        host = MovingHost(4e6, loss, seed=seed, stay_s=(4.0, 12.0))
        result = run_search(QUICK, host.measure, UNLIMITED, Recorder())
        for one in (result, *result.by_placement):
            truth_fps = host.near_fps if one.placement is PlacementKind.ONE_CACHE else host.far_fps
            if one.ndr is not None and one.ndr.lower is not None:
                met += one is not result
                assert one.ndr.lower.load_fps == pytest.approx(truth_fps, rel=1.02 * WIDTH)
            if one.mrr_fps is not None:
                assert one.mrr_fps == pytest.approx(truth_fps, rel=0.01), "never pooled"
    assert met, "some point decided both"


def test_search_of_equal_placements_merges_them() -> None:
    for seed in range(20):
        host = MovingHost(4e6, 0.0, seed=seed, stay_s=(4.0, 12.0))
        result = run_search(QUICK, host.measure, UNLIMITED, Recorder())
        if any("merged" in note for note in result.notes):
            assert result.by_placement == ()
            return
    pytest.fail("no point met both placements")


def test_search_with_one_placement_differs_only_by_its_name() -> None:
    plain = NoisyHost(4e6, generator_fps=32e6)
    placed = NoisyHost(4e6, generator_fps=32e6, placement=(NEAR, NEAR))
    a = run_search(QUICK, plain.measure, UNLIMITED, Recorder())
    b = run_search(QUICK, placed.measure, UNLIMITED, Recorder())
    assert (a.placement, b.placement) == (None, PlacementKind.ONE_CACHE)
    assert replace(a, trials=(), placement=b.placement) == replace(b, trials=())
    assert plain.calls == placed.calls


def test_search_where_every_trial_moves_gives_the_answer_over_all_time() -> None:
    made = 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        where = NEAR if made % 2 else FAR
        observation = NoisyHost(4e6, seed=made).measure(load_fps, duration_s)
        return replace(observation, placement=(where, where))

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert result.grade in (Grade.D, None)
    assert result.ndr is None
    assert any("the CPUs moved in each of" in note for note in result.notes)
    assert made < 60


def test_wanted_placement_that_never_comes_is_told() -> None:
    host = NoisyHost(4e6, placement=(FAR, FAR))
    search = replace(QUICK, placement=PlacementKind.ONE_CACHE)
    result = run_search(search, host.measure, UNLIMITED, Recorder())
    assert result.placement is PlacementKind.ACROSS_CACHES
    assert "no trial ran with polling CPUs within one cache" in result.notes


def test_result_of_two_placements_is_stored_and_read_back() -> None:
    host = MovingHost(4e6, 0.35, seed=3, stay_s=(4.0, 12.0))
    result = run_search(QUICK, host.measure, UNLIMITED, Recorder())
    bare = replace(result, trials=())
    assert decode(type(bare), encode(bare)) == bare
