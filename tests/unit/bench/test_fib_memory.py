# SPDX-License-Identifier: Apache-2.0
"""Check that the plan reserves the memory that a router's lookup tables take."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.bench.assembly.kinds import needs_of
from wirespeed.bench.function.fib_memory import fib_bytes
from wirespeed.bench.topology.routes import most_destinations
from wirespeed.model.study.spec import Frames, Sut, Topology, Traffic, Vnf

MIB = 1 << 20


@pytest.mark.parametrize(
    ("version", "routes", "tables", "least", "most"),
    [
        (4, 0, None, 0, 0),
        (4, 4, None, 36, 37),
        (6, 4, None, 36, 37),
        (4, 1_000_000, 0, 300, 340),  # a public table: no prefix is longer than 24 bits
        (6, 200_000, 300_000, 400, 440),
        (4, 32_703, None, 48, 64),  # the last size with entries of 2 octets
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


def test_needs_of_a_router_have_tables_for_each_function() -> None:
    one, two = (
        needs_of(Frames(Topology("chain", n), Traffic(), Sut(vnf=Vnf("l3fwd")))).tables_bytes
        for n in (1, 2)
    )
    assert 32 * MIB < one < 40 * MIB
    assert 2 * one <= two < 80 * MIB
    assert needs_of(Frames(Topology("chain", 1))).tables_bytes == 0
