# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from wirespeed.experiment.order import Planned, next_in_placement, ordered
from wirespeed.experiment.pairs import Half, match
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.study.design import Order

POINTS = ("a", "b", "c", "d", "e")


def test_written_order_measures_all_points_before_any_repeat() -> None:
    assert ordered(("a", "b"), 2, Order.WRITTEN, 1) == (("a", 1), ("b", 1), ("a", 2), ("b", 2))


@given(st.sampled_from(list(Order)), st.integers(1, 4), st.integers(0, 99))
def test_each_point_is_measured_so_often_and_its_repeats_are_in_time(
    order: Order, repeats: int, seed: int
) -> None:
    found = ordered(POINTS, repeats, order, seed)
    assert found == ordered(POINTS, repeats, order, seed)
    for point in POINTS:
        assert [number for each, number in found if each == point] == list(range(1, repeats + 1))


@given(st.integers(0, 99))
def test_a_block_has_every_point(seed: int) -> None:
    found = ordered(POINTS, 3, Order.BLOCKS, seed)
    for begin in range(0, len(found), len(POINTS)):
        block = found[begin : begin + len(POINTS)]
        assert {point for point, _ in block} == set(POINTS)
        assert len({number for _, number in block}) == 1


def test_another_seed_is_another_order_and_blocks_differ() -> None:
    one, other = (ordered(POINTS, 2, Order.BLOCKS, seed) for seed in (1, 2))
    assert one != other
    assert [point for point, _ in one[:5]] != [point for point, _ in one[5:]]
    assert [n for _, n in ordered(POINTS, 4, Order.RANDOM, 3)] != sorted([1, 2, 3, 4] * 5)


NEAR, FAR = PlacementKind.ONE_CACHE, PlacementKind.ACROSS_CACHES


def of_one_block(samples: str) -> list[Planned]:
    return [Planned(sample, 1) for sample in samples]


def test_next_in_placement_before_a_move_keeps_the_plan() -> None:
    left = of_one_block("aab")
    assert next_in_placement(left, {}, NEAR) == 0
    assert next_in_placement(left, {NEAR: Counter("aa")}, NEAR) == 0
    assert next_in_placement(left, {NEAR: Counter("aa"), FAR: Counter("b")}, None) == 0


def test_next_in_placement_after_a_move_takes_what_the_placement_lacks() -> None:
    found = {NEAR: Counter("aabc"), FAR: Counter("a")}
    assert next_in_placement(of_one_block("abc"), found, FAR) == 1
    assert next_in_placement(of_one_block("aabc"), found, NEAR) == 2
    assert next_in_placement(of_one_block("aa"), found, FAR) == 0
    assert next_in_placement(of_one_block("cb"), found, PlacementKind.ONE_CORE) == 0


def test_next_in_placement_stays_within_the_block() -> None:
    left = [Planned("a", 1), Planned("b", 1), Planned("c", 2)]
    found = {NEAR: Counter(), FAR: Counter("ab")}
    assert next_in_placement(left, found, FAR) == 0


@given(st.integers(0, 10_000))
def test_pairs_on_a_host_that_moves_leave_one_half_a_placement_waiting(seed: int) -> None:
    # Measure ABBA over 8 pairs; each measurement may move the host for the next one.
    draw = random.Random(seed)
    left = of_one_block("ABBA" * 4)
    found: dict[PlacementKind, Counter[str]] = {}
    now = draw.choice((NEAR, FAR))
    measured = []
    while left:
        sample = left.pop(next_in_placement(left, found, now)).sample
        found.setdefault(now, Counter())[sample] += 1
        measured.append(Half(sample == "B", {now: 1.0}))
        now = draw.choice((NEAR, NEAR, NEAR, FAR)) if now is NEAR else draw.choice((FAR, NEAR))
    assert match(measured).share >= 14 / 16
