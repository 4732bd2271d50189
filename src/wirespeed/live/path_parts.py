# SPDX-License-Identifier: Apache-2.0
"""Define the path of the packets as the page draws it: stops, and cables between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wirespeed.live.lanes import Line

# Ports that a stop lists.
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
            tuple(others[:PORTS_MAX]),
        )  # fmt: skip
