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
    """Selection of a bond's link for each frame; none: there is no bond."""

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
    """Settings that only Open vSwitch with DPDK has. Defaults are those of Open vSwitch."""

    ports: OvsPorts = OvsPorts.VHOST_USER
    """Port type. vhost-user: memory shared with the program at the other endpoint. All others are
    veth interfaces of the kernel. kernel: its main thread reads frames from packet sockets;
    af-packet: its PMD threads do, through DPDK's driver; af-xdp: its PMD threads use XDP sockets,
    which needs an Open vSwitch built with AF_XDP."""
    emc: bool = True
    """Exact match cache. On: one in 100 new flows gets an entry (Open vSwitch's default). Off: none
    does."""
    smc: bool = False
    """Signature match cache; it is searched after the exact match cache."""
    rxq_assign: RxqAssign = RxqAssign.CYCLES
    """Assignment of receive queues to PMD threads. roundrobin: in turn; cycles: in turn, the
    busiest queues first; group: the next queue goes to the thread with the least work; pinned: in
    turn, and fixed."""
    auto_lb: bool = False
    """Open vSwitch reassigns receive queues if that balances the PMD threads' work. It checks once
    a minute, at 95% load."""
    pmd_max_sleep_us: Annotated[int, Ge(0), Le(10_000)] = 0
    """Longest sleep of a PMD thread without frames, in µs; 0: it never sleeps."""
    memory: PortMemory = PortMemory.SHARED
    """shared: ports of the same MTU share a pool of buffers; per-port: each has its own."""
    pages: PageSize = PageSize.MIB_2
    """Huge page size. 4 KiB is not supported: Open vSwitch requests DPDK memory without files,
    which DPDK provides only in huge pages."""
    bridges: Annotated[int, Ge(1), Le(2)] = 1
    """2: one bridge with the physical ports and one with the network functions, joined by patch
    ports, as in OpenStack. With p2p the second bridge has the second port."""
    vlan: VlanTranslation = VlanTranslation.NONE
    """Change of the tag traffic.vlan_id from the first bridge to the second; the way back reverses
    it. strip: remove the tag; rewrite: replace it by local_vlan_id."""
    local_vlan_id: VlanId = 1000
    """With vlan = "rewrite", the tag on the second bridge."""
    routes: bool = False
    """Route by destination IP address: decrease the TTL and write the next hop's address (p2p
    only)."""
    bond: BondMode = BondMode.NONE
    """Bond of two links on each port towards the generator. The link partner is a second Open
    vSwitch that represents the network and is not the SUT. active-backup: one link is used;
    balance-slb: the source MAC and VLAN select the link; balance-tcp: the flow selects it, and LACP
    negotiates the links."""
