# SPDX-License-Identifier: Apache-2.0
"""What is a kind of switch: what it needs of a plan, its ports, and the part of a bench it is?

To add one: a file or folder here that makes a SwitchKind, and its name in SWITCHES (__init__.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.topology.plugs import Plug
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.fault import Fault
from wirespeed.model.needs import SwitchNeeds
from wirespeed.model.plan import VswitchPlan
from wirespeed.model.spec import Vswitch, Workload
from wirespeed.model.sut import SutDescription


@dataclass(frozen=True, slots=True)
class SwitchSetup:
    """One switch: on which host, as the plan says, with the ports and rules of this wiring.

    wanted: what the study asks of the switch. vlan_id: the tag that frames bear, where they bear
    one. uplinks: by port, the device or interface of this host that is the port, where a cable
    leads to another host; a kind that has no such ports says so in `faults`. partner: the plan of
    the switch at the other ends of its bonds, where it has some.
    """

    host: Host
    dirs: Directories
    plan: VswitchPlan
    wiring: Wiring
    wanted: Vswitch = field(default_factory=Vswitch)
    vlan_id: int | None = None
    uplinks: Mapping[str, Plug] = field(default_factory=dict)
    partner: VswitchPlan | None = None


@dataclass(frozen=True, slots=True)
class KernelPorts:
    """Interfaces of the kernel that become the switch's ports, by the name of the port; virtual
    machines on further ports are the wiring's cables.

    polled: through DPDK's AF_PACKET driver, by threads of the switch, with so many queues.
    """

    namespace: str
    interfaces: Mapping[str, str]
    polled: bool
    queues: int
    tso: bool


class SwitchKind(Protocol):
    """name: as written in sut.vswitch.kind."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def description(self) -> SutDescription:
        """Of the switch as the SUT."""
        ...

    def faults(self, vswitch: Vswitch, workload: Workload) -> Iterator[Fault]:
        """What of the point cannot go with this kind."""
        ...

    def needs(self, vswitch: Vswitch) -> SwitchNeeds: ...

    def cabled(self, vswitch: Vswitch, wiring: Wiring) -> Wiring:
        """The topology's wiring, with what the switch has between its ports and the generator."""
        ...

    def plugs(
        self, vswitch: Vswitch, wiring: Wiring, plan: VswitchPlan, dirs: Directories
    ) -> Mapping[str, Plug]:
        """What the programs at the other ends of its ports have to do, by port. Pure."""
        ...

    def parts(self, setup: SwitchSetup) -> tuple[Part, ...]:
        """With ports for programs, as `plugs` says; in the order in which they are brought up."""
        ...

    def part_between(self, setup: SwitchSetup, ports: KernelPorts) -> Part:
        """With interfaces of the kernel, and virtual machines, at its ports."""
        ...
