# SPDX-License-Identifier: Apache-2.0
"""What is one end of a TCP test: a host with ports, whose programs are the server or a client?

To add a kind: a file here that makes an End, and its line in `make_ends` (make.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.topology.tcp import Port, TcpCable
from wirespeed.remote.interface import Process


@dataclass(frozen=True, slots=True)
class Place:
    """Where an end's programs are started. words: what comes before a command that shall run there.
    cpus: of that host, for the programs."""

    host: Host
    dirs: Directories
    words: tuple[str, ...]
    cpus: tuple[int, ...]


class End(Protocol):
    """name: of the host, as the topology calls it."""

    @property
    def name(self) -> str: ...

    @property
    def part(self) -> Part | None:
        """What of it is brought up with the switch; None where it is there already."""
        ...

    @property
    def place(self) -> Place:
        """Not before its part is up."""
        ...

    def plug_in(self, cable: TcpCable) -> None:
        """Lay the cable of one of its ports, before the switch at its other end is there."""
        ...

    def set_up(self, port: Port, neighbours: Sequence[Port]) -> None:
        """Make the port what the point asks for, once its cable leads somewhere.

        Raises BenchError where it lacks an offload or a queue.
        """
        ...

    @property
    def watched_cpus(self) -> frozenset[int]:
        """The CPUs of the bench's host that it may use."""
        ...

    def watched(self, programs: Sequence[Process]) -> tuple[int, ...]:
        """The numbers of the bench's host's processes in which these programs of its place run, or
        are going to run."""
        ...
