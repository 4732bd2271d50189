# SPDX-License-Identifier: Apache-2.0
"""Test a router that follows a kernel with VLANs, on a node whose kernel has 802.1Q."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.lab_node import LabNode
from tests.support.lab_router import LabRouter, lab_router

# The C tests of the router and of the mirror check VLANs in the short form.
pytestmark = pytest.mark.lab(whole=True)

# Namespace, interface below, VLAN, addresses.
_VLANS = (
    ("a", "eth0", 100, "10.1.0.2/24", "2001:db8:1::2/64"),
    ("router", "east", 100, "10.1.0.1/24", "2001:db8:1::1/64"),
    ("b", "eth0", 200, "10.2.0.2/24", "2001:db8:2::2/64"),
    ("router", "west", 200, "10.2.0.1/24", "2001:db8:2::1/64"),
)
_UNTAGGED = (("b", "eth0", "10.3.0.2/24"), ("router", "west", "10.3.0.1/24"))


@pytest.fixture(scope="module")
def router(lab_node: LabNode) -> Iterator[LabRouter]:
    with lab_router(lab_node) as (made, _):
        for namespace, lower, number, *addresses in _VLANS:
            made.add_vlan(namespace, lower, number, *addresses)
        for namespace, interface, address in _UNTAGGED:
            made.add_addresses(namespace, interface, address)
        for host, gateway, gateway_v6 in (
            ("a", "10.1.0.1", "2001:db8:1::1"), ("b", "10.2.0.1", "2001:db8:2::1"),
        ):  # fmt: skip
            made.ip(host, "route", "add", "default", "via", gateway)
            made.ip(host, "route", "add", "default", "via", gateway_v6)
        made.await_true(lambda: made.figures()["vlans"] == 2 and made.differences() == [])
        yield made


def test_kernel_answers_in_its_vlan(router: LabRouter) -> None:
    """ARP, neighbour discovery and echo requests reach the kernel with their tags."""
    router.ping("a", "10.1.0.1")
    router.ping("a", "2001:db8:1::1")
    router.ping("b", "10.2.0.1")
    router.ping("b", "10.3.0.1")


@pytest.mark.parametrize("target", ["10.2.0.2", "10.3.0.2", "2001:db8:2::2"])
def test_frames_between_vlans_are_forwarded_without_the_kernel(
    router: LabRouter, target: str
) -> None:
    """The tag changes, or it is pushed one way and stripped the other way."""
    router.ping("a", target)  # neighbours get known
    router.settle()
    before = router.figures()
    router.ping("a", target, frames=20)
    after = router.figures()
    assert after["tx"] - before["tx"] >= 40
    assert after["punted_neighbour"] == before["punted_neighbour"]
    assert after["punted_rest"] == before["punted_rest"]


def test_mtu_is_that_of_the_vlan(router: LabRouter) -> None:
    router.ping("a", "10.2.0.2", octets=1400)
    router.ip("router", "link", "set", "west.200", "mtu", "1300")
    router.settle()
    before = router.figures()
    # The host may set "don't fragment" until it has heard of the MTU.
    router.ping("a", "10.2.0.2", octets=1400, frames=5)
    after = router.figures()
    larger = sum(after[name] - before[name] for name in ("too_big", "fragment"))
    router.ip("router", "link", "set", "west.200", "mtu", "1500")
    router.settle()
    assert larger > 0


def test_vlan_that_is_deleted_is_unknown(router: LabRouter) -> None:
    before = router.figures()["unknown_vlan"]
    router.ip("router", "link", "delete", "west.200")
    router.await_true(lambda: router.figures()["vlans"] == 1 and router.differences() == [])
    router.enter("b", "busybox", "ping", "-c", "1", "-W", "1", "10.2.0.1", check=False)
    router.await_true(lambda: router.figures()["unknown_vlan"] > before)
    router.add_vlan(*_VLANS[3])
    router.await_true(lambda: router.figures()["vlans"] == 2 and router.differences() == [])
    router.ping("a", "10.2.0.2")


def test_interfaces_that_are_not_followed_are_named(router: LabRouter) -> None:
    link = ("link", "add", "link")
    router.ip("router", *link, "east", "name", "service", "type", "vlan", "id", "7",
              "protocol", "802.1ad")  # fmt: skip
    router.ip("router", *link, "east.100", "name", "stacked", "type", "vlan", "id", "7")
    router.ip("router", *link, "east", "name", "upper0", "type", "macvlan")
    router.await_true(
        lambda: router.figures()["refused_vlan"] >= 2 and router.figures()["refused_interface"] >= 1
    )
    assert "VLANs of 802.1ad" in router.log()
    assert "interfaces on top of a port" in router.log()
    for name in ("service", "stacked", "upper0"):
        router.ip("router", "link", "delete", name)
    assert router.figures()["vlans"] == 2


def test_sampled_answers_of_the_kernel_are_those_of_the_tables(router: LabRouter) -> None:
    """wsdp itself asks once a second."""
    before = router.figures()["sampled"]
    router.await_true(lambda: router.figures()["sampled"] > before + 32)
    assert router.figures()["sampled_wrong"] == 0
