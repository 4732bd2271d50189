# SPDX-License-Identifier: Apache-2.0
"""Define the interface of a type of network function, which knows nothing of its placement.

To add one: a file here that makes a FunctionKind, and its name in FUNCTIONS (__init__.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.program.attachment import Attachment
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.topology.addresses import mac_of
from wirespeed.bench.topology.interface import Rewriting
from wirespeed.bench.topology.wiring import PORTS, End, Forward, Stream, generator_mac
from wirespeed.model.input.fault import Fault
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames
from wirespeed.model.study.sut import SutDescription


@dataclass(frozen=True, slots=True)
class Demand:
    """Needs of a function of this type in addition to a core; see model.needs.Needs."""

    workers: int = 1
    held_frames: int = 0
    tables_bytes: int = 0
    shallowest_frames: int | None = None
    """Depth of the function's own smallest queue, in frames."""
    own_namespace: bool = False
    """True if it needs a network namespace of the host, so a process of its own there."""


@dataclass(frozen=True, slots=True)
class Setup:
    """One function of a point: its task, its ports and its location."""

    name: str
    frames: Frames
    forwards: tuple[Forward, ...]
    attachments: Mapping[str, Attachment]
    """Port attachments by side."""
    entries: tuple[str, str]
    """Destination addresses of frames from east and from west."""
    lcores: tuple[int, ...]
    """Lcores of its process."""
    blocked_by: DropCause
    """Cause of a full output: who is too slow to empty it."""
    run_dir: PurePosixPath
    streams: tuple[Stream, ...] = ()
    """All streams of the point, including those that do not pass this function."""

    @property
    def sides(self) -> tuple[str, ...]:
        """Return the names of its ports: first the one that the first direction enters by."""
        return tuple(self.attachments)

    def mac(self, side: str) -> str:
        """Return the address of a port.

        Without a switch on the way, frames are addressed to the generator's other port.
        """
        entry = self.entries[self.sides.index(side)]
        direct = entry in {generator_mac(port) for port in PORTS}
        return entry if direct else mac_of(End(self.name, side))


class FunctionKind(Rewriting, Protocol):
    """A type of network function. name: as written in sut.vnf.kind."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    def faults(self, frames: Frames) -> Iterator[Fault]:
        """Yield the errors of a point that cannot use this type."""
        ...

    def demand(self, frames: Frames) -> Demand: ...

    def description(self, frames: Frames) -> SutDescription:
        """Describe the function as the SUT."""
        ...

    def part(self, host: Host, dirs: Directories, process: WsdpConfig, setup: Setup) -> Part:
        """Build the function in a process of its own.

        process: placement, memory and ports of that process, still without tasks.
        """
        ...


def polled_function(name: str, more_cpus: str | None = None) -> SutDescription:
    """Describe a function that polls its own ports.

    more_cpus: study keys that give it more CPUs.
    """
    return SutDescription(
        name, name, "the SUT's first ring (the SUT polls it)", more_cpus=more_cpus
    )
