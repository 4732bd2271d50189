# SPDX-License-Identifier: Apache-2.0
"""Is a trial believed for the right reasons, and never because of its loss?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measure.simulated import count, thread
from wirespeed.measure import validity
from wirespeed.measure.validity import USUAL, Fault, Invalid, Purpose, ValidityRules, pause_limit_ns
from wirespeed.model.cpus import CpuPulse, Proximity
from wirespeed.model.trial import Observation, ThreadHealth

# 1,024 frames at 4 Mpps: the rings bear 256 us.
LOAD_FPS = 4e6
RING = 1024
LIMIT_NS = 256_000


def seen(
    *threads: ThreadHealth,
    steal_ns: int = 0,
    load_fps: float = LOAD_FPS,
    duration_s: float = 1.0,
    unsent: int = 0,
    received: int | None = None,
    directions: int = 1,
    ring_frames: int = RING,
) -> Observation:
    intended = round(load_fps * duration_s / directions)
    offered = intended - unsent
    ways = tuple(
        count(f"d{i}", intended, offered, offered if received is None else received)
        for i in range(directions)
    )
    return Observation(load_fps, duration_s, ways, (), threads, steal_ns, 0.1, ring_frames)


def judge(
    trial: Observation,
    rules: ValidityRules,
    purpose: Purpose = Purpose.LOSS,
    pause_load_fps: float | None = None,
) -> Invalid | None:
    return validity.judge(trial, rules, purpose, pause_load_fps or trial.intended_load_fps)


def test_pause_limit_is_the_time_that_the_rings_bridge() -> None:
    assert pause_limit_ns(USUAL, 1024, 7e6) == pytest.approx(146_286, abs=1)
    assert pause_limit_ns(USUAL, 1024, 0.8e6) == pytest.approx(1_280_000)


@pytest.mark.parametrize("role", ["generator", "sut"])
def test_a_pause_counts_from_the_limit_on(role: str) -> None:
    assert judge(seen(thread("t", role, LIMIT_NS)), USUAL) is None
    invalid = judge(seen(thread("t", role, LIMIT_NS + 1)), USUAL)
    assert invalid is not None
    assert invalid.fault is Fault.STOPPED


def test_the_reason_names_thread_and_numbers() -> None:
    invalid = judge(seen(thread("pmd7", "sut", 331_000, wait_ns=84_000, switches=3)), USUAL)
    assert invalid is not None
    for evidence in (
        "sut thread pmd7",
        "331 us",
        "256 us",
        "1024 frames",
        "3 involuntary",
        "84 us",
    ):
        assert evidence in invalid.reason


NEAR, TWO_CHIPS, ONE_CORE = Proximity(45, 1.0), Proximity(210, 1.0), Proximity(40, 1.5)


@pytest.mark.parametrize("elsewhere", [TWO_CHIPS, ONE_CORE])
@pytest.mark.parametrize("purpose", list(Purpose))
def test_cpus_that_moved_spoil_a_trial(elsewhere: Proximity, purpose: Purpose) -> None:
    undisturbed = seen(thread("t", "sut", None))

    def fault(first: Proximity, *pair: Proximity) -> Fault | None:
        trial = replace(undisturbed, proximity=(pair[0], pair[1]))
        invalid = validity.judge(trial, USUAL, purpose, LOAD_FPS, first)
        return None if invalid is None else invalid.fault

    assert fault(NEAR, NEAR, Proximity(60, 1.05)) is None
    assert fault(elsewhere, elsewhere, elsewhere) is None
    assert fault(NEAR, elsewhere, elsewhere) is Fault.MOVED
    assert fault(elsewhere, NEAR, NEAR) is Fault.MOVED
    assert fault(NEAR, NEAR, elsewhere) is Fault.MOVED


def test_the_reason_says_where_the_cpus_were() -> None:
    trial = replace(seen(), proximity=(NEAR, TWO_CHIPS))
    invalid = validity.judge(trial, USUAL, Purpose.LOSS, LOAD_FPS, NEAR)
    assert invalid is not None
    assert "they were 45 ns apart and 1.00x slower together before the trial" in invalid.reason
    assert "210 ns apart" in invalid.reason


@pytest.mark.parametrize("purpose", list(Purpose))
def test_a_core_that_something_else_uses_spoils_a_trial(purpose: Purpose) -> None:
    on_2, on_3 = (replace(thread("t", role, None), cpu=cpu) for role, cpu in _ROLES)

    def fault(slow_of_2: int, slow_of_3: int, limited_by: str | None = None) -> Fault | None:
        pulses = (CpuPulse(2, 100, slow_of_2, 700, 0), CpuPulse(3, 100, slow_of_3, 700, 0))
        trial = replace(seen(on_2, on_3), pulses=pulses, limited_by=limited_by)
        invalid = judge(trial, USUAL, purpose)
        return None if invalid is None else invalid.fault

    assert fault(0, 10) is None
    assert fault(0, 11) is Fault.SHARED
    assert fault(100, 0) is None, "a generator that keeps its pace changes nothing"
    assert fault(11, 0, "shared_lcore") is Fault.SHARED, "there, it forwards as well"


_ROLES = (("generator", 2), ("sut", 3))


def test_a_generator_whose_core_is_shared_is_not_called_short() -> None:
    slowed = replace(thread("t", "sut", None), cpu=0)
    trial = replace(seen(slowed, unsent=10**6), pulses=(CpuPulse(0, 100, 90, 700, 0),))
    invalid = judge(trial, USUAL)
    assert invalid is not None
    assert invalid.fault is Fault.SHARED
    assert "CPU 0 was slower than it can be for 90% of the trial" in invalid.reason


def test_distances_within_a_cache_are_alike() -> None:
    assert Proximity(75, 1.0).like(Proximity(30, 0.85))
    assert not Proximity(30, 1.44).like(Proximity(30, 0.85))


def test_each_direction_has_rings_of_its_own() -> None:
    pause = thread("t", "generator", LIMIT_NS * 3 // 2)
    assert judge(seen(pause), USUAL) is not None
    assert judge(seen(pause, directions=2), USUAL) is None


def test_a_thread_that_does_not_time_itself_is_judged_by_wait_and_steal() -> None:
    blind = thread("pmd", "sut", None, wait_ns=LIMIT_NS + 1)
    timed = thread("pmd", "sut", 1_000, wait_ns=LIMIT_NS + 1)
    assert judge(seen(blind), USUAL) is not None
    assert judge(seen(timed), USUAL) is None, "its own clock knows better than the sum of waits"
    stolen = judge(seen(thread("pmd", "sut", None), steal_ns=10_000_000, duration_s=60.0), USUAL)
    assert stolen is not None
    assert "steal" in stolen.reason


def test_many_short_stops_spoil_a_loss_trial() -> None:
    # 43 stops, none long, and 3% of the time gone.
    busy = thread("t", "sut", 100_000, switches=43, gaps_ns=6_000_000)
    invalid = judge(seen(busy, duration_s=0.2), USUAL)
    assert invalid is not None
    assert "3.00% of the trial" in invalid.reason


def test_steal_counts_as_stopped_time_of_a_thread_that_does_not_time_itself() -> None:
    blind, timed = thread("t", "sut", None), thread("t", "sut", 1_000)
    stolen = seen(blind, steal_ns=30_000_000, duration_s=1.0)
    assert judge(stolen, USUAL, Purpose.RATE) is not None
    assert judge(seen(blind, steal_ns=30_000_000, duration_s=60.0), USUAL, Purpose.RATE) is None
    assert judge(seen(timed, steal_ns=30_000_000, duration_s=1.0), USUAL, Purpose.RATE) is None


def test_a_rate_bears_one_long_pause_but_not_many() -> None:
    once = seen(thread("t", "generator", 2_000_000))
    assert judge(once, USUAL, Purpose.LOSS) is not None
    assert judge(once, USUAL, Purpose.RATE) is None
    assert judge(seen(thread("t", "generator", 25_000_000)), USUAL, Purpose.RATE) is not None


def test_a_burst_is_not_judged_by_shares_of_its_time() -> None:
    short = seen(thread("t", "sut", 1_000, gaps_ns=5_000), duration_s=0.0002)
    assert judge(short, USUAL, Purpose.LOSS) is not None
    assert judge(short, USUAL, Purpose.BURST) is None
    assert judge(seen(thread("t", "sut", LIMIT_NS + 1)), USUAL, Purpose.BURST) is not None


def test_a_low_load_can_be_held_to_the_pause_of_a_higher_one() -> None:
    slow = seen(thread("t", "generator", LIMIT_NS * 2), load_fps=LOAD_FPS / 10)
    assert judge(slow, USUAL) is None
    assert judge(slow, USUAL, pause_load_fps=LOAD_FPS) is not None


def test_unknown_rings_bear_what_usual_ones_hold_at_line_rate() -> None:
    assert judge(seen(thread("t", "generator", 68_000), ring_frames=0), USUAL) is None
    invalid = judge(seen(thread("t", "generator", 69_000), ring_frames=0), USUAL)
    assert invalid is not None
    assert "unknown rings" in invalid.reason


def test_a_generator_that_falls_behind_undisturbed_is_short() -> None:
    assert judge(seen(unsent=4_000), USUAL) is None, "0.1% is within the limit"
    invalid = judge(seen(unsent=4_001), USUAL)
    assert invalid is not None
    assert invalid.fault is Fault.SHORT
    assert "4001 of 4000000" in invalid.reason


def test_a_generator_that_was_stopped_is_not_called_short() -> None:
    invalid = judge(seen(thread("t", "generator", LIMIT_NS + 1), unsent=100_000), USUAL)
    assert invalid is not None
    assert invalid.fault is Fault.STOPPED


def test_each_direction_has_to_be_offered() -> None:
    both = seen(directions=2)
    lagging = replace(both.directions[1], offered=0, unsent=2_000_000, received=0)
    invalid = judge(replace(both, directions=(both.directions[0], lagging)), USUAL)
    assert invalid is not None
    assert "direction d1" in invalid.reason


def test_more_received_than_offered_is_a_race() -> None:
    invalid = judge(seen(received=4_000_001), USUAL)
    assert invalid is not None
    assert invalid.fault is Fault.RACED


@given(
    health=st.builds(
        thread,
        name=st.just("t"),
        role=st.sampled_from(["sut", "generator"]),
        max_gap_ns=st.integers(0, 1_000_000) | st.none(),
        wait_ns=st.integers(0, 10_000_000),
    ),
    steal_ns=st.sampled_from([0, 0, 10_000_000]),
    unsent=st.integers(0, 10_000),
    received=st.integers(0, 3_990_000),
    purpose=st.sampled_from(Purpose),
)
def test_loss_never_changes_the_verdict(
    health: ThreadHealth, steal_ns: int, unsent: int, received: int, purpose: Purpose
) -> None:
    lossless = seen(health, steal_ns=steal_ns, unsent=unsent)
    lossy = seen(health, steal_ns=steal_ns, unsent=unsent, received=received)
    assert judge(lossless, USUAL, purpose) == judge(lossy, USUAL, purpose)


@given(gap_ns=st.integers(0, 2_000_000), longer=st.integers(0, 1_000_000))
def test_a_longer_pause_is_never_better(gap_ns: int, longer: int) -> None:
    if judge(seen(thread("t", "sut", gap_ns)), USUAL) is not None:
        assert judge(seen(thread("t", "sut", gap_ns + longer)), USUAL) is not None
