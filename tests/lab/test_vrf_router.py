# SPDX-License-Identifier: Apache-2.0
"""Test a router that follows a kernel with VRFs, on a node whose kernel has them.

VRF red has VLAN 100 of both ports, VRF blue VLAN 200: with the same addresses, hosts and routes.
`east` itself, without a tag, is in red at first, `west` in none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.lab_node import LabNode
from tests.support.lab_router import DEADLINE_S, LabRouter, add_namespaces, lab_router

# The C tests of the router and of the mirror check VRFs in the short form.
pytestmark = pytest.mark.lab(whole=True)

_VRFS = {"red": (10, 100), "blue": (20, 200)}
_FAR = "198.18.0.1"  # a host behind b, bred and bblue, each with its own
_FAR_V6 = "2001:2::1"
_A = ("10.1.0.2/24", "2001:db8:1::2/64")
_B = ("10.2.0.2/24", "2001:db8:2::2/64")
_EAST = ("10.1.0.1/24", "2001:db8:1::1/64")
_WEST = ("10.2.0.1/24", "2001:db8:2::1/64")
_HOSTS = ("b", "bred", "bblue")


def _add_host(router: LabRouter, name: str, vlan: int) -> None:
    """Put a VLAN of a cable into a namespace: of a's, or of b's for those that are far."""
    cable = name[0]
    router.batch(cable, f"link add link eth0 name up0 type vlan id {vlan}\n"
                        f"link set up0 netns {name}\n")  # fmt: skip
    router.add_addresses(name, "up0", *(_A if cable == "a" else _B))
    gateways = (address.split("/")[0] for address in (_EAST if cable == "a" else _WEST))
    router.batch(name, "link set up0 up\n" + "".join(
        f"route add default via {gateway}\n" for gateway in gateways
    ))  # fmt: skip


def _add_routes(router: LabRouter, name: str, vlan: int) -> None:
    router.batch("router", f"route add 198.18.0.0/15 via 10.2.0.2 dev west.{vlan} vrf {name}\n"
        f"route add 2001:2::/48 via 2001:db8:2::2 dev west.{vlan} vrf {name}\n")  # fmt: skip


def _add_vrf(router: LabRouter, name: str, table: int, vlan: int) -> None:
    # Without the routes `unreachable` the kernel would go on to the main table.
    router.batch("router", f"link add {name} type vrf table {table}\nlink set {name} up\n"
        f"route add unreachable default metric 4278198272 vrf {name}\n"
        f"route add unreachable ::/0 metric 4278198272 vrf {name}\n")  # fmt: skip
    router.add_vlan("router", "east", vlan, *_EAST, master=name)
    router.add_vlan("router", "west", vlan, *_WEST, master=name)
    _add_routes(router, name, vlan)


def _set_up(router: LabRouter, stack: ExitStack) -> None:
    # An interface that changes its VRF goes down, and its VLANs with it.
    router.enter("router", "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/keep_addr_on_down")
    add_namespaces(router.runner, stack, "ared", "ablue", "bred", "bblue")
    for name, (table, vlan) in _VRFS.items():
        for cable in ("a", "b"):
            _add_host(router, f"{cable}{name}", vlan)
        _add_vrf(router, name, table, vlan)
    # The route of main is what no frame of a VRF may go by.
    router.batch("router", "link set east master red\n"
        "address add 10.3.0.1/24 dev east\naddress add 10.4.0.1/24 dev west\n"
        "route add 198.18.0.0/15 via 10.4.0.2\n")  # fmt: skip
    router.batch("a", "address add 10.3.0.2/24 dev eth0\nroute add default via 10.3.0.1\n")
    router.batch("b", "address add 10.4.0.2/24 dev eth0\nroute add default via 10.4.0.1\n")
    for name in _HOSTS:
        router.add_addresses(name, "lo", f"{_FAR}/32", f"{_FAR_V6}/128")


@pytest.fixture(scope="module")
def router(lab_node: LabNode) -> Iterator[LabRouter]:
    with lab_router(lab_node) as (made, stack):
        _set_up(made, stack)
        made.await_true(lambda: made.figures()["vlans"] == 4)
        made.settle()
        yield made


def _counts(router: LabRouter, protocol: str, figure: str) -> dict[str, int]:
    """Return a figure of each far host's IP stack."""
    read = f"ip netns exec $host grep ^{protocol}: /proc/net/snmp"
    loop = f"for host in {' '.join(_HOSTS)}; do {read}; done"
    lines = [line.split() for line in router.runner.run(["sh", "-c", loop]).stdout.splitlines()]
    return {
        host: int(values[names.index(figure)])
        for host, names, values in zip(_HOSTS, lines[::2], lines[1::2], strict=True)
    }


def _echoes(router: LabRouter) -> dict[str, int]:
    """Return how many echo requests each far host has got."""
    return _counts(router, "Icmp", "InEchos")


def _sends(router: LabRouter, host: str, target: str = _FAR, *, frames: int = 5) -> dict[str, int]:
    """Send echo requests and return how many each far host got of them."""
    before = _echoes(router)
    words = ["ping", "-i", "0.1", "-c", str(frames), "-W", "1", target]
    router.enter(host, "busybox", *words, check=False)
    return {name: count - before[name] for name, count in _echoes(router).items()}


