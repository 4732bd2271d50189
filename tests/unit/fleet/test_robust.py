# SPDX-License-Identifier: Apache-2.0
"""Test that the comparison holds while almost half of the hosts are arbitrarily wrong."""

from __future__ import annotations

import random
from dataclasses import replace
from statistics import pstdev

from hypothesis import given
from hypothesis import strategies as st

from tests.support.fleet_hosts import figure
from wirespeed.fleet.outliers import compare_figures
from wirespeed.fleet.robust import FEWEST, apart, spread
from wirespeed.model.cpus import PlacementKind

NEAR, FAR = PlacementKind.ONE_CACHE, PlacementKind.ACROSS_CACHES

VALUES = st.lists(st.floats(1, 1e6), min_size=FEWEST, max_size=60)


@given(VALUES)
def test_the_interval_holds_the_median_and_most_values(values: list[float]) -> None:
    found = spread(values)
    assert found is not None
    assert found.low <= found.median <= found.high
    assert sum(found.low <= value <= found.high for value in values) * 2 >= len(values)


@given(VALUES, st.floats(2, 100))
def test_units_do_not_matter(values: list[float], factor: float) -> None:
    first, second = spread(values), spread([value * factor for value in values])
    assert first is not None
    assert second is not None
    assert abs(second.deviation - first.deviation * factor) <= 1e-6 * max(1, second.deviation)


@given(st.integers(0, 10**6), st.floats(-1e9, 1e9))
def test_four_of_ten_wrong_hosts_do_not_move_the_interval_out_of_reach(
    seed: int, wrong: float
) -> None:
    chance = random.Random(seed)
    good = [chance.gauss(100, 1) for _ in range(60)]
    found = spread([*good, *[wrong] * 40])
    assert found is not None
    assert min(good) <= found.median <= max(good)


def test_the_deviation_of_normal_values_is_theirs() -> None:
    chance = random.Random(7)
    for count in (5, 7, 9, 10, 30):
        ratios = []
        for _ in range(2000):
            values = [chance.gauss(0, 1) for _ in range(count)]
            found = spread(values)
            assert found is not None
            ratios.append(found.deviation)
        assert 0.93 < sum(ratios) / len(ratios) < 1.07, count


def test_few_values_tell_nothing() -> None:
    assert spread([1.0, 1.0, 1.0, 99.0]) is None


def test_a_single_other_value_among_equal_ones_lies_apart() -> None:
    found = spread([10.0] * 30 + [5.0])
    assert found is not None
    assert apart(found, 5.0, 5.0) < 0
    assert apart(found, 10.0, 10.0) == 0


def test_a_difference_within_the_search_width_is_no_outlier() -> None:
    chance = random.Random(3)
    hosts = {f"h{n}": "abc" for n in range(20)}
    figures = [figure(host, chance.gauss(10, 0.1)) for host in list(hosts)[:-1]]
    assert 0.05 < pstdev([one.value for one in figures]) < 0.2
    (coarse,) = compare_figures([*figures, figure("h19", 8, half_width=3)], hosts)
    assert "h19" not in coarse.outliers
    (fine,) = compare_figures([*figures, figure("h19", 8, half_width=0.1)], hosts)
    assert list(fine.outliers) == ["h19"]
    assert fine.outliers["h19"] < -3.5


def test_hosts_of_other_hardware_are_not_compared() -> None:
    figures = [figure(f"a{n}", 10) for n in range(6)] + [figure(f"b{n}", 20) for n in range(6)]
    hardware = {one.host: one.host[0] for one in figures}
    columns = compare_figures([*figures, figure("unknown", 1)], hardware)
    assert [(c.hardware, len(c.values), dict(c.outliers)) for c in columns] == [
        ("a", 6, {}), ("b", 6, {}),
    ]  # fmt: skip


def test_compare_figures_slow_placement_is_no_outlier() -> None:
    # Two of eight hosts were measured across caches, where all hosts forward 40% less.
    hosts = {f"h{n}": "same" for n in range(8)}
    near = [replace(figure(f"h{n}", 10 + n / 100), placement=NEAR) for n in range(6)]
    far = [replace(figure(f"h{n}", 6), placement=FAR) for n in (6, 7)]
    pooled = [replace(one, placement=None) for one in (*near, *far)]
    (column,) = compare_figures(pooled, hosts)
    assert set(column.outliers) == {"h6", "h7"}
    columns = compare_figures([*near, *far], hosts)
    assert [(c.placement, len(c.values), dict(c.outliers)) for c in columns] == [
        (FAR, 2, {}), (NEAR, 6, {}),
    ]  # fmt: skip
    assert columns[1].title.endswith("NDR, polling CPUs within one cache")


def test_compare_figures_slow_host_of_one_placement_is_an_outlier() -> None:
    hosts = {f"h{n}": "same" for n in range(8)}
    figures = [replace(figure(f"h{n}", 10 + n / 100), placement=NEAR) for n in range(7)]
    (column,) = compare_figures([*figures, replace(figure("h7", 6), placement=NEAR)], hosts)
    assert list(column.outliers) == ["h7"]
