# SPDX-License-Identifier: Apache-2.0
"""Describe the wiring of a topology: its connections, and the path of each frame.

Pure data. Ports are named by their role in the topology; plugs.py describes what is behind each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GENERATOR = "tg"
SWITCH = "switch"
# The switch at the other ends of a bond's links: between generator and SUT, part of neither.
PARTNER = "partner"
# The switch inside a NIC, between its virtual functions.
NIC = "nic"
IMPAIR = "impair"
# The generator's ports: the first direction runs from east to west.
EAST, WEST = PORTS = ("east", "west")
# A network function's ports: the first direction enters at a and leaves at b.
SIDES = ("a", "b")


def generator_mac(port: str) -> str:
    """Return a generator port's address: locally administered, low three octets zero."""
    return f"02:00:{PORTS.index(port):02x}:00:00:00"


@dataclass(frozen=True, slots=True)
class End:
    """One endpoint of a cable: a port of the generator, the switch or a network function."""

    owner: str
    port: str

    def __str__(self) -> str:
        return f"{self.owner}:{self.port}"


@dataclass(frozen=True, slots=True)
class Cable:
    """A link between two ports, in both directions."""

    a: End
    """Port of the generator or of a function."""
    b: End
    """Port of a switch or of another function."""


@dataclass(frozen=True, slots=True)
class Flow:
    """An OpenFlow rule: frames from this port to this address leave by that port."""

    in_port: str
    dst_mac: str
    """May carry a mask ("02:00:00:00:00:00/ff:ff:ff:00:00:00")."""
    out_port: str


@dataclass(frozen=True, slots=True)
class Route:
    """A rule of a switch that forwards by IP address: frames to this prefix leave by that port."""

    prefix: str
    out_port: str


@dataclass(frozen=True, slots=True)
class Forward:
    """One direction of a network function, from port to port."""

    vnf: str
    from_port: str
    to_port: str
    dst_mac: str | None = None
    """Destination address that the function writes; None outside of mac mode."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Frames that one generator task offers to one generator port and expects at another."""

    direction: str
    """One sink receives all streams of a direction; they count together."""
    number: int
    from_port: str
    to_port: str
    src_mac: str
    dst_mac: str


@dataclass(frozen=True, slots=True)
class Wiring:
    """A complete topology. No cables: the path between the generator's ports is unknown."""

    cables: tuple[Cable, ...]
    streams: tuple[Stream, ...]
    forwards: tuple[Forward, ...] = ()
    flows: tuple[Flow, ...] = ()
    entries: tuple[str, str] = (generator_mac(WEST), generator_mac(EAST))
    """Destination addresses of frames from east and from west."""
    rings: int = 2
    """Rings in series in which a frame may wait."""
    machines: frozenset[str] = frozenset()
    """Functions that are virtual machines; of the host's programs only QEMU uses their ports."""
    routes: tuple[Route, ...] = ()
    """Ends of the streams, for a switch that is a router."""
    passes: tuple[tuple[End, End], ...] = ()
    """Ingress and egress port in hops without rules: a NIC's switch, or a bond's partner."""

    def ports_of(self, owner: str) -> tuple[str, ...]:
        """Return the owner's ports, in cable order."""
        ends = [end for cable in self.cables for end in (cable.a, cable.b)]
        return tuple(end.port for end in ends if end.owner == owner)

    def peer(self, end: End) -> End:
        """Return the other endpoint of the cable."""
        for cable in self.cables:
            if end in (cable.a, cable.b):
                return cable.b if end == cable.a else cable.a
        raise KeyError(str(end))

    @property
    def vnfs(self) -> tuple[str, ...]:
        """Network functions, in the order in which the first direction passes them."""
        return tuple(dict.fromkeys(f.vnf for f in self.forwards))

    @property
    def directions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(s.direction for s in self.streams))

    def paths(self) -> Mapping[str, tuple[tuple[End, ...], ...]]:
        """Return the paths of each direction's streams; empty where one of them is unknown."""
        found: dict[str, tuple[tuple[End, ...], ...]] = {}
        for stream in self.streams:
            path = self.path(stream)
            if not path:
                return {}
            found[stream.direction] = tuple(dict.fromkeys((*found.get(stream.direction, ()), path)))
        return found

    def path(self, stream: Stream) -> tuple[End, ...]:
        """Return the ports that the stream's frames pass, from generator to generator.

        Empty where the path is unknown.
        """
        ends = [End(GENERATOR, stream.from_port)]
        while self.cables and len(ends) <= 2 * len(self.cables):
            ends.append(self.peer(ends[-1]))
            if ends[-1].owner == GENERATOR:
                return tuple(ends)
            leaves = self._leaves(ends[-1], stream)
            if leaves is None:
                break
            ends.append(leaves)
        return ()

    def _leaves(self, entered: End, stream: Stream) -> End | None:
        """Return where a hop sends frames that entered it there."""
        for forward in self.forwards:
            if (forward.vnf, forward.from_port) == (entered.owner, entered.port):
                return End(entered.owner, forward.to_port)
        for begin, end in self.passes:
            if entered == begin:
                return end
        rules = [flow for flow in self.flows if flow.in_port == entered.port]
        wanted = [flow for flow in rules if _matches(flow.dst_mac, stream.dst_mac)]
        found = wanted if len(rules) > 1 else rules
        return End(entered.owner, found[0].out_port) if found else None


def _matches(wanted: str, mac: str) -> bool:
    """Return whether an address matches a rule's address, as far as its mask goes."""
    address, _, mask = wanted.partition("/")
    bits = _number(mask) if mask else -1
    return _number(address) & bits == _number(mac) & bits


def _number(mac: str) -> int:
    return int(mac.replace(":", ""), 16)
