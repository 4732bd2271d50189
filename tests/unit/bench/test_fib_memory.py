# SPDX-License-Identifier: Apache-2.0
"""Check that the plan reserves the memory that a router's lookup tables take."""

from __future__ import annotations

import ipaddress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.bench.assembly.kinds import needs_of
from wirespeed.bench.function.fib_memory import fib_bytes, tables_behind
from wirespeed.bench.topology.routes import most_destinations
from wirespeed.model.study.spec import Frames, Routing, Sut, Topology, Traffic, Vnf
from wirespeed.routing.generate import Route

MIB = 1 << 20


@pytest.mark.parametrize(
    ("version", "routes", "tables", "least", "most"),
    [
        (4, 0, None, 0, 0),
        (4, 4, None, 36, 37),
        (6, 4, None, 36, 37),
        (4, 1_000_000, 0, 420, 450),  # a public table: no prefix is longer than 24 bits
        (6, 200_000, 300_000, 430, 460),
        (4, 32_703, None, 48, 70),  # the last size with entries of 2 octets
        (4, 32_704, None, 96, 116),
    ],
)
def test_fib_bytes_follow_routes_and_tables(
    version: int, routes: int, tables: int | None, least: int, most: int
) -> None:
    assert least * MIB <= fib_bytes(version, routes, tables) <= most * MIB


@given(first=st.integers(0, 1 << 31), flows=st.integers(1, 1 << 20))
def test_most_destinations_bounds_the_prefixes_of_any_range(first: int, flows: int) -> None:
    start = ipaddress.IPv4Address(first)
    found = list(ipaddress.summarize_address_range(start, start + flows - 1))
    assert len(found) <= most_destinations(flows)


@given(
    prefixes=st.sets(
        st.tuples(st.integers(0, 255), st.integers(16, 40)), min_size=1, max_size=30
    ).map(lambda found: {(at << 88 >> (128 - n) << (128 - n), n) for at, n in found})
)
def test_tables_behind_are_shared_by_equal_first_bits(prefixes: set[tuple[int, int]]) -> None:
    routes = [Route(6, address, length, 0) for address, length in sorted(prefixes)]
    tables = {
        (level, route.address >> (104 - 8 * level))
        for route in routes
        for level in range(max(0, -(-(route.length - 24) // 8)))
    }
    assert tables_behind(6, routes) >= 2 * len(tables)
    assert tables_behind(4, [Route(4, r.address >> 96, min(r.length, 32), 0) for r in routes]) == (
        len({r.address >> 104 for r in routes if r.length > 24})
    )


def test_tables_behind_reserve_from_the_next_shorter_prefix() -> None:
    nested = [Route(6, 0x2400 << 112, 32, 0)]
    nested += [Route(6, (0x2400 << 112) + (i << 80), 48, 0) for i in range(10)]
    assert tables_behind(6, nested) == max(1 + 10 * 2, 2 * (1 + 1 + 1))


def routed(kind: str, prefixes: int) -> int:
    frames = Frames(Topology("host"), sut=Sut(vnf=Vnf(kind)))
    routing = Routing(ipv4=prefixes, ipv6=prefixes // 5)
    return needs_of(replace(frames, routing=routing)).tables_bytes


def test_needs_of_a_router_have_room_for_generated_routes() -> None:
    small, full = (routed("l3fwd", prefixes) for prefixes in (0, 1_000_000))
    assert 880 * MIB < full - small < 940 * MIB


def test_needs_of_a_router_that_follows_a_kernel_have_room_for_copies_and_changes() -> None:
    assert 200 * MIB < routed("router", 0) < 300 * MIB
    assert 3 * routed("l3fwd", 1_000_000) < routed("router", 1_000_000) < 4096 * MIB


def test_needs_of_a_router_have_tables_for_each_function() -> None:
    one, two = (
        needs_of(Frames(Topology("chain", n), Traffic(), Sut(vnf=Vnf("l3fwd")))).tables_bytes
        for n in (1, 2)
    )
    assert 32 * MIB < one < 40 * MIB
    assert 2 * one <= two < 80 * MIB
    assert needs_of(Frames(Topology("chain", 1))).tables_bytes == 0
