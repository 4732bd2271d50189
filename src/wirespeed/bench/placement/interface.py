# SPDX-License-Identifier: Apache-2.0
"""What is a placement: where a network function runs, whatever it does?

To add one: a file here that makes a PlacementKind, and its name in PLACEMENTS (__init__.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Protocol, runtime_checkable

from wirespeed.bench.function.counts import TaskCounts
from wirespeed.bench.function.interface import FunctionKind, Setup
from wirespeed.bench.guest.interface import Guests
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.program.config import WsdpConfig, WsdpRing, WsdpTask
from wirespeed.bench.topology.interface import TopologyKind
from wirespeed.bench.topology.plugs import Plug
from wirespeed.model.fault import Fault
from wirespeed.model.needs import PlacementNeeds
from wirespeed.model.plan import GuestPlan
from wirespeed.model.spec import Frames
from wirespeed.remote.interface import Runner

# What a program of ours takes to be ready at most.
READY_S = 60.0


@dataclass(frozen=True, slots=True)
class OnHost:
    """What a function that runs apart has on its host. plugs: what its ports are plugged into, by
    side. guests: what virtual machines start from."""

    plan: GuestPlan
    control_cpu: int
    plugs: Mapping[str, Plug]
    given: Guests | None = None

    @property
    def guests(self) -> Guests:
        """Raises ValueError where the bench was opened without any."""
        if self.given is None:
            raise ValueError(f"nobody has said what guest {self.plan.name} starts from")
        return self.given


@dataclass(frozen=True, slots=True)
class Seat:
    """The same as the function's own program sees it, in the machine that it runs on."""

    control_cpu: int
    cpus: tuple[int, ...]
    plugs: Mapping[str, Plug]
    floats_over: tuple[int, ...] = ()


class Launch(Protocol):
    """A function that runs apart from the generator: pure, until its part is made. ready_s: how
    long that may take to be ready."""

    @property
    def ready_s(self) -> float: ...

    def part(self, host: Host, dirs: Directories) -> Part: ...


@runtime_checkable
class RunsInside(Protocol):
    """A part whose program runs on a machine of its own. inside: that machine, and the program's
    run directory there; not before it is up."""

    @property
    def inside(self) -> tuple[Runner, PurePosixPath]: ...


@dataclass(frozen=True, slots=True)
class Own:
    """What a function has to itself. process: CPUs, memory and ports as its seat has them; it has
    no tasks yet."""

    process: WsdpConfig
    on_host: OnHost


@dataclass(frozen=True, slots=True)
class Placed:
    """What one function adds to a bench: tasks and rings of the generator's process with what they
    count and the files that they read, or a launch of its own."""

    tasks: tuple[WsdpTask, ...] = ()
    rings: tuple[WsdpRing, ...] = ()
    counts: tuple[TaskCounts, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    launch: Launch | None = None


class PlacementKind(Protocol):
    """name: as written in sut.vnf.placement. chosen_by_plan: whether the plan may choose it where
    a study names none."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def chosen_by_plan(self) -> bool: ...

    @property
    def needs(self) -> PlacementNeeds: ...

    def faults(
        self, function: FunctionKind, topology: TopologyKind, frames: Frames
    ) -> Iterator[Fault]:
        """Why functions of this point cannot run so."""
        ...

    def seat(self, on_host: OnHost) -> Seat:
        """Where the program of a function runs that does not share the generator's."""
        ...

    def place(self, function: FunctionKind, setup: Setup, own: Own | None) -> Placed:
        """own: None where it shares the generator's process."""
        ...
