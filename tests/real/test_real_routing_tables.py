# SPDX-License-Identifier: Apache-2.0
"""Check that the kernel takes a generated table and answers by its longest prefixes."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from ipaddress import ip_address
from itertools import pairwise

import pytest

from wirespeed.published.prefixes import prefix_lengths, published_table
from wirespeed.routing.formats import Format, Table, hop_text, lines
from wirespeed.routing.generate import Route, Shape, generate

pytestmark = pytest.mark.usefixtures("needs_root")

HOPS = 3


def ip(*words: str, text: str | None = None) -> str:
    done = subprocess.run(["ip", *words], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def namespace() -> Iterator[str]:
    """Make a namespace whose interface reaches the next hops."""
    name = f"ws{uuid.uuid4().hex[:6]}"
    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "add", "east", "type", "veth", "peer", "name", "west")
        for device in ("lo", "east", "west"):
            ip("-n", name, "link", "set", device, "up")
        ip("-n", name, "address", "add", "198.18.0.1/15", "dev", "east")
        ip("-n", name, "address", "add", "2001:2::1/48", "dev", "east", "nodad")
        yield name
    finally:
        ip("netns", "delete", name)


def made(version: int, prefixes: int) -> list[Route]:
    shape = Shape(version, prefix_lengths(version), published_table(version).more_specific)
    return generate(shape, prefixes, HOPS, seed=5)


def test_kernel_takes_a_generated_table_and_routes_by_it(namespace: str) -> None:
    table = Table(made(4, 3000), made(6, 1000), HOPS)
    ip("-n", namespace, "-batch", "-", text="\n".join(lines(table, Format.IP)) + "\n")
    for version, routes in ((4, table.ipv4), (6, table.ipv6)):
        listed = ip("-n", namespace, f"-{version}", "route", "show").splitlines()
        assert sum(" via " in line for line in listed) == len(routes)
    # The first address of a prefix belongs to the longest prefix that begins there.
    for routes in (table.ipv4, table.ipv6):
        for first, second in pairwise(routes[:101]):
            if first.address == second.address:
                continue
            address = str(ip_address(first.address))
            told = ip("-n", namespace, "route", "get", address)
            assert f"via {hop_text(first.version, first.hop)} dev east" in told
