# SPDX-License-Identifier: Apache-2.0
"""Check that wrong next hops of a few prefixes of a full table are all found, and no others.

The kernel's routes change while wsdp's own netlink socket is no member of their groups: it misses
the notifications, as after an error that nobody has seen.
"""

from __future__ import annotations

import ctypes
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path

import pytest

from tests.dataplane.kernel_router import KernelRouter, Wsdp, run
from tests.dataplane.program import PREFIX
from tests.router import netlink
from tests.router.netlink import REPLACE, Hop, Network
from tests.router.oracle import Oracle, oracle
from tests.router.states import gateways
from wirespeed.bench.routing.destinations import own_addresses
from wirespeed.published.prefixes import prefix_lengths, published_table
from wirespeed.routing.formats import prefix_text
from wirespeed.routing.generate import Route, Shape, generate

PLANTED = 7
HOPS = 2
WINDOW = 128  # frames on their way at once
LOAD_S, CHECK_S = 300.0, 300.0
_SOL_NETLINK, _DROP_MEMBERSHIP = 270, 2
_IPV4_ROUTE, _IPV6_ROUTE = 7, 11  # groups: linux/rtnetlink.h
_PIDFD_GETFD = 438


def table(prefixes: int) -> list[Route]:
    """Return a table like the Internet's, one IPv6 prefix for five of IPv4."""
    made: list[Route] = []
    for version, count in ((4, prefixes), (6, prefixes // 5)):
        shape = Shape(version, prefix_lengths(version), published_table(version).more_specific)
        made += generate(shape, count, HOPS, seed=7)
    return made


def load(router: KernelRouter, routes: Sequence[Route], file: Path) -> None:
    """Add all routes by `ip`, and wait until they are in force."""
    before = router.figures()
    file.write_text("".join(
        f"route add {prefix_text(one)} via {gateways(one.version, 2)[one.hop]}\n" for one in routes
    ))  # fmt: skip
    router.ip("-batch", str(file))
    deadline = time.monotonic() + LOAD_S
    while True:
        seen = router.figures()
        new = sum(seen[name] - before[name] for name in ("routes_ipv4", "routes_ipv6"))
        if seen["in_step"] and new >= len(routes):
            return
        assert time.monotonic() < deadline, seen
        time.sleep(0.1)  # the router needs the CPU


def miss_notifications(router: KernelRouter) -> None:
    """Take wsdp's socket for notifications out of the groups of routes."""
    rows = run("ip", "netns", "exec", router.router, "cat", "/proc/net/netlink").splitlines()[1:]
    groups = {f"socket:[{row.split()[-1]}]": int(row.split()[3], 16) for row in rows}
    pid = router.wsdp.process.pid
    [descriptor] = [
        int(one) for one in os.listdir(f"/proc/{pid}/fd")
        if groups.get(os.readlink(f"/proc/{pid}/fd/{one}"), 0) & 1 << _IPV4_ROUTE - 1
    ]  # fmt: skip
    process = os.pidfd_open(pid)
    libc = ctypes.CDLL(None, use_errno=True)
    own = libc.syscall(_PIDFD_GETFD, process, descriptor, 0)
    os.close(process)
    assert own >= 0, os.strerror(ctypes.get_errno())
    with socket.socket(fileno=own) as same:
        for group in (_IPV4_ROUTE, _IPV6_ROUTE):
            same.setsockopt(_SOL_NETLINK, _DROP_MEMBERSHIP, group)


def plant(made: Oracle, routes: Sequence[Route]) -> None:
    """Lead routes to another interface without wsdp's notice."""
    miss_notifications(made.router)
    east = made.interfaces["east"]
    messages = [
        netlink.route(netlink.NEWROUTE, REPLACE, ip_network(prefix_text(one)),
                      [Hop(east, gateways(one.version, 1)[one.hop])])
        for one in routes
    ]  # fmt: skip
    assert not any(made.netlink.change(messages))


def checked(router: KernelRouter) -> list[Network]:
    """Return the prefixes, and the random addresses, that `wirespeed router check` names."""
    path = router.wsdp.directory / "dpdk" / PREFIX / "dpdk_telemetry.v2"
    words = [sys.executable, "-m", "wirespeed.cli.main", "router", "check", "--telemetry",
             str(path), "--all"]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, timeout=CHECK_S, check=False)
    assert done.returncode == 1, done
    named = re.findall(
        r"^  (\S+): kernel: by east to .*; wsdp: by west to ", done.stdout, re.MULTILINE
    )
    assert f"r: {len(named)} differences in " in done.stdout
    return [ip_network(one) for one in named]


def is_in(one: Network, networks: set[Network]) -> bool:
    """Return whether one of these networks holds it."""
    return any(one.supernet(new_prefix=each.prefixlen) == each for each in networks
               if each.version == one.version and each.prefixlen <= one.prefixlen)  # fmt: skip


@pytest.mark.parametrize(
    ("prefixes", "memory_mib"), [(10_000, 512), (1_000_000, 4096)], ids=["10k", "1m"]
)
def test_wrong_next_hops_of_a_full_table_are_found_by_check_and_by_frames(
    prefixes: int, memory_mib: int, tmp_path: Path
) -> None:
    routes = table(prefixes)
    v4 = sum(one.version == 4 for one in routes)
    own = own_addresses(routes[:v4]) + own_addresses(routes[v4:])
    prefix_of = {
        str((IPv4Address if one.version == 4 else IPv6Address)(address)): one
        for one, address in zip(routes, own, strict=True)
        if address is not None
    }
    planted = random.Random(32).sample(list(prefix_of.values()), PLANTED)
    with oracle(Wsdp("punt_fps = 0\n", memory_mib)) as made:
        load(made.router, routes, tmp_path / "batch")
        assert made.router.differences() == 0
        plant(made, planted)
        addresses = list(prefix_of)
        wrong = [
            prefix_of[each.address]
            for first in range(0, len(addresses), WINDOW)
            for each in made.differences(addresses[first : first + WINDOW])
        ]
        print(f"\n{len(routes)} prefixes, frames to {len(addresses)}, {made.again} times again, "
              f"{len(wrong)} wrong")  # fmt: skip
        assert sorted(wrong) == sorted(planted)
        named, networks = checked(made.router), {ip_network(prefix_text(one)) for one in planted}
        assert set(named) >= networks
        assert all(is_in(one, networks) for one in named)
