# SPDX-License-Identifier: Apache-2.0
"""Define the requirements of a bench on its host; the plan allocates from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.plan.policy import InterfaceKind


class Forwarding(StrEnum):
    """Execution context that forwards between kernel interfaces."""

    KERNEL = "kernel"
    """The kernel's softirqs, on any CPU."""
    MAIN_THREAD = "main thread"
    PMD_THREADS = "PMD threads"


@dataclass(frozen=True, slots=True)
class SwitchNeeds:
    """Requirements of a switch."""

    name: str
    """Name for people."""
    packet_memory: bool
    """It keeps frames in its own huge pages."""
    forwards_on: tuple[int, ...] | None = None
    """CPUs that a study assigned to forwarding; None: the plan chooses one."""
    forwarding: Forwarding = Forwarding.PMD_THREADS
    """Execution context that forwards between its ports."""
    guest_ports: InterfaceKind | None = InterfaceKind.VHOST
    """Port type towards a virtual machine; None: guests are not supported."""
    page_kib: int = 2048
    """Size of its huge pages."""
    port_pools: bool = False
    """Each port has its own buffers."""
    bonded: bool = False
    """Its bonds need a link partner: a second switch with the same polling and memory."""
    own_process: bool = False
    """It is a process of this project, with the memory of one."""
    tables_bytes: int = 0
    """Size of the lookup tables of that process in bytes."""
    routes: bool = False
    """It is a router, which gets the generated routes of a point."""

    @property
    def polls(self) -> bool:
        """Its threads poll; otherwise frames wake it."""
        return self.forwarding is Forwarding.PMD_THREADS


@dataclass(frozen=True, slots=True)
class PlacementNeeds:
    """One option for running a function."""

    name: str
    shares_generator: bool
    """It uses the generator's CPUs and memory; otherwise its own."""
    in_guest: bool = False
    """Its CPUs and memory are those of a virtual machine."""


@dataclass(frozen=True, slots=True)
class VfNeeds:
    """Virtual function of a NIC."""

    pf: str
    """PCI address of its physical function."""
    number: int
    """Index among the virtual functions of `pf`."""
    vlan: int
    """VLAN that the NIC assigns to its frames."""


@dataclass(frozen=True, slots=True)
class PortNeeds:
    """Port of a function."""

    name: str
    mac: str
    """Destination address of frames to this port."""
    vf: VfNeeds | None = None
    """Virtual function behind the port; None: a port of the switch."""


@dataclass(frozen=True, slots=True)
class FunctionNeeds:
    """Requirements of a network function."""

    name: str
    """Name, e.g. "vnf0"."""
    placements: tuple[PlacementNeeds, ...]
    """Placements that the plan may choose from."""
    is_sut: bool = False
    """It alone is measured."""
    workers: int = 1
    """Workers that take turns on its cores. More than one worker needs more than two cores."""
    ports: tuple[PortNeeds, ...] = ()

    def placement(self, *, shares_generator: bool) -> PlacementNeeds:
        """Return the first allowed placement that shares the generator's CPUs, or does not."""
        return next(p for p in self.placements if p.shares_generator is shares_generator)

    @property
    def in_guest(self) -> bool:
        """It runs only in virtual machines."""
        return bool(self.placements) and all(each.in_guest for each in self.placements)


@dataclass(frozen=True, slots=True)
class Needs:
    """Requirements of one point that offers frames."""

    switch: SwitchNeeds | None = None
    functions: tuple[FunctionNeeds, ...] = ()
    one_process: bool = False
    """Generator and functions exchange frames over rings in one process without huge pages."""
    devices: tuple[str, ...] = ()
    """PCI addresses that the generator should be near."""
    held_frames: int = 0
    """Frames that tasks hold outside rings."""
    tables_bytes: int = 0
    """Size of a process's lookup tables in bytes."""
    flows: int = 1
    """Flows of each direction."""


@dataclass(frozen=True, slots=True)
class TcpGuestNeeds:
    """A virtual machine that is a host of a TCP test."""

    name: str
    ports: tuple[PortNeeds, ...]


@dataclass(frozen=True, slots=True)
class TcpNeeds:
    """Requirements of one point with TCP traffic."""

    switch: str | None = None
    """Name of the switch for people; None without a switch."""
    forwarding: Forwarding = Forwarding.KERNEL
    guests: tuple[TcpGuestNeeds, ...] = ()
    guest_ports: InterfaceKind = InterfaceKind.VHOST
    """Port type from the switch to the guests."""
