# SPDX-License-Identifier: Apache-2.0
"""What is a kind of network function? It knows nothing of where it runs.

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
from wirespeed.bench.topology.interface import Rewriting
from wirespeed.bench.topology.wiring import Forward, Stream
from wirespeed.model.fault import Fault
from wirespeed.model.hop_counts import DropCause
from wirespeed.model.spec import Frames
from wirespeed.model.sut import SutDescription


@dataclass(frozen=True, slots=True)
class Demand:
    """What a function of this kind asks of the plan, besides a core. See model.needs.Needs.

    shallowest_frames: its own smallest queue.
    """

    workers: int = 1
    held_frames: int = 0
    tables_bytes: int = 0
    shallowest_frames: int | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """One function: what it is to do, between which ports, and where.

    attachments: by side. entries: the addresses that frames are sent to from east and from west.
    lcores: of its process. blocked_by: whose slowness a full output of it shows. streams: all of
    the point's, whichever of them pass it.
    """

    name: str
    frames: Frames
    forwards: tuple[Forward, ...]
    attachments: Mapping[str, Attachment]
    entries: tuple[str, str]
    lcores: tuple[int, ...]
    blocked_by: DropCause
    run_dir: PurePosixPath
    streams: tuple[Stream, ...] = ()


class FunctionKind(Rewriting, Protocol):
    """name: as written in sut.vnf.kind."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    def faults(self, frames: Frames) -> Iterator[Fault]:
        """What of the point cannot go with this kind."""
        ...

    def demand(self, frames: Frames) -> Demand: ...

    def description(self, frames: Frames) -> SutDescription:
        """Of the function as the SUT."""
        ...

    def part(self, host: Host, dirs: Directories, process: WsdpConfig, setup: Setup) -> Part:
        """The function in a process of its own. process: where, with which memory and ports; it
        has no tasks yet."""
        ...


def polled_function(name: str, more_cpus: str | None = None) -> SutDescription:
    """A function that polls its own ports. more_cpus: the keys that give it more CPUs."""
    return SutDescription(
        name, name, "the SUT's first ring (the SUT polls it)", more_cpus=more_cpus
    )
