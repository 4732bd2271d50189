# SPDX-License-Identifier: Apache-2.0
"""What does a bench ask of the host that it runs on? Kinds of things say so; the plan decides."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.policy import InterfaceKind


class Forwarding(StrEnum):
    """Who forwards between interfaces of the kernel. kernel: its softirqs, wherever they run."""

    KERNEL = "kernel"
    MAIN_THREAD = "main thread"
    PMD_THREADS = "PMD threads"


@dataclass(frozen=True, slots=True)
class SwitchNeeds:
    """name: for people. packet_memory: whether it keeps frames in huge pages of its own.

    page_kib: of which huge pages. port_pools: whether each port has buffers of its own.
    forwards_on: CPUs that a study has chosen for forwarding; None: the plan chooses one.
    forwarding: who forwards there. guest_ports: how it reaches a virtual machine; None: it does
    not. bonded: whether a second switch, the partner of its bonds, polls and keeps frames as it
    does.
    """

    name: str
    packet_memory: bool
    forwards_on: tuple[int, ...] | None = None
    forwarding: Forwarding = Forwarding.PMD_THREADS
    guest_ports: InterfaceKind | None = InterfaceKind.VHOST
    page_kib: int = 2048
    port_pools: bool = False
    bonded: bool = False

    @property
    def polls(self) -> bool:
        """Whether threads of it poll; else it is woken by frames."""
        return self.forwarding is Forwarding.PMD_THREADS


@dataclass(frozen=True, slots=True)
class PlacementNeeds:
    """One way to run a function. shares_generator: on the generator's CPUs, with its memory; else
    with CPUs and memory of its own. in_guest: those of a virtual machine."""

    name: str
    shares_generator: bool
    in_guest: bool = False


@dataclass(frozen=True, slots=True)
class VfNeeds:
    """A virtual function of a NIC. pf: its physical function, as PCI address. number: among those
    that are made of it. vlan: that the NIC puts its frames in."""

    pf: str
    number: int
    vlan: int


@dataclass(frozen=True, slots=True)
class PortNeeds:
    """A port of a function. mac: the address that frames find it by. vf: what it is; None: a port
    of the switch."""

    name: str
    mac: str
    vf: VfNeeds | None = None


@dataclass(frozen=True, slots=True)
class FunctionNeeds:
    """name: e.g. "vnf0". placements: those that the plan may choose from. is_sut: it alone is
    measured.

    workers: how many take turns on its cores; more than one want cores besides the first two.
    """

    name: str
    placements: tuple[PlacementNeeds, ...]
    is_sut: bool = False
    workers: int = 1
    ports: tuple[PortNeeds, ...] = ()

    def placement(self, *, shares_generator: bool) -> PlacementNeeds:
        """The first that the plan may choose and that does, or does not, share the generator's."""
        return next(p for p in self.placements if p.shares_generator is shares_generator)

    @property
    def in_guest(self) -> bool:
        """Whether only virtual machines will do."""
        return bool(self.placements) and all(each.in_guest for each in self.placements)


@dataclass(frozen=True, slots=True)
class Needs:
    """Of one point that offers frames.

    one_process: generator and functions exchange frames over rings in one process without huge
    pages. devices: PCI addresses that the generator should be near to. queues: receive queues of
    each port. held_frames: what tasks keep back besides rings; tables_bytes: lookup tables of a
    process; flows: of each direction.
    """

    switch: SwitchNeeds | None = None
    functions: tuple[FunctionNeeds, ...] = ()
    one_process: bool = False
    devices: tuple[str, ...] = ()
    held_frames: int = 0
    tables_bytes: int = 0
    flows: int = 1


@dataclass(frozen=True, slots=True)
class TcpGuestNeeds:
    """A host of a TCP test that is a virtual machine."""

    name: str
    ports: tuple[PortNeeds, ...]


@dataclass(frozen=True, slots=True)
class TcpNeeds:
    """Of one point with TCP traffic. switch: for people; None where there is none. guest_ports: how
    it reaches the guests."""

    switch: str | None = None
    forwarding: Forwarding = Forwarding.KERNEL
    guests: tuple[TcpGuestNeeds, ...] = ()
    guest_ports: InterfaceKind = InterfaceKind.VHOST
