# SPDX-License-Identifier: Apache-2.0
"""How is a topology wired: who is connected to whom, which path does each frame take?

Pure data. Ports are named by what they are in the topology; what is behind each is a plug
(plugs.py).
"""

from __future__ import annotations

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
    """The address of a port of the generator: locally administered, the low three octets zero."""
    return f"02:00:{PORTS.index(port):02x}:00:00:00"


@dataclass(frozen=True, slots=True)
class End:
    """One end of a cable: a port of the generator, the switch or a network function."""

    owner: str
    port: str

    def __str__(self) -> str:
        return f"{self.owner}:{self.port}"


@dataclass(frozen=True, slots=True)
class Cable:
    """A link between two ports; frames may flow either way.

    a: a port of the generator or a function; b: of a switch, or of another function.
    """

    a: End
    b: End


@dataclass(frozen=True, slots=True)
class Flow:
    """An OpenFlow rule: frames from this port to this address leave by that port.

    dst_mac may carry a mask ("02:00:00:00:00:00/ff:ff:ff:00:00:00").
    """

    in_port: str
    dst_mac: str
    out_port: str


@dataclass(frozen=True, slots=True)
class Route:
    """The same for a switch that forwards by IP address: what is sent to this prefix."""

    prefix: str
    out_port: str


@dataclass(frozen=True, slots=True)
class Forward:
    """What one direction of a network function does: from port to port; dst_mac: mac mode only."""

    vnf: str
    from_port: str
    to_port: str
    dst_mac: str | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """Frames that one generator task offers to one generator port and expects at another.

    direction: the streams of one direction are received by the same sink and counted together.
    """

    direction: str
    number: int
    from_port: str
    to_port: str
    src_mac: str
    dst_mac: str


@dataclass(frozen=True, slots=True)
class Wiring:
    """A topology, completely. No cables: what lies between the generator's ports is not known.

    entries: the addresses that frames are sent to from east and from west. rings: how many rings in
    a row a frame may wait in. machines: the functions that are virtual machines, whose ports no
    program of the host uses but QEMU. routes: where streams end, for a switch that is a router.
    passes: from which port to which frames go in hops that need no rules: a NIC's switch, and the
    partner of a bond.
    """

    cables: tuple[Cable, ...]
    streams: tuple[Stream, ...]
    forwards: tuple[Forward, ...] = ()
    flows: tuple[Flow, ...] = ()
    entries: tuple[str, str] = (generator_mac(WEST), generator_mac(EAST))
    rings: int = 2
    machines: frozenset[str] = frozenset()
    routes: tuple[Route, ...] = ()
    passes: tuple[tuple[End, End], ...] = ()

    def ports_of(self, owner: str) -> tuple[str, ...]:
        """The owner's ports, in cable order."""
        ends = [end for cable in self.cables for end in (cable.a, cable.b)]
        return tuple(end.port for end in ends if end.owner == owner)

    def peer(self, end: End) -> End:
        """What is at the other end of the cable."""
        for cable in self.cables:
            if end in (cable.a, cable.b):
                return cable.b if end == cable.a else cable.a
        raise KeyError(str(end))

    @property
    def vnfs(self) -> tuple[str, ...]:
        """The network functions, in the order in which the first direction meets them."""
        return tuple(dict.fromkeys(f.vnf for f in self.forwards))

    @property
    def directions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(s.direction for s in self.streams))

    def path(self, stream: Stream) -> tuple[End, ...]:
        """The ports that the stream's frames pass, in order, from the generator to the generator;
        none where what lies between is not known."""
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
        """Where a hop lets frames out that entered it there."""
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
    """Whether an address is that of a rule, as far as the rule's mask goes."""
    address, _, mask = wanted.partition("/")
    bits = _number(mask) if mask else -1
    return _number(address) & bits == _number(mac) & bits


def _number(mac: str) -> int:
    return int(mac.replace(":", ""), 16)
