# SPDX-License-Identifier: Apache-2.0
"""Define the path of the packets as the page draws it: stops, and cables between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wirespeed.live.lanes import Line

# Ports that a stop lists; the others are one line.
PORTS_MAX = 12


@dataclass(frozen=True, slots=True)
class Port:
    """Lines of one port as its owner counts it; None where nothing counts it."""

    name: str
    into: Line | None = None
    out: Line | None = None
    lost: Line | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    label: str
    used: Line
    size: Line | None


@dataclass(frozen=True, slots=True)
class Stop:
    """A program, a switch, a task or a guest that packets pass."""

    name: str
    what: str
    busy: tuple[Line, ...] = ()
    lost: tuple[Line, ...] = ()
    queues: tuple[Queue, ...] = ()
    ports: tuple[Port, ...] = ()
    """Ports that no cable of the path has."""


@dataclass(frozen=True, slots=True)
class Cable:
    """From one stop to the next."""

    label: str
    forward: Line | None
    back: Line | None = None
    lost: tuple[Line, ...] = ()
    queues: tuple[Queue, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """stops[i], cables[i], stops[i + 1] and so on; without cables, stops that nothing joins."""

    stops: tuple[Stop, ...] = ()
    cables: tuple[Cable, ...] = ()


@dataclass(slots=True)
class Owner:
    """A program or switch with its series."""

    name: str
    what: str
    ports: dict[str, Port] = field(default_factory=dict)
    busy: list[Line] = field(default_factory=list)
    lost: list[Line] = field(default_factory=list)
    queues: list[Queue] = field(default_factory=list)

    def stop(self, without: Sequence[str] = ()) -> Stop:
        others = [port for name, port in self.ports.items() if name not in without]
        return Stop(
            self.name, self.what, tuple(self.busy), tuple(self.lost), tuple(self.queues),
            _listed(others),
        )  # fmt: skip


def _listed(ports: Sequence[Port]) -> tuple[Port, ...]:
    """Return the ports that a stop lists, and a last one with the sums of the others."""
    ordered = sorted(ports, key=lambda port: port.lost is None)
    listed, rest = ordered[:PORTS_MAX], ordered[PORTS_MAX:]
    if rest:
        name = f"and {len(rest)} more"
        listed.append(
            Port(
                name,
                _sum(name, [port.into for port in rest]),
                _sum(name, [port.out for port in rest]),
                _sum("drops", [port.lost for port in rest]),
            )
        )
    return tuple(listed)


def _sum(label: str, lines: Sequence[Line | None]) -> Line | None:
    """Return one line of all members; the lines have one factor."""
    there = [line for line in lines if line is not None]
    members = tuple(number for line in there for number in line.members)
    return Line(label, members, there[0].factor) if there else None
