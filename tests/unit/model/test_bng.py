# SPDX-License-Identifier: Apache-2.0
"""Check that generated tables match the request, have no duplicates, and follow the seed."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.model.study.bng import KEYS, LINES, TableSpec, hops, routes, table_lines, users

SPEC = TableSpec(users=10_000, routes=500, hops=7, ports=3)


@pytest.mark.parametrize("sparse", [False, True])
def test_tags_keys_and_prefixes_are_distinct(sparse: bool) -> None:
    spec = replace(SPEC, sparse=sparse)
    made = list(users(spec))
    assert len({(user.svid, user.cvid) for user in made}) == spec.users
    assert len({user.key for user in made}) == spec.users
    assert all(1 <= user.svid <= 4094 and 1 <= user.cvid <= 4094 for user in made)
    assert all(0 <= user.key < KEYS for user in made)
    assert len({route.prefix for route in routes(spec)}) == spec.routes
    assert {route.hop for route in routes(spec)} == {hop.id for hop in hops(spec)}


def test_dense_tables_are_consecutive_and_sparse_ones_are_not() -> None:
    assert [user.key for user in users(SPEC)] == list(range(10_000))
    keys = [user.key for user in users(replace(SPEC, sparse=True))]
    assert max(keys) > 1000 * SPEC.users


def test_ports_get_equal_shares() -> None:
    shares = [sum(user.port == port for user in users(SPEC)) for port in range(3)]
    assert max(shares) - min(shares) <= 1


def test_the_seed_decides() -> None:
    assert list(table_lines(SPEC)) == list(table_lines(SPEC))
    assert list(routes(SPEC)) != list(routes(replace(SPEC, seed=2)))


def test_lines_as_the_format_has_them() -> None:
    spec = TableSpec(2, 1, hops=1, mpls=False, host=IPv4Address("10.0.0.1"))
    text = list(table_lines(spec))
    assert text[0] == "wirespeed-bng-tables 1"
    assert text[1] == "hop 0 198.51.100.1 - 02:00:10:00:00:00 0"
    assert text[2].startswith("route ")
    assert text[3:] == [
        "user 1 1 0 0 10.0.0.1 02:00:00:00:00:00",
        "user 1 2 1 0 10.0.0.1 02:00:00:00:00:01",
    ]


@pytest.mark.parametrize(
    "spec",
    [
        TableSpec(LINES + 1, 1), TableSpec(-1, 1), TableSpec(1, 1, hops=0),
        TableSpec(1, 1, hops=511), TableSpec(1, 1, ports=17), TableSpec(1, 20_000_000),
    ],
)  # fmt: skip
def test_impossible_numbers_are_refused(spec: TableSpec) -> None:
    with pytest.raises(BadInput, match="must be from"):
        list(table_lines(spec))


def test_sessions_stand_behind_the_host() -> None:
    spec = TableSpec(2, 1, hops=1, host=IPv4Address("10.0.0.1"), pppoe=True)
    assert list(table_lines(spec))[3:] == [
        "user 1 1 0 0 10.0.0.1 02:00:00:00:00:00 1",
        "user 1 2 1 0 10.0.0.1 02:00:00:00:00:01 2",
    ]
    many = users(replace(spec, users=65_536))
    assert {user.session for user in many} == set(range(1, 65_535))


def test_sessions_without_hosts_are_refused() -> None:
    with pytest.raises(BadInput, match="PPPoE sessions need a host"):
        list(table_lines(TableSpec(2, 1, pppoe=True)))
