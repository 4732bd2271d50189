# SPDX-License-Identifier: Apache-2.0
"""Define the factors that Open vSwitch with DPDK has and other switches do not.

As in spec.py, the defaults, bounds and sentences here are the only ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le

from wirespeed.model.frame import VlanId


class RxqAssign(StrEnum):
    """Assignment of receive queues to PMD threads."""

    ROUNDROBIN = "roundrobin"
    CYCLES = "cycles"
    GROUP = "group"
    PINNED = "pinned"


class PortMemory(StrEnum):
    """Sharing of buffers between ports of the same MTU."""

    SHARED = "shared"
    PER_PORT = "per-port"


class VlanTranslation(StrEnum):
    """Change of a frame's VLAN tag between two bridges."""

    NONE = "none"
    STRIP = "strip"
    REWRITE = "rewrite"


class OvsPorts(StrEnum):
    """Type of Open vSwitch's ports; it decides what the programs at their other ends use."""

    VHOST_USER = "vhost-user"
    KERNEL = "kernel"
    AF_PACKET = "af-packet"
    AF_XDP = "af-xdp"

    @property
    def on_veth(self) -> bool:
        """The ports are interfaces of the kernel."""
        return self is not OvsPorts.VHOST_USER

    @property
    def polled(self) -> bool:
        """PMD threads poll the ports; otherwise the main thread waits for their frames."""
        return self is not OvsPorts.KERNEL


class BondMode(StrEnum):
    """Choice of the link on which a frame leaves a bond. none: there is no bond."""

    NONE = "none"
    ACTIVE_BACKUP = "active-backup"
    BALANCE_SLB = "balance-slb"
    BALANCE_TCP = "balance-tcp"


class PageSize(StrEnum):
    MIB_2 = "2M"
    GIB_1 = "1G"

    @property
    def kib(self) -> int:
        return 2048 if self is PageSize.MIB_2 else 1024 * 1024


@dataclass(frozen=True, slots=True)
class Ovs:
    """Factors of Open vSwitch with DPDK alone. The defaults are its own."""

    ports: OvsPorts = OvsPorts.VHOST_USER
    """What its ports are. vhost-user: memory that it shares with the program at the other end; all
    others are veth interfaces of the kernel. kernel: it reads their frames from packet sockets, in
    its main thread; af-packet: its PMD threads do, by DPDK's driver; af-xdp: its PMD threads have
    XDP sockets there, which an Open vSwitch must have been built with."""
    emc: bool = True
    """The exact match cache: one of a hundred new flows gets an entry, as Open vSwitch has it.
    Off: none does."""
    smc: bool = False
    """The signature match cache, which is looked in behind the exact match cache."""
    rxq_assign: RxqAssign = RxqAssign.CYCLES
    """Which PMD thread polls which receive queue. roundrobin: in turn; cycles: in turn, the busiest
    queues first; group: the thread with the least work gets the next; pinned: queue by queue in
    turn, and never changed."""
    auto_lb: bool = False
    """Open vSwitch assigns receive queues anew where that would even out the PMD threads' work
    (at its own intervals: once a minute, at 95% load)."""
    pmd_max_sleep_us: Annotated[int, Ge(0), Le(10_000)] = 0
    """How long a PMD thread without frames may sleep, in microseconds; 0: it never does."""
    memory: PortMemory = PortMemory.SHARED
    """shared: ports with one MTU share a pool of buffers; per-port: each has its own."""
    pages: PageSize = PageSize.MIB_2
    """Its huge pages. 4 KiB are not to be had: Open vSwitch asks DPDK for memory without files,
    which DPDK has in huge pages only."""
    bridges: Annotated[int, Ge(1), Le(2)] = 1
    """2: as OpenStack has it, one bridge with the physical ports and one with the network functions
    (with p2p: with the second port), joined by patch ports."""
    vlan: VlanTranslation = VlanTranslation.NONE
    """What becomes of the tag traffic.vlan_id from the first bridge to the second, and is undone on
    the way back: strip: it is taken off; rewrite: it becomes local_vlan_id."""
    local_vlan_id: VlanId = 1000
    """With vlan = "rewrite", the tag on the second bridge."""
    routes: bool = False
    """It forwards by the IP address that a frame is sent to, as a router: it decreases the TTL and
    writes the next hop's address (p2p only)."""
    bond: BondMode = BondMode.NONE
    """Whether each port towards the generator is a bond of two links. At their other ends is a
    second Open vSwitch, the link partner, which stands for the network and is not the SUT.
    active-backup: one link is in use; balance-slb: each source MAC and VLAN has a link;
    balance-tcp: each flow has one, and LACP agrees on the links."""
