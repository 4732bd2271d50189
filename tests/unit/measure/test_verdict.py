# SPDX-License-Identifier: Apache-2.0
"""Check that a load passes by the rules, and that too little data gives no verdict."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.effort import effort
from tests.unit.measure.windows_sim import Noise, Sut, judge, simulate
from wirespeed.measure.verdict import NDR_LOSS_LIMIT, verdict
from wirespeed.model.result.result import lossy_runs_bound
from wirespeed.model.result.trial import CleanRun, Gated

WIDTH, PDR_LOSS = 0.005, 0.01
FRAMES = 8000


def piece(*runs: CleanRun, steady: tuple[int, int, int] = (0, 0, 0), windows: int = 1000) -> Gated:
    return Gated(1_000_000, windows, runs, *steady, ())


def run(windows: int = 10, loss: float = 0.0, growth: float = 0.0) -> CleanRun:
    offered = windows * FRAMES
    return CleanRun(windows, offered, round(offered * loss), offered * growth)


def steady(windows: int, loss: float) -> tuple[int, int, int]:
    return windows, windows * FRAMES, round(windows * FRAMES * loss)


def test_no_loss_and_no_growth_passes() -> None:
    found = verdict([piece(*[run()] * 10)], WIDTH, PDR_LOSS)
    assert found.decided
    assert found.ndr
    assert found.pdr
    assert (found.exceeded, found.loss, found.growth, found.overload) == (0.0, 0.0, 0.0, 0.0)
    assert (found.windows, found.runs, found.offered, found.lost) == (100, 10, 800_000, 0)
    assert found.loss_bound == 3 / 800_000
    assert lossy_runs_bound(found.lost, found.runs) == 3 / 10


@pytest.mark.parametrize(
    ("loss", "growth", "ndr", "pdr"),
    [
        (NDR_LOSS_LIMIT, 0.0, True, True),
        (NDR_LOSS_LIMIT, WIDTH, True, True),
        (2 * NDR_LOSS_LIMIT, 0.0, False, True),
        (0.0, 0.0049, True, True),
        (0.0, 0.0051, False, True),
        (0.004, 0.0059, False, True),
        (0.004, 0.0061, False, False),
        (0.0101, 0.0, False, False),
        (0.0, 0.0101, False, False),
    ],
)
def test_loss_and_growth_pass_together(loss: float, growth: float, ndr: bool, pdr: bool) -> None:
    found = verdict([piece(*[run(loss=loss, growth=growth)] * 10)], WIDTH, PDR_LOSS)
    assert found.decided
    assert (found.ndr, found.pdr) == (ndr, pdr)
    assert (found.exceeded == 0) == ndr
    assert (found.exceeded <= PDR_LOSS) == pdr


def test_a_pdr_goal_below_the_width_means_the_width() -> None:
    pieces = [piece(*[run(loss=0.004)] * 10)]
    assert verdict(pieces, WIDTH, 0.001).pdr
    assert not verdict(pieces, 0.002, 0.001).pdr


def test_growth_is_clipped_once_and_not_in_each_run() -> None:
    runs = [run(growth=growth) for growth in (0.004, -0.004) * 10]
    assert verdict([piece(*runs)], WIDTH, PDR_LOSS).growth == 0
    falling = verdict([piece(*[run(growth=-0.004)] * 10)], WIDTH, PDR_LOSS)
    assert falling.growth == 0
    assert falling.ndr


def test_loss_and_growth_make_the_overload() -> None:
    # 8 Mpps offered, a tenth lost, and 7 Mpps forwarded: queues grow by 0.2 / 7 of a second each.
    found = verdict([piece(*[run(loss=0.1, growth=0.2 / 7)] * 10)], WIDTH, PDR_LOSS)
    assert found.overload == pytest.approx(1 / 8)


@pytest.mark.parametrize(
    "runs",
    [[run(10)] * 9 + [run(9)], [run(100)] * 9, [], [run(12, growth=g) for g in (0.02, -0.02) * 5]],
    ids=["99 windows", "9 runs", "none", "growth unsure"],
)
def test_too_little_decides_nothing(runs: list[CleanRun]) -> None:
    found = verdict([piece(*runs, steady=steady(500, 0.0))], WIDTH, PDR_LOSS)
    assert not found.decided
    assert not found.ndr
    assert not found.pdr


def test_queues_that_fill_in_some_runs_and_overflow_in_others_are_an_overload() -> None:
    runs = [run(12, 0.02, 0.0), run(12, 0.0, 0.02)] * 5
    found = verdict([piece(*runs)], WIDTH, PDR_LOSS)
    assert found.decided
    assert not found.pdr
    assert found.exceeded == pytest.approx(0.02, abs=1e-4)
    assert found.growth_error > WIDTH


def test_pieces_of_a_trial_are_judged_together() -> None:
    half = piece(*[run()] * 5)
    assert not verdict([half], WIDTH, PDR_LOSS).decided
    assert verdict([half, half], WIDTH, PDR_LOSS).decided


def test_an_overload_beyond_doubt_needs_no_clean_window() -> None:
    found = verdict([piece(steady=steady(100, 0.06))], WIDTH, PDR_LOSS)
    assert found.decided
    assert not found.ndr
    assert not found.pdr
    assert found.loss == found.exceeded == pytest.approx(0.06)
    assert found.loss_bound == 1.0
    assert (found.windows, found.runs, found.offered) == (100, 0, 800_000)


@pytest.mark.parametrize(
    ("windows", "loss", "pdr_loss"),
    [(99, 0.5, PDR_LOSS), (100, 0.049, PDR_LOSS), (100, 0.019, 0.001)],
    ids=["few windows", "five times the goal", "2%"],
)
def test_a_loss_that_may_be_noise_is_no_overload(
    windows: int, loss: float, pdr_loss: float
) -> None:
    found = verdict([piece(run(), steady=steady(windows, loss))], 0.001, pdr_loss)
    assert not found.decided


def test_clean_windows_overrule_steady_ones() -> None:
    found = verdict([piece(*[run()] * 10, steady=steady(500, 0.5))], WIDTH, PDR_LOSS)
    assert found.ndr


def test_one_clean_trial_is_enough_where_trials_are_one_window() -> None:
    clean = piece(CleanRun(1, 10**6, 0, 0.0), windows=1)
    disturbed = piece(windows=1)
    found = verdict([disturbed, clean], WIDTH, PDR_LOSS)
    assert found.decided
    assert found.ndr
    assert (found.growth, found.growth_error) == (0.0, 0.0)
    assert not verdict([disturbed], WIDTH, PDR_LOSS).decided
    lossy = verdict([replace(clean, runs=(CleanRun(1, 10**6, 200, 0.0),))], WIDTH, PDR_LOSS)
    assert lossy.decided
    assert not lossy.ndr
    assert lossy.pdr
    assert lossy_runs_bound(lossy.lost, lossy.runs) is None
    assert lossy.loss_bound > 3 * lossy.loss


def test_no_trial_decides_nothing() -> None:
    assert not verdict([], WIDTH, PDR_LOSS).decided


def test_frames_lost_together_say_less_than_single_ones() -> None:
    single = verdict([piece(*[CleanRun(10, 80_000, 2, 0.0)] * 20)], WIDTH, PDR_LOSS)
    together = verdict([piece(*[run()] * 19, CleanRun(10, 80_000, 40, 0.0))], WIDTH, PDR_LOSS)
    assert single.loss == together.loss
    assert single.loss_bound < 1.4 * single.loss
    assert together.loss_bound > 3 * together.loss


shares = st.floats(0, 0.05)
pieces = st.lists(
    st.builds(
        lambda runs, loss: piece(*runs, steady=steady(120, loss)),
        st.lists(st.builds(run, st.integers(1, 30), shares, st.floats(-0.05, 0.05)), max_size=15),
        shares,
    ),
    min_size=1,
    max_size=4,
)
uniform = st.builds(
    lambda number, loss, growth: [piece(*[run(20, loss, growth)] * number)],
    st.integers(8, 15),
    st.floats(0, 0.02),
    st.floats(-0.005, 0.02),
)


@given(st.one_of(pieces, uniform), st.floats(0.001, 0.02), st.floats(0, 0.02))
@settings(max_examples=300, deadline=None)
def test_ndr_pdr_and_loss_of_a_verdict_agree(
    trials: list[Gated], width: float, pdr_loss: float
) -> None:
    found = verdict(trials, width, pdr_loss)
    if found.decided:
        assert found.pdr or not found.ndr
        assert (found.exceeded == 0) == found.ndr
        assert (found.exceeded <= max(width, pdr_loss)) == found.pdr
    assert found.exceeded >= 0
    assert 0 <= found.loss <= found.loss_bound <= 1
    assert 0 <= found.overload < 1
    assert math.isfinite(found.growth_error)


@given(st.floats(0, 0.02), st.floats(0, 0.02), st.floats(0, 0.02), st.floats(0, 0.02))
def test_a_worse_trial_never_passes_what_a_better_one_does_not(
    loss: float, more_loss: float, growth: float, more_growth: float
) -> None:
    better = verdict([piece(*[run(20, loss, growth)] * 10)], WIDTH, PDR_LOSS)
    worse = verdict(
        [piece(*[run(20, loss + more_loss, growth + more_growth)] * 10)], WIDTH, PDR_LOSS
    )
    assert better.ndr >= worse.ndr
    assert better.pdr >= worse.pdr


RESTLESS = Noise(stops_per_s=150, stop_ns=600_000)
DEEP = Sut(8e6, buffer_frames=4096)


@pytest.mark.parametrize("seed", range(4))
def test_queues_that_go_down_while_a_load_is_offered_show_that_it_passes(seed: int) -> None:
    """A stop leaves frames in 4,096 frames of ring, which drain at 0.1 Mpps: never fast enough."""
    pieces = [judge(simulate(DEEP, 7.9e6, 1.0, RESTLESS, seed=10 * seed + i)).gated for i in (0, 1)]
    found = verdict(pieces, WIDTH, 0.005)
    assert found.decided
    assert found.ndr
    assert found.windows > 100
    assert not verdict([replace(piece, draining=()) for piece in pieces], WIDTH, 0.005).decided


@pytest.mark.parametrize("seed", range(8))
def test_queues_do_not_go_down_under_an_overload(seed: int) -> None:
    for load_fps in (8.0e6, 8.05e6, 8.2e6):
        pieces = [judge(simulate(DEEP, load_fps, 1.0, RESTLESS, seed=seed)).gated]
        found = verdict(pieces, WIDTH, 0.005)
        assert not (found.decided and found.ndr)


@pytest.mark.parametrize("seed", range(4))
def test_verdict_overload_whose_queues_never_drain_fails(seed: int) -> None:
    pieces = [judge(simulate(DEEP, 8.2e6, 1.0, RESTLESS, seed=10 * seed + i)).gated for i in (0, 1)]
    found = verdict(pieces, WIDTH, 0.005)
    assert found.decided
    assert not found.pdr
    assert found.overload == pytest.approx(0.2 / 8.2, rel=0.3)
    assert not verdict([replace(piece, draining=()) for piece in pieces], WIDTH, 0.005).decided


@pytest.mark.parametrize("loss", [0.0, 0.9 * NDR_LOSS_LIMIT])
def test_verdict_growth_within_the_width_next_to_an_allowed_loss_is_no_overflow(
    loss: float,
) -> None:
    """No window drained: then only an overflow could decide, and this is none."""
    growing = run(20, loss, 0.9999 * WIDTH)
    found = verdict([replace(piece(), draining=(growing,) * 40)], WIDTH, WIDTH)
    assert not found.decided
    assert verdict([replace(piece(), draining=(run(20, 0.02),) * 40)], WIDTH, WIDTH).decided


@pytest.mark.parametrize("seed", range(8))
def test_verdict_load_below_the_capacity_never_fails_by_steady_windows(seed: int) -> None:
    for load_fps in (7.6e6, 7.9e6, 7.97e6):
        pieces = [judge(simulate(DEEP, load_fps, 1.0, RESTLESS, seed=seed)).gated]
        found = verdict(pieces, WIDTH, 0.005)
        assert found.ndr or not found.decided


def restless(excess: float, spread: float) -> list[Gated]:
    """Growth scatters around the excess: 40 runs, a standard error of spread / 6.2."""
    return [piece(*[run(20, growth=excess + s) for s in (spread, -spread) * 20])]


@pytest.mark.parametrize(
    ("excess", "error", "decided"),
    [
        (0.0, 0.0018, True), (0.0, 0.003, False), (0.003, 0.0018, False),
        (WIDTH, 0.0012, True), (WIDTH, 0.0014, False), (0.03, 0.003, True),
    ],
)  # fmt: skip
def test_verdict_estimate_far_from_the_limits_needs_less(
    excess: float, error: float, decided: bool
) -> None:
    found = verdict(restless(excess, error * math.sqrt(39)), WIDTH, 0.005)
    assert found.decided is decided


@pytest.mark.parametrize("true_excess", [0.0, 2 * WIDTH])
def test_verdict_two_widths_away_is_hardly_ever_mistaken(true_excess: float) -> None:
    """As many runs as decide, whatever their error: the wrong side in fewer than 1 of 1000."""
    rng, wrong = random.Random(1), 0
    for _ in range(effort(1000, 10_000)):
        spread, number = rng.uniform(0.001, 0.02), rng.randint(10, 40)
        runs = [run(20, growth=rng.gauss(true_excess, spread)) for _ in range(number)]
        found = verdict([piece(*runs)], WIDTH, 0.005)
        wrong += found.decided and found.ndr is not (true_excess == 0.0)
    assert wrong <= effort(1, 10)
