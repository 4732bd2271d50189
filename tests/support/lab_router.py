# SPDX-License-Identifier: Apache-2.0
"""Build hosts around a router that follows a kernel, on a node whose kernel has VLANs and VRFs.

Hosts are network namespaces of the node. `a` and `b` are on one cable each. wsdp runs where the
cables end, in `wire`; the router's interfaces `east` and `west` are in the namespace `router`.
The node is emulated, so rates are meaningless.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.lab_node import LabNode
from wirespeed.lab.lab import WSDP
from wirespeed.remote.interface import Runner
from wirespeed.sources.telemetry import Telemetry

DEADLINE_S = 60
_INI = """\
[eal]
file_prefix = lab-router
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
_FOLDER = "/run/lab-router"


@dataclass(frozen=True, slots=True)
class LabRouter:
    runner: Runner
    telemetry: Telemetry

    def ip(self, namespace: str, *words: str) -> None:
        self.runner.run(["ip", "-n", namespace, *words])

    def batch(self, namespace: str, commands: str) -> None:
        """Run commands of iproute2, one a line: a program takes long to start in the node."""
        self.runner.run(["ip", "-n", namespace, "-batch", "-"], stdin=commands)

    def enter(self, namespace: str, *words: str, check: bool = True) -> str:
        """Run a program in a namespace and return its output."""
        inside = ["ip", "netns", "exec", namespace, *words]
        return self.runner.run(inside, check=check, timeout_s=60).stdout

    def ping(self, namespace: str, target: str, *, octets: int = 56, frames: int = 3) -> None:
        """Require an answer to one echo request at least."""
        words = ["busybox", "ping", "-A", "-c", str(frames), "-W", "10", "-s", str(octets), target]
        self.enter(namespace, *words)

    def figures(self) -> dict[str, Any]:
        found: dict[str, Any] = self.telemetry.ask("/wirespeed/task,r")
        return found

    def differences(self) -> list[str]:
        """Compare the tables with the kernel's routes and answers."""
        counts = self.telemetry.ask(f"/wirespeed/check,r,{_FOLDER}/differences")
        names = ("missing", "different", "extra", "wrong_lookups", "wrong_samples")
        if all(counts[name] == 0 for name in names):
            return []
        return self.runner.read(f"{_FOLDER}/differences").splitlines()

    def await_true(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not done():
            assert time.monotonic() < deadline, (self.figures(), self.differences(), self.log())
            time.sleep(0.2)  # the node answers over ssh

    def settle(self) -> None:
        """Wait until the tables are the kernel's."""
        self.await_true(lambda: self.differences() == [])

    def log(self) -> str:
        return self.runner.read(f"{_FOLDER}/log")

    def add_vlan(
        self, namespace: str, lower: str, number: int, *addresses: str, master: str = ""
    ) -> None:
        """Make an interface of a VLAN. master: name of a VRF, which must precede addresses."""
        name = f"{lower}.{number}"
        self.batch(namespace, f"link set {lower} up\n"
            f"link add link {lower} name {name} type vlan id {number}\n"
            + (f"link set {name} master {master}\n" if master else "")
            + _addresses(name, *addresses)
            + f"link set {name} up\n")  # fmt: skip

    def add_addresses(self, namespace: str, interface: str, *addresses: str) -> None:
        self.batch(namespace, _addresses(interface, *addresses))


def _addresses(interface: str, *addresses: str) -> str:
    return "".join(
        f"address replace {address} dev {interface}{' nodad' * (':' in address)}\n"
        for address in addresses
    )


def add_namespaces(runner: Runner, stack: ExitStack, *names: str) -> None:
    for name in names:
        runner.run(["ip", "netns", "add", name])
        stack.callback(runner.run, ["ip", "netns", "delete", name], check=False)
        runner.run(["ip", "-n", name, "link", "set", "lo", "up"])


def _sysctl(runner: Runner, namespace: str, path: str, value: int) -> None:
    words = ["sh", "-c", f"echo {value} > /proc/sys/net/{path}"]
    runner.run(["ip", "netns", "exec", namespace, *words])


def _cable(runner: Runner, end: str, host: str) -> None:
    runner.run(["ip", "-n", "wire", "link", "add", end, "type", "veth",
                "peer", "name", "eth0", "netns", host])  # fmt: skip
    for namespace, interface in (("wire", end), (host, "eth0")):
        # Checksums as on a real cable: nobody else would complete them.
        runner.run(["ip", "netns", "exec", namespace, "ethtool", "-K", interface,
                    "tx", "off", "tso", "off", "gso", "off", "gro", "off"])  # fmt: skip
        runner.run(["ip", "-n", namespace, "link", "set", interface, "up"])


def _telemetry(runner: Runner) -> Telemetry:
    """Wait until wsdp is ready: it has its commands then."""
    deadline = time.monotonic() + DEADLINE_S
    while "wsdp ready" not in (log := runner.read(f"{_FOLDER}/log")):
        assert time.monotonic() < deadline, log
        time.sleep(0.2)  # wsdp starts
    return Telemetry(runner, "/var/run/dpdk/lab-router/dpdk_telemetry.v2", DEADLINE_S)


@contextmanager
def lab_router(node: LabNode) -> Iterator[tuple[LabRouter, ExitStack]]:
    """Provide a router without addresses, and what is cleaned up after it."""
    with node.runner() as runner, ExitStack() as stack:
        runner.run(["mkdir", "-p", _FOLDER])
        stack.callback(runner.run, ["rm", "-r", _FOLDER])
        add_namespaces(runner, stack, "a", "b", "wire", "router")
        _sysctl(runner, "router", "ipv4/ip_forward", 1)
        _sysctl(runner, "router", "ipv6/conf/all/forwarding", 1)
        _sysctl(runner, "router", "ipv6/conf/default/accept_dad", 0)
        # The kernel at the end of the cables is no host.
        for which in ("all", "default"):
            _sysctl(runner, "wire", f"ipv6/conf/{which}/disable_ipv6", 1)
        _cable(runner, "wa", "a")
        _cable(runner, "wb", "b")
        runner.write(f"{_FOLDER}/router.ini", _INI)
        wsdp = runner.spawn(
            ["ip", "netns", "exec", "wire", WSDP, "--config", f"{_FOLDER}/router.ini"],
            log=f"{_FOLDER}/log",
        )
        stack.callback(wsdp.wait, DEADLINE_S)
        stack.callback(wsdp.signal, 15)
        telemetry = _telemetry(runner)
        stack.callback(telemetry.close)
        # An lcore that polls all the time takes most of an emulated node.
        telemetry.ask("/wirespeed/pause_pollers,ns=1000000")
        yield LabRouter(runner, telemetry), stack