@pytest.mark.parametrize("target", [_FAR, _FAR_V6, "10.2.0.2"])
@pytest.mark.parametrize("name", _VRFS)
def test_vrfs_with_the_same_addresses_are_apart(router: LabRouter, name: str, target: str) -> None:
    """Frames are forwarded without the kernel, each in its own VRF: an answer comes from there."""
    router.ping(f"a{name}", target)  # neighbours get known
    router.settle()
    before, echoes = router.figures(), _echoes(router)
    router.ping(f"a{name}", target, frames=20)
    after = router.figures()
    assert after["tx"] - before["tx"] >= 40
    for figure in ("punted_neighbour", "punted_rest"):
        assert after[figure] == before[figure], figure
    if ":" not in target:
        others = {host: echoes[host] for host in _HOSTS if host != f"b{name}"}
        now = _echoes(router)
        assert now[f"b{name}"] - echoes[f"b{name}"] == 20
        assert {host: now[host] for host in others} == others


def test_kernel_answers_in_a_vrf(router: LabRouter) -> None:
    for host in ("ared", "ablue"):
        router.ping(host, "10.1.0.1")
        router.ping(host, "2001:db8:1::1")
        hops = router.enter(host, "busybox", "traceroute", "-n", "-q", "1", "-w", "5", _FAR)
        assert [line.split()[1] for line in hops.splitlines()[1:]] == ["10.1.0.1", _FAR]


def test_sizes_are_reported_by_table(router: LabRouter) -> None:
    vrfs = router.figures()["vrfs"]
    assert {table: vrf["name"] for table, vrf in vrfs.items()} == {"10": "red", "20": "blue"}
    for vrf in vrfs.values():
        assert vrf["routes_ipv4"] > 5
        assert vrf["routes_ipv6"] > 5
        assert vrf["tables_bytes"] < 1 << 20


def test_sampled_answers_of_the_kernel_are_those_of_the_tables(router: LabRouter) -> None:
    """wsdp itself asks once a second, also of VRFs."""
    before = router.figures()["sampled"]
    router.await_true(lambda: router.figures()["sampled"] > before + 48)
    assert router.figures()["sampled_wrong"] == 0


def test_route_to_another_vrf_leaks(router: LabRouter) -> None:
    leak = ("198.51.100.0/24", "via", "10.2.0.2", "dev", "west.200", "vrf", "red")
    router.add_addresses("bblue", "lo", "198.51.100.1/32")
    assert sum(_sends(router, "ared", "198.51.100.1").values()) == 0
    router.ip("router", "route", "add", *leak)
    router.settle()
    # Answers stay in blue, where the sender is another host.
    assert _sends(router, "ared", "198.51.100.1") == {"b": 0, "bred": 0, "bblue": 5}
    router.ip("router", "route", "delete", *leak)
    router.settle()
    assert sum(_sends(router, "ared", "198.51.100.1").values()) == 0


def test_route_to_a_vrf_itself_is_named(router: LabRouter) -> None:
    router.ip("router", "route", "add", "203.0.113.0/24", "dev", "blue", "vrf", "red")
    router.await_true(lambda: router.figures()["refused_vrf_route"] >= 1)
    router.settle()
    assert "routes to a VRF itself" in router.log()
    router.ip("router", "route", "delete", "203.0.113.0/24", "dev", "blue", "vrf", "red")
    router.settle()


def _datagrams(router: LabRouter) -> dict[str, int]:
    """Return how many datagrams each far host has got."""
    return _counts(router, "Udp", "NoPorts")


def _check_goes_to(router: LabRouter, host: str, other: str) -> None:
    """Require that a flow of datagrams goes to one host alone."""
    begun = _datagrams(router)
    router.await_true(lambda: _datagrams(router)[host] > begun[host] + 50)
    assert _datagrams(router)[other] == begun[other]


def test_interface_that_moves_under_traffic_has_no_third_table(router: LabRouter) -> None:
    """On its way from red to blue the kernel has it in no VRF; no frame goes by the main table."""
    before = _datagrams(router)
    loop = f"while :; do for i in {{1..9}}; do echo > /dev/udp/{_FAR}/9; done; sleep 0.01; done"
    sender = router.runner.spawn(
        ["ip", "netns", "exec", "a", "bash", "-c", f"{loop} 2> /dev/null"], log="/run/sender"
    )
    try:
        _check_goes_to(router, "bred", "bblue")
        for name, other in (("blue", "red"), ("red", "blue")):
            router.ip("router", "link", "set", "east", "master", name)
            router.settle()
            _check_goes_to(router, f"b{name}", f"b{other}")
        assert _datagrams(router)["b"] == before["b"]
    finally:
        sender.signal(9)
        sender.wait(DEADLINE_S)


def names(router: LabRouter) -> set[str]:
    """Return the names of the VRFs that the router has tables of."""
    return {vrf["name"] for vrf in router.figures()["vrfs"].values()}


def test_table_of_a_deleted_vrf_is_used_again_without_its_routes(router: LabRouter) -> None:
    """Interfaces of a VRF that is deleted are in none; one that gets its table begins anew."""
    router.ip("router", "link", "delete", "blue")
    router.await_true(lambda: "20" not in router.figures()["vrfs"])
    router.settle()
    assert _sends(router, "ablue") == {"b": 5, "bred": 0, "bblue": 0}
    router.ip("router", "link", "add", "green", "type", "vrf", "table", "20")
    router.ip("router", "link", "set", "green", "up")
    for lower, addresses in (("east", _EAST), ("west", _WEST)):
        router.ip("router", "link", "set", f"{lower}.200", "master", "green")
        router.add_addresses("router", f"{lower}.200", *addresses)
    router.await_true(lambda: "green" in names(router))
    router.settle()
    # The route `unreachable` is still in the table, as the kernel has it; that to the host is not.
    assert sum(_sends(router, "ablue").values()) == 0
    _add_routes(router, "green", 200)
    router.settle()
    assert _sends(router, "ablue") == {"b": 0, "bred": 0, "bblue": 5}
    assert _sends(router, "ared") == {"b": 0, "bred": 5, "bblue": 0}
