# SPDX-License-Identifier: Apache-2.0
"""Define a host of a TCP test, whose programs are the server or a client.

To add a type: a file here that makes an End, and its line in `make_ends` (make.py).
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
    """Place in which the programs of a host of the test start."""

    host: Host
    dirs: Directories
    words: tuple[str, ...]
    """Prefix of commands that run there."""
    cpus: tuple[int, ...]
    """CPUs of that host for the programs."""


class End(Protocol):
    """A host of a TCP test. name: as in the topology."""

    @property
    def name(self) -> str: ...

    @property
    def part(self) -> Part | None:
        """Return its component that starts with the switch; None where it exists already."""
        ...

    @property
    def place(self) -> Place:
        """Return where its programs start; available once its component is up."""
        ...

    def plug_in(self, cable: TcpCable) -> None:
        """Attach the cable of one of its ports, before the switch at the other end exists."""
        ...

    def set_up(self, port: Port, neighbours: Sequence[Port]) -> None:
        """Configure the port as the point asks, once its cable is connected.

        Raises BenchError where it lacks an offload or a queue.
        """
        ...

    @property
    def watched_cpus(self) -> frozenset[int]:
        """Return the CPUs of the bench's host that it may use."""
        ...

    def watched(self, programs: Sequence[Process]) -> tuple[int, ...]:
        """Return the PIDs on the bench's host in which these programs run, or will run."""
        ...
