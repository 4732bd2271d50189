# SPDX-License-Identifier: Apache-2.0
"""How do network namespaces become hosts on a network of their own?

Every interface that is made lives in a namespace of ours and goes with it: addresses, neighbours
and queueing disciplines too. So the namespaces, and what was moved into them, are all that has to
be journalled and undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network_changes import InterfaceMoved, NamespaceMade

# Where ip-netns(8) keeps them.
NAMESPACES = "/run/netns"
# What may wait for its turn on a wire of limited rate.
_QUEUE_MS = 50.0
# tbf(8) must be able to pass the largest segment that TSO makes, and a timer tick's worth.
_BURST_BYTES, _BURST_S = 128 * 1024, 0.001


@dataclass(frozen=True, slots=True)
class VethEnd:
    """One end of a cable: an interface in a namespace. ip is None for a port of a switch.

    index: the interface's number; None: the kernel's choice.
    """

    namespace: str
    name: str
    mac: str
    ip: str | None = None
    index: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """What ip-link(8) is told to make it."""
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
    """Makes hosts and cables on one host; `tag` keeps the names of two runs apart."""

    def __init__(self, host: Host, tag: str) -> None:
        self._host, self._tag = host, tag

    def namespace(self, name: str) -> str:
        """The name of a host's namespace."""
        return f"ws{self._tag}-{name}"

    def host(self, name: str) -> str:
        """Make a host; returns the name of its namespace."""
        namespace = self.namespace(name)
        self._host.note(NamespaceMade(namespace))
        self._host.runner.run(["ip", "netns", "add", namespace])
        self._ip(namespace, "link", "set", "lo", "up")
        return namespace

    def connect(self, cable: VethPair, mtu: int, queues: int = 1) -> None:
        """Plug a cable in at both ends, with addresses, and bring it up."""
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
        """Give an interface of the host's to a namespace, under another name."""
        self._host.note(InterfaceMoved(interface, namespace, name))
        self._host.runner.run(
            ["ip", "link", "set", "dev", interface, "netns", namespace, "name", name]
        )

    def tap(self, namespace: str, name: str, mtu: int, queues: int = 1) -> None:
        """Make a tap that a program of the namespace can become the other end of."""
        flags = ("multi_queue",) if queues > 1 else ()
        self._ip(namespace, "tuntap", "add", "dev", name, "mode", "tap", "vnet_hdr", *flags)
        self._ip(namespace, "link", "set", name, "mtu", str(mtu), "up")

    def route_all(self, port: VethEnd, gateway: str) -> None:
        """What the port's host has no other route for goes there."""
        self._ip(port.namespace, "route", "add", "default", "via", gateway, "dev", port.name)

    def forward(self, namespace: str) -> None:
        """Make the host a router."""
        words = ("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        self._host.runner.run([*inside(namespace), *words])

    def introduce(self, port: VethEnd, others: Sequence[VethEnd]) -> None:
        """Tell a port the addresses of others: nobody has to ask, no switch has to flood."""
        for other in others:
            if other.ip is not None:
                self._ip(port.namespace, "neighbour", "replace", other.ip, "lladdr", other.mac,
                         "dev", port.name, "nud", "permanent")  # fmt: skip

    def set_offloads(self, port: VethEnd, *features: str, on: bool) -> None:
        """Switch features of the interface by their ethtool(8) names, e.g. "tso"."""
        words = [word for feature in features for word in (feature, "on" if on else "off")]
        self._host.runner.run([*inside(port.namespace), "ethtool", "-K", port.name, *words])

    def limit(self, port: VethEnd, rate_bps: float, queue_ms: float = _QUEUE_MS) -> None:
        """From now on the port sends at this rate at most, and drops what waits too long."""
        self._host.runner.run(
            [*inside(port.namespace), *limit_command(port.name, rate_bps, queue_ms)]
        )

    def _ip(self, namespace: str, *words: str) -> None:
        self._host.runner.run(["ip", "-n", namespace, *words])


def limit_command(interface: str, rate_bps: float, queue_ms: float = _QUEUE_MS) -> list[str]:
    """That makes the interface send at this rate at most."""
    burst = max(_BURST_BYTES, round(rate_bps / 8 * _BURST_S))
    return ["tc", "qdisc", "replace", "dev", interface, "root", "tbf", "rate", f"{rate_bps:.0f}bit",
            "burst", str(burst), "latency", f"{queue_ms}ms"]  # fmt: skip


def inside(namespace: str | None) -> tuple[str, ...]:
    """The words before a command that shall run in that namespace (None: the host's own, no words).
    It becomes the command itself: one process, with one number."""
    return () if namespace is None else ("nsenter", f"--net={NAMESPACES}/{namespace}", "--")
