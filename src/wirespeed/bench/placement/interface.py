# SPDX-License-Identifier: Apache-2.0
"""Define a placement: where a network function runs, independent of its type.

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
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import PlacementNeeds
from wirespeed.model.plan.plan import GuestPlan
from wirespeed.model.study.spec import Frames
from wirespeed.remote.interface import Runner

# Longest time until a program of this project is ready.
READY_S = 60.0


def faults_of_namespace(placement: str, function: FunctionKind, frames: Frames) -> Iterator[Fault]:
    """Yield a fault if the function needs a network namespace of the host."""
    if function.demand(frames).own_namespace:
        allowed = (
            f'must be "process" with [routing]: {function.name} follows a kernel, whose TAPs only '
            "a process of the host opens; l3fwd reads its routes from a file"
        )
        yield Fault("sut.vnf.placement", placement, allowed)


@dataclass(frozen=True, slots=True)
class OnHost:
    """Resources on the host of a function that runs apart from the generator."""

    plan: GuestPlan
    control_cpu: int
    plugs: Mapping[str, Plug]
    """Attachments of its ports, by side."""
    given: Guests | None = None
    """Images for virtual machines; None where the bench has none."""

    @property
    def guests(self) -> Guests:
        """The images. Raises ValueError where the bench was opened without any."""
        if self.given is None:
            raise ValueError(f"nobody has said what guest {self.plan.name} starts from")
        return self.given


@dataclass(frozen=True, slots=True)
class Seat:
    """Resources that the function's program sees on the machine where it runs."""

    control_cpu: int
    cpus: tuple[int, ...]
    plugs: Mapping[str, Plug]
    floats_over: tuple[int, ...] = ()


class Launch(Protocol):
    """A function that runs apart from the generator; pure until its component is built.

    ready_s: longest time until it is ready.
    """

    @property
    def ready_s(self) -> float: ...

    def part(self, host: Host, dirs: Directories) -> Part: ...


@runtime_checkable
class RunsInside(Protocol):
    """A component whose program runs on a machine of its own.

    inside: that machine, and the program's run directory there; available once it is up.
    """

    @property
    def inside(self) -> tuple[Runner, PurePosixPath]: ...


@dataclass(frozen=True, slots=True)
class Own:
    """Resources of a function that does not share the generator's process."""

    process: WsdpConfig
    """CPUs, memory and ports as its seat has them, still without tasks."""
    on_host: OnHost


@dataclass(frozen=True, slots=True)
class Placed:
    """Contribution of one function to a bench.

    Either tasks of the generator's process, with their rings, counts and files, or a launch of its
    own.
    """

    tasks: tuple[WsdpTask, ...] = ()
    rings: tuple[WsdpRing, ...] = ()
    counts: tuple[TaskCounts, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    launch: Launch | None = None


class PlacementKind(Protocol):
    """A placement.

    name: as written in sut.vnf.placement. chosen_by_plan: whether the plan may choose it where a
    study names none.
    """

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
        """Yield why functions of this point cannot be placed so."""
        ...

    def seat(self, on_host: OnHost) -> Seat:
        """Return the resources of a function that does not share the generator's process."""
        ...

    def place(self, function: FunctionKind, setup: Setup, own: Own | None) -> Placed:
        """Place a function.

        own: its resources; None where it shares the generator's process.
        """
        ...
