# SPDX-License-Identifier: Apache-2.0
"""Check that generated routing tables are distinct, valid and shaped as published."""

from __future__ import annotations

import ipaddress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirespeed.model.errors import BadInput
from wirespeed.published.prefixes import prefix_lengths, published_table
from wirespeed.routing.formats import hop_text
from wirespeed.routing.generate import BITS, Route, Shape, generate
from wirespeed.routing.statistics import statistics

VERSIONS = pytest.mark.parametrize("version", [4, 6])
# The largest tables that the command makes.
MOST = {4: 1_100_000, 6: 500_000}


def published(version: int) -> Shape:
    return Shape(version, prefix_lengths(version), published_table(version).more_specific)


def network(route: Route) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """Return the prefix; raises ValueError if bits behind its length are set."""
    if route.version == 4:
        return ipaddress.IPv4Network((route.address, route.length))
    return ipaddress.IPv6Network((route.address, route.length))


@given(
    version=st.sampled_from([4, 6]),
    prefixes=st.integers(0, 3000),
    next_hops=st.integers(1, 300),
    seed=st.integers(),
)
@settings(max_examples=40)
def test_generate_any_size_gives_distinct_valid_prefixes(
    version: int, prefixes: int, next_hops: int, seed: int
) -> None:
    routes = generate(published(version), prefixes, next_hops, seed)
    assert len(routes) == prefixes
    assert len({(route.address, route.length) for route in routes}) == prefixes
    assert all(before < after for before, after in pairwise(routes))
    for route in routes:
        assert network(route).is_global
        assert route.version == version
        assert 0 <= route.hop < next_hops
    assert routes == generate(published(version), prefixes, next_hops, seed)


@given(
    shares=st.dictionaries(st.integers(9, 32), st.integers(1, 100), min_size=1),
    nested=st.floats(0, 1),
)
@settings(max_examples=40)
def test_generate_any_shape_keeps_its_lengths(shares: dict[int, int], nested: float) -> None:
    total = sum(shares.values())
    shape = Shape(4, {length: share / total for length, share in shares.items()}, nested)
    found = statistics(generate(shape, 100, 1, 1)).lengths
    for length, share in shape.lengths.items():
        assert abs(found.get(length, 0) - 100 * share) < 1


@VERSIONS
def test_generate_another_seed_gives_another_table(version: int) -> None:
    one, other = (generate(published(version), 1000, 2, seed) for seed in (1, 2))
    assert one != other


@VERSIONS
def test_generate_next_hops_share_the_prefixes(version: int) -> None:
    routes = generate(published(version), 20_000, 4, 1)
    for hop in range(4):
        assert abs(sum(route.hop == hop for route in routes) - 5000) < 500


@VERSIONS
def test_generate_tables_have_the_published_shape(version: int) -> None:
    told = statistics(generate(published(version), 50_000, 2, 7))
    theirs = published_table(version)
    assert told.prefixes == 50_000
    assert abs(told.mean_length - theirs.mean_length) < 0.05
    assert abs(told.more_specific - theirs.more_specific) < 0.005


@VERSIONS
def test_generate_more_specifics_are_clustered(version: int) -> None:
    routes = generate(published(version), 50_000, 2, 7)
    adjacent = sum(
        before.length == after.length
        and after.address - before.address == 1 << (BITS[version] - after.length)
        for before, after in pairwise(routes)
    )
    assert adjacent > 0.4 * len(routes)


@VERSIONS
def test_generate_no_prefix_holds_a_next_hop(version: int) -> None:
    hops = [ipaddress.ip_address(hop_text(version, hop)) for hop in (0, 4095)]
    for route in generate(published(version), 50_000, 4096, 3):
        assert not any(hop in network(route) for hop in hops)


def test_generate_without_room_is_an_error() -> None:
    with pytest.raises(BadInput, match=r"IPv4: no room for 1000 prefixes of /8"):
        generate(Shape(4, {8: 1.0}, 0.5), 1000, 1, 1)


@VERSIONS
def test_prefix_lengths_meet_the_published_mean(version: int) -> None:
    shares = prefix_lengths(version)
    assert sum(shares.values()) == pytest.approx(1)
    mean = sum(length * share for length, share in shares.items())
    assert mean == pytest.approx(published_table(version).mean_length, abs=0.03)


@VERSIONS
def test_generate_largest_table_has_room(version: int) -> None:
    routes = generate(published(version), MOST[version], 1, 1)
    assert len(routes) == MOST[version]


@given(
    prefixes=st.sets(
        st.tuples(st.integers(0, 255), st.integers(1, 8)).map(
            lambda pair: (pair[0] >> (8 - pair[1]) << (32 - pair[1]), pair[1])
        )
    )
)
def test_statistics_count_prefixes_inside_others(prefixes: set[tuple[int, int]]) -> None:
    routes = sorted(Route(4, address, length, 0) for address, length in prefixes)
    told = statistics(routes)
    nested = sum(
        any(network(one) != network(other) and network(one).subnet_of(network(other))
            for other in routes)
        for one in routes
    )  # fmt: skip
    assert told.prefixes == len(prefixes)
    assert told.more_specific == pytest.approx(nested / len(prefixes) if prefixes else 0)
