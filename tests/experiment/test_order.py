# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wirespeed.experiment.order import ordered
from wirespeed.model.design import Order

POINTS = ("a", "b", "c", "d", "e")


def test_as_written_all_is_measured_once_before_any_again() -> None:
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
