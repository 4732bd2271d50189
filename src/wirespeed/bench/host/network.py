# SPDX-License-Identifier: Apache-2.0
"""Make network namespaces that act as hosts on a network of their own.

Every interface made here lives in such a namespace and ends with it, with its addresses, neighbours
and queueing disciplines. So only the namespaces, and what was moved into them, are journalled and
undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network_changes import InterfaceMoved, NamespaceMade

# Directory in which ip-netns(8) keeps namespaces.
NAMESPACES = "/run/netns"
# Sysctls that keep interfaces from sending frames of their own.
QUIET = (
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
)
# Longest wait in the queue of a rate-limited interface.
_QUEUE_MS = 50.0
# tbf(8) must pass the largest TSO segment, and what arrives in one timer tick.
_BURST_BYTES, _BURST_S = 128 * 1024, 0.001


@dataclass(frozen=True, slots=True)
class VethEnd:
    """One end of a veth cable: an interface in a namespace."""

    namespace: str
    name: str
    mac: str
    ip: str | None = None
    """None for a port of a switch."""
    index: int | None = None
    """Number of the interface; None leaves the choice to the kernel."""

    @property
    def words(self) -> tuple[str, ...]:
        """Return the arguments of ip-link(8) that make it."""
        number = () if self.index is None else ("index", str(self.index))
        return (*number, "name", self.name, "address", self.mac)


@dataclass(frozen=True, slots=True)
class VethPair:
    """A veth pair."""

    a: VethEnd
    b: VethEnd

    @property
    def ends(self) -> tuple[VethEnd, VethEnd]:
        return (self.a, self.b)


class Network:
    """Makes hosts and cables on one host.

    tag: prefix that separates the names of concurrent runs.
    """

    def __init__(self, host: Host, tag: str) -> None:
        self._host, self._tag = host, tag

    def namespace(self, name: str) -> str:
        """Return the namespace name of a host."""
        return f"ws{self._tag}-{name}"

    def host(self, name: str) -> str:
        """Make a host; return the name of its namespace."""
        namespace = self.namespace(name)
        self._host.note(NamespaceMade(namespace))
        self._host.runner.run(["ip", "netns", "add", namespace])
        self._ip(namespace, "link", "set", "lo", "up")
        return namespace

    def connect(self, cable: VethPair, mtu: int, queues: int = 1) -> None:
        """Make a cable, configure the addresses of both ends, and bring them up."""
        a, b = cable.ends
        each = ("mtu", str(mtu), "numtxqueues", str(queues), "numrxqueues", str(queues))
        self._ip(
            a.namespace, "link", "add", *a.words, *each, "type", "veth",
            "peer", *b.words, *each, "netns", b.namespace,
        )  # fmt: skip
        for port in cable.ends:
            if port.ip is not None:
                self._ip(port.namespace, "address", "add", f"{port.ip}/24", "dev", port.name)
            self._ip(port.namespace, "link", "set", port.name, "up")

    def move(self, interface: str, namespace: str, name: str) -> None:
        """Move an interface of the host into a namespace, under another name."""
        self._host.note(InterfaceMoved(interface, namespace, name))
        self._host.runner.run(
            ["ip", "link", "set", "dev", interface, "netns", namespace, "name", name]
        )

    def tap(self, namespace: str, name: str, mtu: int, queues: int = 1) -> None:
        """Make a tap device that a program in the namespace can open."""
        flags = ("multi_queue",) if queues > 1 else ()
        self._ip(namespace, "tuntap", "add", "dev", name, "mode", "tap", "vnet_hdr", *flags)
        self._ip(namespace, "link", "set", name, "mtu", str(mtu), "up")

    def route_all(self, port: VethEnd, gateway: str) -> None:
        """Set the default route of the port's host."""
        self._ip(port.namespace, "route", "add", "default", "via", gateway, "dev", port.name)

    def forward(self, namespace: str) -> None:
        """Enable IP forwarding in the namespace."""
        words = ("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        self._host.runner.run([*inside(namespace), *words])

    def introduce(self, port: VethEnd, others: Sequence[VethEnd]) -> None:
        """Add static neighbours to a port: no ARP requests, and no switch floods."""
        for other in others:
            if other.ip is not None:
                self._ip(port.namespace, "neighbour", "replace", other.ip, "lladdr", other.mac,
                         "dev", port.name, "nud", "permanent")  # fmt: skip

    def set_offloads(self, port: VethEnd, *features: str, on: bool) -> None:
        """Switch offloads of the interface by their ethtool(8) names, e.g. "tso"."""
        words = [word for feature in features for word in (feature, "on" if on else "off")]
        self._host.runner.run([*inside(port.namespace), "ethtool", "-K", port.name, *words])

    def limit(self, port: VethEnd, rate_bps: float, queue_ms: float = _QUEUE_MS) -> None:
        """Limit the rate of the port, and drop frames that wait longer than queue_ms."""
        self._host.runner.run(
            [*inside(port.namespace), *limit_command(port.name, rate_bps, queue_ms)]
        )

    def _ip(self, namespace: str, *words: str) -> None:
        self._host.runner.run(["ip", "-n", namespace, *words])


def limit_command(interface: str, rate_bps: float, queue_ms: float = _QUEUE_MS) -> list[str]:
    """Return the tc(8) command that limits the interface's rate."""
    burst = max(_BURST_BYTES, round(rate_bps / 8 * _BURST_S))
    return ["tc", "qdisc", "replace", "dev", interface, "root", "tbf", "rate", f"{rate_bps:.0f}bit",
            "burst", str(burst), "latency", f"{queue_ms}ms"]  # fmt: skip


def inside(namespace: str | None) -> tuple[str, ...]:
    """Return the command prefix that runs a program in the namespace; empty for None.

    The prefix execs the program, so that both share one PID.
    """
    return () if namespace is None else ("nsenter", f"--net={NAMESPACES}/{namespace}", "--")
