# SPDX-License-Identifier: Apache-2.0
"""Test a router that follows a kernel with VLANs, on a node whose kernel has 802.1Q.

Hosts `a` and `b` are network namespaces of the node, on one cable each. wsdp runs where the cables
end, in `wire`; the router's interfaces `east` and `west` are in the namespace `router`. The node is
emulated, so rates are meaningless.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.support.lab_node import LabNode
from wirespeed.lab.lab import WSDP
from wirespeed.remote.interface import Runner
from wirespeed.sources.telemetry import Telemetry

# The C tests of the router and of the mirror check VLANs in the short form.
pytestmark = pytest.mark.lab(whole=True)

_DEADLINE_S = 60
_FOLDER = "/run/vlan-router"
_INI = """\
[eal]
file_prefix = vlan-router
lcores = 0@0,1@1
options = --no-huge -m 256
[pool]
mbufs = 4096
[port.a]
device = net_af_packet0,iface=wa
[port.b]
device = net_af_packet1,iface=wb
[task.r]
type = router
lcore = 1
rx = a:0, b:0
tx = a:0, b:0
kernel = east, west
kernel_netns = /run/netns/router
"""
# Namespace, interface below, VLAN, addresses.
_VLANS = (
    ("a", "eth0", 100, "10.1.0.2/24", "2001:db8:1::2/64"),
    ("router", "east", 100, "10.1.0.1/24", "2001:db8:1::1/64"),
    ("b", "eth0", 200, "10.2.0.2/24", "2001:db8:2::2/64"),
    ("router", "west", 200, "10.2.0.1/24", "2001:db8:2::1/64"),
)
_UNTAGGED = (("b", "eth0", "10.3.0.2/24"), ("router", "west", "10.3.0.1/24"))


@dataclass(frozen=True, slots=True)
class VlanRouter:
    runner: Runner
    telemetry: Telemetry

    def ip(self, namespace: str, *words: str) -> None:
        self.runner.run(["ip", "-n", namespace, *words])

    def ping(self, namespace: str, target: str, *, octets: int = 56, frames: int = 3) -> None:
        """Require an answer to one echo request at least."""
        words = ["ip", "netns", "exec", namespace, "busybox", "ping", "-c", str(frames)]
        self.runner.run([*words, "-W", "10", "-s", str(octets), target], timeout_s=60)

    def figures(self) -> dict[str, int]:
        found: dict[str, int] = self.telemetry.ask("/wirespeed/task,r")
        return found

    def differences(self) -> list[str]:
        """Compare the tables with the kernel's routes and answers."""
        counts = self.telemetry.ask(f"/wirespeed/check,r,{_FOLDER}/differences")
        if all(counts[name] == 0 for name in ("missing", "different", "extra", "wrong_samples")):
            return []
        return self.runner.read(f"{_FOLDER}/differences").splitlines()

    def settle(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _DEADLINE_S
        while not done():
            assert time.monotonic() < deadline, (self.figures(), self.log())
            time.sleep(0.2)  # the node answers over ssh

    def log(self) -> str:
        return self.runner.read(f"{_FOLDER}/log")


def _namespaces(runner: Runner, stack: ExitStack) -> None:
    for name in ("a", "b", "wire", "router"):
        runner.run(["ip", "netns", "add", name])
        stack.callback(runner.run, ["ip", "netns", "delete", name], check=False)
    for path, value in (
        ("net/ipv4/ip_forward", "1"),
        ("net/ipv6/conf/all/forwarding", "1"),
        ("net/ipv6/conf/default/accept_dad", "0"),
    ):
        words = ["sh", "-c", f"echo {value} > /proc/sys/{path}"]
        runner.run(["ip", "netns", "exec", "router", *words])
    # The kernel at the end of the cables is no host.
    for which in ("all", "default"):
        words = ["sh", "-c", f"echo 1 > /proc/sys/net/ipv6/conf/{which}/disable_ipv6"]
        runner.run(["ip", "netns", "exec", "wire", *words])


def _cable(runner: Runner, end: str, host: str) -> None:
    runner.run(["ip", "-n", "wire", "link", "add", end, "type", "veth",
                "peer", "name", "eth0", "netns", host])  # fmt: skip
    for namespace, interface in (("wire", end), (host, "eth0")):
        # Checksums as on a real cable: nobody else would complete them.
        runner.run(["ip", "netns", "exec", namespace, "ethtool", "-K", interface,
                    "tx", "off", "tso", "off", "gso", "off", "gro", "off"])  # fmt: skip
        runner.run(["ip", "-n", namespace, "link", "set", interface, "up"])


def _vlan(runner: Runner, namespace: str, lower: str, number: int, *addresses: str) -> None:
    name = f"{lower}.{number}"
    ip = ["ip", "-n", namespace]
    runner.run([*ip, "link", "set", lower, "up"])
    runner.run([*ip, "link", "add", "link", lower, "name", name,
                "type", "vlan", "id", str(number)])  # fmt: skip
    for address in addresses:
        nodad = ["nodad"] if ":" in address else []
        runner.run([*ip, "address", "add", address, "dev", name, *nodad])
    runner.run([*ip, "link", "set", name, "up"])


def _telemetry(runner: Runner) -> Telemetry:
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        try:
            return Telemetry(runner, "/var/run/dpdk/vlan-router/dpdk_telemetry.v2", _DEADLINE_S)
        except OSError:
            assert time.monotonic() < deadline, runner.read(f"{_FOLDER}/log")
            time.sleep(0.2)  # wsdp starts


@pytest.fixture(scope="module")
def router(lab_node: LabNode) -> Iterator[VlanRouter]:
    with lab_node.runner() as runner, ExitStack() as stack:
        runner.run(["mkdir", "-p", _FOLDER])
        stack.callback(runner.run, ["rm", "-r", _FOLDER])
        _namespaces(runner, stack)
        _cable(runner, "wa", "a")
        _cable(runner, "wb", "b")
        runner.write(f"{_FOLDER}/router.ini", _INI)
        wsdp = runner.spawn(
            ["ip", "netns", "exec", "wire", WSDP, "--config", f"{_FOLDER}/router.ini"],
            log=f"{_FOLDER}/log",
        )
        stack.callback(wsdp.wait, _DEADLINE_S)
        stack.callback(wsdp.signal, 15)
        telemetry = _telemetry(runner)
        stack.callback(telemetry.close)
        for namespace, lower, number, *addresses in _VLANS:
            _vlan(runner, namespace, lower, number, *addresses)
        for namespace, interface, address in _UNTAGGED:
            runner.run(["ip", "-n", namespace, "address", "add", address, "dev", interface])
        for host, gateway, gateway_v6 in (
            ("a", "10.1.0.1", "2001:db8:1::1"), ("b", "10.2.0.1", "2001:db8:2::1"),
        ):  # fmt: skip
            runner.run(["ip", "-n", host, "route", "add", "default", "via", gateway])
            runner.run(["ip", "-n", host, "route", "add", "default", "via", gateway_v6])
        made = VlanRouter(runner, telemetry)
        made.settle(lambda: made.figures()["vlans"] == 2 and made.differences() == [])
        yield made


def test_kernel_answers_in_its_vlan(router: VlanRouter) -> None:
    """ARP, neighbour discovery and echo requests reach the kernel with their tags."""
    router.ping("a", "10.1.0.1")
    router.ping("a", "2001:db8:1::1")
    router.ping("b", "10.2.0.1")
    router.ping("b", "10.3.0.1")


@pytest.mark.parametrize("target", ["10.2.0.2", "10.3.0.2", "2001:db8:2::2"])
def test_frames_between_vlans_are_forwarded_without_the_kernel(
    router: VlanRouter, target: str
) -> None:
    """The tag changes, or it is pushed one way and stripped the other way."""
    router.ping("a", target)  # neighbours get known
    router.settle(lambda: router.differences() == [])
    before = router.figures()
    router.ping("a", target, frames=20)
    after = router.figures()
    assert after["tx"] - before["tx"] >= 40
    assert after["punted_neighbour"] == before["punted_neighbour"]
    assert after["punted_rest"] == before["punted_rest"]


def test_mtu_is_that_of_the_vlan(router: VlanRouter) -> None:
    router.ping("a", "10.2.0.2", octets=1400)
    router.ip("router", "link", "set", "west.200", "mtu", "1300")
    router.settle(lambda: router.differences() == [])
    before = router.figures()
    # The host may set "don't fragment" until it has heard of the MTU.
    router.ping("a", "10.2.0.2", octets=1400, frames=5)
    after = router.figures()
    larger = sum(after[name] - before[name] for name in ("too_big", "fragment"))
    router.ip("router", "link", "set", "west.200", "mtu", "1500")
    router.settle(lambda: router.differences() == [])
    assert larger > 0


def test_vlan_that_is_deleted_is_unknown(router: VlanRouter) -> None:
    before = router.figures()["unknown_vlan"]
    router.ip("router", "link", "delete", "west.200")
    router.settle(lambda: router.figures()["vlans"] == 1 and router.differences() == [])
    router.runner.run(["ip", "netns", "exec", "b", "busybox", "ping", "-c", "1", "-W", "1",
                       "10.2.0.1"], check=False)  # fmt: skip
    router.settle(lambda: router.figures()["unknown_vlan"] > before)
    _vlan(router.runner, *_VLANS[3])
    router.settle(lambda: router.figures()["vlans"] == 2 and router.differences() == [])
    router.ping("a", "10.2.0.2")


def test_interfaces_that_are_not_followed_are_named(router: VlanRouter) -> None:
    link = ("link", "add", "link")
    router.ip("router", *link, "east", "name", "service", "type", "vlan", "id", "7",
              "protocol", "802.1ad")  # fmt: skip
    router.ip("router", *link, "east.100", "name", "stacked", "type", "vlan", "id", "7")
    router.ip("router", *link, "east", "name", "upper0", "type", "macvlan")
    router.settle(
        lambda: router.figures()["refused_vlan"] >= 2 and router.figures()["refused_interface"] >= 1
    )
    assert "VLANs of 802.1ad" in router.log()
    assert "interfaces on top of a port" in router.log()
    for name in ("service", "stacked", "upper0"):
        router.ip("router", "link", "delete", name)
    assert router.figures()["vlans"] == 2


def test_sampled_answers_of_the_kernel_are_those_of_the_tables(router: VlanRouter) -> None:
    """wsdp itself asks once a second."""
    before = router.figures()["sampled"]
    router.settle(lambda: router.figures()["sampled"] > before + 32)
    assert router.figures()["sampled_wrong"] == 0
