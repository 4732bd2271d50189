# SPDX-License-Identifier: Apache-2.0
"""Define a type of switch: its needs from a plan, its ports, its components of a bench.

To add one: a file or folder here that makes a SwitchKind, and its name in SWITCHES (__init__.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Protocol

from pydantic import TypeAdapter

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.topology.plugs import Plug
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import SwitchNeeds
from wirespeed.model.plan.plan import VswitchPlan
from wirespeed.model.study.routing import Routing
from wirespeed.model.study.spec import Frames, Vswitch, Workload
from wirespeed.model.study.sut import SutDescription
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class SwitchSetup:
    """One switch: its host, its plan, and the wiring whose ports and rules it implements."""

    host: Host
    dirs: Directories
    plan: VswitchPlan
    wiring: Wiring
    wanted: Vswitch = field(default_factory=Vswitch)
    """Settings that the study asks for."""
    vlan_id: int | None = None
    """VLAN ID of the frames; None for untagged frames."""
    uplinks: Mapping[str, Plug] = field(default_factory=dict)
    """Device or interface of this host behind each port with a cable to another host. A type
    without such ports rejects them in `faults`.
    """
    partner: VswitchPlan | None = None
    """Plan of the switch at the other ends of its bonds; None without bonds."""
    frames: Frames | None = None
    """The point; None with TCP."""
    control_cpus: tuple[int, ...] = ()
    """CPUs for programs that do not forward."""

    @property
    def routing(self) -> Routing | None:
        """Return the generated routes, where the switch is a router that gets them."""
        return None if self.frames is None else self.frames.routing


@dataclass(frozen=True, slots=True)
class KernelPorts:
    """Kernel interfaces that become the switch's ports."""

    namespace: str
    interfaces: Mapping[str, str]
    """Interface by port name. Ports to virtual machines are cables of the wiring instead."""
    polled: bool
    """True if threads of the switch poll them through DPDK's AF_PACKET driver."""
    queues: int
    """Queues of each polled port."""
    tso: bool


@dataclass(frozen=True, slots=True)
class Factors:
    """Keys that one type of switch has and others do not."""

    table: str
    """Name of their table, sut.vswitch.TABLE."""
    type: type[Any]
    """Dataclass with a default for each key."""

    def read(self, vswitch: Vswitch) -> Any:
        """Return the keys of a point, as the dataclass."""
        if self.in_tree:
            return getattr(vswitch, self.table)
        adapter = _adapter(self.type)  # type: ignore[arg-type]
        return adapter.validate_python(dict(vswitch.own))

    @property
    def in_tree(self) -> bool:
        """The table is a field of Vswitch; else the point has its keys in Vswitch.own."""
        return self.table in Vswitch.__dataclass_fields__

    def changed(self, vswitch: Vswitch) -> Iterator[tuple[str, Any]]:
        """Yield each key that differs from its default, with its value."""
        read, usual = self.read(vswitch), self.type()
        for each in fields(self.type):
            if (value := getattr(read, each.name)) != getattr(usual, each.name):
                yield f"sut.vswitch.{self.table}.{each.name}", value


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class SwitchKind(Protocol):
    """A type of switch. name: as written in sut.vswitch.kind."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def description(self) -> SutDescription:
        """Describe the switch as the SUT, with its own causes of drops."""
        ...

    @property
    def factors(self) -> Factors | None:
        """Keys of its own; None without any."""
        ...

    def injected_faults(self, vswitch: Vswitch) -> Collection[str]:
        """Return the names of the faults that its ports can have injected (bench/fault)."""
        ...

    def faults(self, vswitch: Vswitch, workload: Workload) -> Iterator[Fault]:
        """Yield the errors of a point that cannot use this type."""
        ...

    def needs(self, frames: Frames) -> SwitchNeeds: ...

    def check(self, runner: Runner) -> None:
        """Raise BenchError or RemoteError where the host lacks a program of the switch."""
        ...

    def cabled(self, vswitch: Vswitch, wiring: Wiring) -> Wiring:
        """Add to the topology's wiring what the switch has between its ports and the generator."""
        ...

    def plugs(
        self, vswitch: Vswitch, wiring: Wiring, plan: VswitchPlan, dirs: Directories
    ) -> Mapping[str, Plug]:
        """Return the attachments of the programs at the other ends of its ports. Pure."""
        ...

    def parts(self, setup: SwitchSetup) -> tuple[Part, ...]:
        """Build the components, with ports for programs as `plugs` says, in start order."""
        ...

    def part_between(self, setup: SwitchSetup, ports: KernelPorts) -> Part:
        """Build the component with kernel interfaces, and virtual machines, at its ports."""
        ...
