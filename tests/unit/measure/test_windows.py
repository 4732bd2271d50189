# SPDX-License-Identifier: Apache-2.0
"""Check that exactly the windows that count are summed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.measure.windows_sim import LOUD, MS, WIDTH, Noise, Sut, judge, simulate
from wirespeed.measure.gate import Geometry, Mask, gate
from wirespeed.measure.windows import (
    BUCKET,
    drained,
    gated,
    geometry_of,
    is_quiet,
    series_of,
    why_disturbed,
)
from wirespeed.model.result.evidence import DirectionWindows, Evidence, Windows
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.observation import Latency, LatencyRows, Observation, PollingThread
from wirespeed.model.result.reason import Reason
from wirespeed.model.result.series import SeriesKind
from wirespeed.model.result.trial import LeftOut

SUT = Sut(8e6)
LATENCY = Latency(10, 1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0, "")


def trial(*directions: DirectionWindows, load_fps: float = 8e6) -> Observation:
    """Return a trial with exactly these windows, of 1 ms each."""
    observation = simulate(
        SUT, load_fps, len(directions[0].offered) / 1000, directions=len(directions)
    )
    return replace(observation, windows=Windows(0, MS, directions), evidence=Evidence())


def direction(
    offered: list[int], received: list[int], latency_ns: list[float] | None = None
) -> DirectionWindows:
    count = len(offered)
    latency = [10_000.0] * count if latency_ns is None else latency_ns
    return DirectionWindows("up", tuple(offered), (0,) * count, tuple(received), tuple(latency))


def masked(*clean: bool) -> Mask:
    return Mask(clean, clean, ())


def whole_trial(load_fps: float = 1e6) -> Observation:
    """Return a trial whose frames carry no time stamp."""
    return replace(simulate(SUT, load_fps, 0.5), windows=None, latency=LATENCY)


def test_loads_bound_stops_for_one_direction() -> None:
    observation = simulate(SUT, 8e6, 0.02, directions=2)
    assert geometry_of(observation, WIDTH) == Geometry(0, MS, 20, 4e6, 1024, 1024, WIDTH, False)
    assert geometry_of(observation, WIDTH, pause_load_fps=6e6).load_fps == 3e6


def test_the_sut_may_share_the_generators_cpu() -> None:
    observation = simulate(SUT, 8e6, 0.02)
    one_cpu = tuple(replace(thread, cpu=3) for thread in observation.threads)
    unknown = tuple(replace(thread, cpu=-1) for thread in observation.threads)
    apart = tuple(replace(thread, host=thread.role) for thread in one_cpu)
    assert geometry_of(replace(observation, threads=one_cpu), WIDTH).forwarding_shares_generator
    assert not geometry_of(replace(observation, threads=unknown), WIDTH).forwarding_shares_generator
    assert not geometry_of(replace(observation, threads=apart), WIDTH).forwarding_shares_generator
    assert geometry_of(
        replace(observation, limited_by="shared_lcore"), WIDTH
    ).forwarding_shares_generator


def test_drained_is_less_than_a_quarter_of_the_ring_in_every_direction() -> None:
    # 256 frames at 4 Mpps for each direction are 64 µs.
    up = direction([4000] * 4, [4000] * 4, [10_000, 73_000, 75_000, 10_000])
    down = direction([4000] * 4, [4000] * 4, [30_000, 30_000, 30_000, -1.0])
    observation = trial(up, down)
    assert drained(observation, geometry_of(observation, WIDTH)) == (True, True, False, False)


def test_windows_of_unknown_latency_are_drained() -> None:
    observation = trial(direction([8] * 3, [8] * 3, [-1.0] * 3))
    assert drained(observation, geometry_of(observation, WIDTH)) == (True, True, True)
    assert drained(whole_trial(), geometry_of(whole_trial(), WIDTH)) == (True,)


def test_a_direction_without_traffic_is_not_asked() -> None:
    observation = trial(direction([8] * 2, [8] * 2), direction([0] * 2, [0] * 2, [-1.0] * 2))
    assert drained(observation, geometry_of(observation, WIDTH)) == (True, True)


def test_loss_and_growth_of_excluded_windows_do_not_count() -> None:
    latency = [10_000, 10_000, 15_000, 90_000, 90_000]
    observation = trial(
        direction([8000] * 5, [8000, 7990, 8000, 1, 8000], [float(ns) for ns in latency])
    )
    found = gated(
        observation, masked(True, True, True, False, True), geometry_of(observation, WIDTH)
    )
    assert [run.lost for run in found.runs] == [0, 10, 0, 0]
    # 5 µs at 8 Mpps; the queue at the end of the window before the noise is unknown.
    assert [run.growth_frames for run in found.runs] == pytest.approx([0, 40, 0, 0])
    assert found.receive_fps == 8e6
    assert (found.steady_windows, found.steady_offered, found.steady_lost) == (4, 32_000, 10)


def test_a_start_chosen_for_its_low_latency_says_nothing_about_growth() -> None:
    # The run starts with window 1 as nothing is queued there. From 2 to 3 queues grow by 5 µs, and
    # window 4 has noise.
    count = 30
    latency = [90_000, 10_000, 50_000, 55_000, *[90_000.0] * (count - 4)]
    observation = trial(direction([8000] * count, [8000] * count, latency))
    mask = masked(False, *[True] * 3, *[False] * (count - 4))
    (run,) = gated(observation, mask, geometry_of(observation, WIDTH)).runs
    assert run.growth_frames == pytest.approx(40 * 3)
    alone = masked(False, True, *[False] * (count - 2))
    (run,) = gated(observation, alone, geometry_of(observation, WIDTH)).runs
    assert run.growth_frames == 0


def test_growth_is_signed_and_weighs_directions_by_their_load() -> None:
    up = direction([8000, 8000], [8000, 8000], [10_000, 20_000])
    down = direction([2000, 2000], [2000, 2000], [30_000, 10_000])
    observation = trial(up, down)
    (first, second) = gated(observation, masked(True, True), geometry_of(observation, WIDTH)).runs
    assert first.growth_frames == pytest.approx(80 - 40)
    assert second.growth_frames == 0


def test_a_window_of_which_nothing_arrived_is_as_full_as_the_one_before() -> None:
    observation = trial(direction([8000] * 3, [8000, 0, 8000], [10_000, -1.0, 20_000]))
    runs = gated(observation, masked(True, True, True), geometry_of(observation, WIDTH)).runs
    assert [run.growth_frames for run in runs] == pytest.approx([0, 80, 0])
    assert [run.lost for run in runs] == [0, 8000, 0]


def test_misread_counts_are_not_negative_loss() -> None:
    observation = trial(direction([8000] * 2, [8001, 8001]))
    found = gated(observation, masked(True, True), geometry_of(observation, WIDTH))
    assert found.steady_lost == 0
    assert all(run.lost == 0 for run in found.runs)


@given(st.integers(1, 300), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_a_clean_trial_has_ten_runs_that_add_up_to_it(count: int, seed: int) -> None:
    observation = simulate(Sut(8e6, jitter_ns=20_000), 7e6, count / 1000, seed=seed)
    geometry = geometry_of(observation, WIDTH)
    found = gated(observation, gate(Evidence(), geometry, (True,) * count), geometry)
    assert observation.windows is not None
    latency = observation.windows.directions[0].latency_ns
    assert len(found.runs) >= min(10, count)
    assert found.clean_windows == found.windows == count
    assert sum(run.offered for run in found.runs) == observation.total("offered")
    # Runs of unequal lengths give the load only to a frame.
    growth = sum(run.growth_frames for run in found.runs)
    assert growth == pytest.approx(7e6 * (latency[-1] - latency[0]) / 1e9, abs=0.5)


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_clean_and_excluded_windows_make_up_the_trial(seed: int) -> None:
    judged = judge(simulate(SUT, 7.9e6, 0.3, LOUD, seed))
    assert judged.observation.windows is not None
    (direction,) = judged.observation.windows.directions
    clean = [i for i, is_clean in enumerate(judged.mask.clean) if is_clean]
    found = judged.gated
    assert found.clean_windows == len(clean)
    assert sum(run.offered for run in found.runs) == sum(direction.offered[i] for i in clean)
    assert sum(run.lost for run in found.runs) == sum(
        direction.offered[i] - direction.received[i] for i in clean
    )
    left_out = sum(share.share for share in found.left_out)
    assert found.clean_share + left_out == pytest.approx(1)


def test_frames_without_time_stamps_make_one_window() -> None:
    observation = whole_trial()
    geometry = geometry_of(observation, WIDTH)
    assert (geometry.begin_ns, geometry.window_ns, geometry.count) == (0, 500 * MS, 1)
    handled = replace(observation, drops=(Drop("vnf", DropCause.VNF_HANDLED, 7),))
    short = replace(handled, directions=(replace(observation.directions[0], received=499_990),))
    found = gated(short, masked(True), geometry)
    (run,) = found.runs
    assert (run.windows, run.offered, run.lost, run.growth_frames) == (1, 500_000, 3, 0.0)
    assert found.latency == LATENCY
    assert found.receive_fps == pytest.approx(999_980)
    disturbed = gated(short, masked(False), geometry)
    assert (disturbed.runs, disturbed.receive_fps, disturbed.latency) == ((), None, None)


def test_no_clean_window_is_no_rate() -> None:
    observation = trial(direction([8] * 2, [8] * 2))
    assert (
        gated(observation, masked(False, False), geometry_of(observation, WIDTH)).receive_fps
        is None
    )


def test_latency_is_of_rows_that_lie_in_clean_windows() -> None:
    observation = trial(direction([8] * 6, [8] * 6))
    disturbed = ((900_000, 50),)
    rows = LatencyRows(0, 2 * MS, (((1000, 90), (2000, 9), (3000, 1)), disturbed, disturbed))
    observation = replace(observation, latency_rows=rows)
    found = gated(
        observation, masked(True, True, True, False, False, False), geometry_of(observation, WIDTH)
    ).latency
    assert found is not None
    assert (found.count, found.min_ns, found.hdrh, found.jitter_ns) == (100, 1000, "", 0.0)
    middle = BUCKET**0.5
    assert found.p50_ns == found.p90_ns == pytest.approx(1000 * middle)
    assert found.p99_ns == pytest.approx(2000 * middle)
    assert found.p999_ns == pytest.approx(3000 * middle)
    assert found.max_ns == pytest.approx(3000 * BUCKET)
    assert found.avg_ns == pytest.approx(1110 * middle)
    nothing = masked(False, *[True] * 2, False, *[True] * 2)
    assert gated(observation, nothing, geometry_of(observation, WIDTH)).latency is not None
    assert gated(observation, masked(*[False] * 6), geometry_of(observation, WIDTH)).latency is None


def test_a_row_that_reaches_beyond_the_windows_does_not_count() -> None:
    observation = trial(direction([8] * 3, [8] * 3))
    rows = LatencyRows(0, 2 * MS, ((), ((1000, 5),)))
    found = gated(
        replace(observation, latency_rows=rows),
        masked(True, True, True),
        geometry_of(observation, WIDTH),
    )
    assert found.latency is None


def test_a_quiet_trial_leaves_out_up_to_one_percent_and_was_watched() -> None:
    observation = trial(direction([8] * 100, [8] * 100))
    assert is_quiet(observation, masked(*[True] * 99, False))
    assert not is_quiet(observation, masked(*[True] * 98, False, False))
    blind = replace(observation, evidence=Evidence(unseen=("perf is forbidden",)))
    assert not is_quiet(blind, masked(*[True] * 100))
    assert is_quiet(whole_trial(), masked(True))
    assert not is_quiet(whole_trial(), masked(False))


def test_the_noise_of_a_trial_is_named() -> None:
    shares = (LeftOut(Reason.GENERATOR_STOPPED, 0.0312), LeftOut(Reason.CORE_SHARED, 0.784))
    mask = Mask((), (), shares)
    assert why_disturbed(mask, Evidence()) == "core shared 78%, generator stopped 3.1% of the trial"
    blind = Evidence(unseen=("perf is forbidden",))
    assert why_disturbed(Mask((), (), ()), blind) == "not watched: perf is forbidden"
    assert why_disturbed(Mask((), (), ()), Evidence()) is None


def test_a_trial_over_time() -> None:
    up = direction([8000] * 3, [8000, 7000, 8000], [10_000, -1.0, 20_000])
    down = direction([2000] * 3, [2000] * 3, [30_000, 35_000, 30_000])
    offered, unsent, received, backlog, counted = series_of(
        Windows(5, MS, (up, down)), masked(*[True] * 2, *[False] * (len(up.offered) - 2))
    )
    assert [s.name for s in (offered, unsent, received)] == ["offered", "unsent", "received"]
    assert offered.values == (10_000.0,) * 3
    assert received.values == (10_000.0, 9000.0, 10_000.0)
    assert offered.at_ns == (5, MS + 5, 2 * MS + 5)
    assert offered.kind is SeriesKind.COUNT
    assert backlog.kind is SeriesKind.GAUGE
    assert backlog.values == pytest.approx((0, 10, 80))
    assert counted.values == (1.0, 1.0, 0.0)
    assert {s.epoch for s in (offered, unsent, received, backlog)} == {"first frame due"}


def test_a_quiet_trial_is_clean_throughout() -> None:
    judged = judge(simulate(SUT, 7e6, 0.5, Noise()))
    assert is_quiet(judged.observation, judged.mask)
    assert judged.gated.clean_share == 1.0


def test_threads_of_unknown_cpus_share_nothing() -> None:
    observation = simulate(SUT, 8e6, 0.02)
    both = tuple(PollingThread(role, role, -1, 0, 0) for role in ("generator", "sut"))
    assert not geometry_of(replace(observation, threads=both), WIDTH).forwarding_shares_generator
