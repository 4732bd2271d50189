# SPDX-License-Identifier: Apache-2.0
"""Check that every rate rests on one placement of the polling CPUs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.moving_host import FAR, NEAR, MovingHost, placed
from tests.support.noisy_host import NoisyHost
from tests.support.simulated import Recorder
from wirespeed.measure.interface import UNLIMITED, BadSearch
from wirespeed.measure.journal import Journal
from wirespeed.measure.placement_search import RESTLESS, order
from wirespeed.measure.presets import resolve
from wirespeed.measure.prober import UNPLACED, Prober
from wirespeed.measure.run import WIDTH, run_search
from wirespeed.model.cpus import CpuPair, CpuPlacement, PlacementKind
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import Bound, Grade, Interval, SearchResult
from wirespeed.model.result.trial import Stage
from wirespeed.model.study.spec import Search, SearchKind
from wirespeed.store.codec import decode, encode

QUICK = Search(SearchKind.QUICK)
COUNTED = set(Stage) - {Stage.WARM_UP, Stage.BURST}


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
        for one in result.answers:
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
        return placed(observation, where, where)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert (result.grade, result.ndr) == (Grade.D, None)
    assert result.as_is is not None
    assert result.as_is.lossless_fps is not None
    assert any("the CPUs moved in each of" in note for note in result.notes)
    assert made < 60


def test_search_where_the_cpus_move_during_every_trial_gives_the_answer_over_all_time() -> None:
    made = 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        return placed(NoisyHost(4e6, seed=made).measure(load_fps, duration_s), NEAR, FAR)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert (result.grade, result.ndr, result.mrr_fps) == (Grade.D, None, None)
    assert result.as_is is not None
    assert result.as_is.mrr_fps == pytest.approx(4e6, rel=0.01)
    assert result.notes.count(RESTLESS) == 1
    assert made < 30


def test_as_is_answer_is_over_the_trials_of_all_placements() -> None:
    for seed in range(20):
        host = MovingHost(4e6, 0.35, seed=seed, stay_s=(2.0, 6.0))
        result = run_search(QUICK, host.measure, UNLIMITED, Recorder())
        if result.placement is PlacementKind.ACROSS_CACHES and result.by_placement:
            assert result.ndr is None or result.ndr.lower is not None
            assert result.as_is is not None
            assert result.as_is.lossless_fps is not None
            lossless = [
                t.intended_load_fps for t in result.trials if t.lost == 0 and t.stage in COUNTED
            ]
            assert result.as_is.lossless_fps == max(lossless)
            assert all(other.as_is is None for other in result.by_placement)
            return
    pytest.fail("no point decided far alone")


@pytest.mark.parametrize("seed", range(4))
def test_search_that_waits_measures_where_it_wants(seed: int) -> None:
    host = MovingHost(4e6, 0.35, seed=seed)
    search = replace(QUICK, placement=PlacementKind.ONE_CACHE, wait_for_placement=600.0)
    result = run_search(search, host.measure, UNLIMITED, Recorder(), host.place)
    assert result.placement is PlacementKind.ONE_CACHE
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert result.ndr.lower.load_fps == pytest.approx(4e6, rel=1.02 * WIDTH)


def test_search_that_waits_in_vain_gives_the_other_placement_after_its_time() -> None:
    host = NoisyHost(4e6, placement=(FAR, FAR))
    waits: list[float] = []

    def place(after_s: float) -> CpuPlacement:
        waits.append(after_s)
        return FAR

    search = replace(QUICK, placement=PlacementKind.ONE_CACHE, wait_for_placement=30.0)
    result = run_search(search, host.measure, UNLIMITED, Recorder(), place)
    assert sum(waits) == 30.0
    assert result.placement is PlacementKind.ACROSS_CACHES
    assert result.grade is Grade.A
    [told] = [note for note in result.notes if "no rate with" in note]
    assert "after a wait of 30 s; the figures are of: polling CPUs across caches" in told


def test_search_counts_the_wait_in_its_time_limit() -> None:
    host = NoisyHost(4e6, placement=(FAR, FAR))
    waits: list[float] = []

    def place(after_s: float) -> CpuPlacement:
        waits.append(after_s)
        return FAR

    search = replace(
        QUICK, placement=PlacementKind.ONE_CACHE, wait_for_placement=600.0, time_limit_s=20.0
    )
    run_search(search, host.measure, UNLIMITED, Recorder(), place)
    assert sum(waits) == 20.0


def test_search_that_waits_without_a_wanted_placement_is_refused() -> None:
    with pytest.raises(BadSearch, match=r"search\.placement is not"):
        resolve(replace(QUICK, wait_for_placement=5.0))


def test_search_where_the_probe_fails_has_no_placement_and_no_grade_a() -> None:
    unknown = "where the polling CPUs are is not known: no such CPU"
    result = run_search(QUICK, NoisyHost(4e6, unseen=(unknown,)).measure, UNLIMITED, Recorder())
    assert (result.placement, result.grade) == (None, Grade.B)
    assert unknown in result.because


def test_search_where_the_probe_fails_at_times_mixes_no_trial_of_unknown_placement() -> None:
    host = MovingHost(4e6, 0.35, seed=3, stay_s=(1e3, 1e3))
    made = 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        if made % 4:
            return host.measure(load_fps, duration_s)
        fast = NoisyHost(9e6, generator_fps=32e6, seed=made).measure(load_fps, duration_s)
        return replace(fast, placement=None)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    truth_fps = host.near_fps if result.placement is PlacementKind.ONE_CACHE else host.far_fps
    assert result.mrr_fps == pytest.approx(truth_fps, rel=0.01)
    assert any(trial.fault == UNPLACED for trial in result.trials)


def test_prober_that_replays_a_trial_of_unknown_placement_leaves_it_out_again() -> None:
    host, journal, made = NoisyHost(4e6), Journal(), 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        found = host.measure(load_fps, duration_s)
        return placed(found, NEAR, NEAR) if made == 1 else found

    def faults() -> list[str | None]:
        prober = Prober(measure, Recorder(), WIDTH, 0.005, 5.0, 1.0, journal=journal)
        return [prober.once(1e6, 0.3, Stage.SEARCH).fault for _ in range(2)]

    assert faults() == [None, UNPLACED]
    journal.start(journal.placed)
    assert faults() == [None, UNPLACED]
    assert made == 2, "both were replayed"


def test_latency_where_the_cpus_move_for_good_leaves_the_rates_and_is_reported() -> None:
    made = 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        found = NoisyHost(4e6, generator_fps=32e6, seed=made).measure(load_fps, duration_s)
        latency = duration_s == 0.5 and load_fps < 3.9e6
        return placed(found, NEAR, FAR) if latency else placed(found, NEAR, NEAR)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    assert (result.grade, result.placement) == (Grade.A, PlacementKind.ONE_CACHE)
    assert result.latency == ()
    assert sum("latency at" in note and "the CPUs moved" in note for note in result.notes) == 3
    assert RESTLESS not in result.notes
    assert sum(trial.stage is Stage.LATENCY for trial in result.trials) == 9
    assert any(", 9 in which they moved" in why for why in result.because)


def test_long_trials_run_in_pieces_once_the_cpus_moved() -> None:
    search = Search(SearchKind.FIXED, load_fps=2e6, trial_s=10.0, latency=False)
    host = MovingHost(4e6, 0.35, seed=2, stay_s=(6.0, 9.0))
    result = run_search(search, host.measure, UNLIMITED, Recorder())
    held = [t for t in result.trials if t.stage is Stage.CONSTANT]
    assert held[0].duration_s == 10.0
    assert held[0].moved
    assert {t.duration_s for t in held[1:]} == {2.0}
    assert result.grade is Grade.A


@pytest.mark.parametrize("seconds", [2.0, 10.0, 60.0])
def test_trials_stay_whole_where_the_cpus_do_not_move(seconds: float) -> None:
    search = Search(SearchKind.FIXED, load_fps=2e6, trial_s=seconds, latency=False)
    host = NoisyHost(4e6, placement=(NEAR, NEAR))
    run_search(search, host.measure, UNLIMITED, Recorder())
    assert [duration_s for _, duration_s in host.calls] == [1.0, seconds]


def test_order_puts_a_proper_figure_before_a_nearer_lower_bound() -> None:
    lower = Bound(4e6, 4e6, 0.0)
    near = SearchResult(
        "quick", False, (), ndr=Interval(lower, None), grade=Grade.B,
        placement=PlacementKind.ONE_CACHE,
    )  # fmt: skip
    far = replace(
        near, ndr=Interval(lower, Bound(4.1e6, 4e6, 0.01)), grade=Grade.C,
        placement=PlacementKind.ACROSS_CACHES,
    )  # fmt: skip
    by_link = replace(near, limited_by="link")
    rough = replace(far, grade=Grade.D)
    assert min((near, far), key=lambda one: order(one, None)) is far
    assert min((by_link, far), key=lambda one: order(one, None)) is by_link
    assert min((near, rough), key=lambda one: order(one, None)) is near
    assert min((far, near), key=lambda one: order(one, PlacementKind.ONE_CACHE)) is near


def test_placement_of_several_pairs_is_named_by_the_worst() -> None:
    pairs = (
        CpuPair("", (0, 1), 40.0, 1.0),
        CpuPair("", (0, 2), 210.0, 1.0),
        CpuPair("", (1, 2), 50.0, 1.0),
    )
    at = CpuPlacement.of(pairs)
    assert at is not None
    assert (at.kind, at.core_to_core_ns) == (PlacementKind.ACROSS_CACHES, 210.0)
    swapped = CpuPlacement.of((pairs[1], pairs[0], pairs[2]))
    assert swapped is not None
    assert swapped.kind is at.kind
    assert swapped.placed != at.placed, "the same kinds of other pairs are another placement"
    one = CpuPlacement.of(pairs[:1])
    assert one == CpuPlacement(40.0, 1.0)


def test_search_distinguishes_placements_of_the_same_name() -> None:
    """Another pair of the three polling CPUs is apart: other rates, the same name."""

    def at(*ns: float) -> CpuPlacement:
        found = CpuPlacement.of(
            tuple(CpuPair("", (i, i + 1), each, 1.0) for i, each in enumerate(ns))
        )
        assert found is not None
        return found

    made = 0

    def measure(load_fps: float, duration_s: float) -> Observation:
        nonlocal made
        made += 1
        first = made <= 8
        where = at(40, 40, 210) if first else at(210, 40, 40)
        host = NoisyHost(4e6 if first else 2e6, generator_fps=32e6, seed=made)
        return placed(host.measure(load_fps, duration_s), where, where)

    result = run_search(QUICK, measure, UNLIMITED, Recorder())
    [other] = result.by_placement
    assert result.placement is other.placement is PlacementKind.ACROSS_CACHES
    assert result.placement_pairs != other.placement_pairs
    assert result.mrr_fps is not None
    assert other.mrr_fps is not None
    assert sorted((result.mrr_fps, other.mrr_fps)) == pytest.approx([2e6, 4e6], rel=0.01)


def test_wanted_placement_that_never_comes_is_reported() -> None:
    host = NoisyHost(4e6, placement=(FAR, FAR))
    search = replace(QUICK, placement=PlacementKind.ONE_CACHE)
    result = run_search(search, host.measure, UNLIMITED, Recorder())
    assert result.placement is PlacementKind.ACROSS_CACHES
    assert any("no rate with polling CPUs within one cache" in note for note in result.notes)


def test_result_of_two_placements_is_stored_and_read_back() -> None:
    host = MovingHost(4e6, 0.35, seed=3, stay_s=(4.0, 12.0))
    result = run_search(QUICK, host.measure, UNLIMITED, Recorder())
    bare = replace(result, trials=())
    assert decode(type(bare), encode(bare)) == bare
