# SPDX-License-Identifier: Apache-2.0
"""Define the virtual switch of a point."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final

from annotated_types import Ge, Le

from wirespeed.model.input.own_key import OwnKey
from wirespeed.model.input.text import Word
from wirespeed.model.study.ovs import Ovs

Cpu = Annotated[int, Ge(0)]
# Per ring.
MAX_DESCRIPTORS = 4096
# Metadata of a field that is no key of a study file.
NOT_WRITTEN: Final = {"written": False}


class KernelDriver(StrEnum):
    """Socket type that wsdp uses on a kernel interface."""

    AF_PACKET = "af-packet"
    AF_XDP = "af-xdp"


@dataclass(frozen=True, slots=True)
class Vswitch:
    """The virtual switch. The plan decides omitted values without a default."""

    pmd_cpus: tuple[Cpu, ...] | None = None
    """CPUs that forward: those of the PMD threads, or of the kernel's softirqs."""
    socket_memory_mib: Annotated[int, Ge(64)] | None = None
    """Huge page memory of the vSwitch."""
    rx_queues: Annotated[int, Ge(1), Le(16)] = 1
    """Receive queues of each port."""
    descriptors: Annotated[int, Ge(64), Le(MAX_DESCRIPTORS)] = 1024
    """Descriptors of each receive and transmit ring; a power of two."""
    mtu: Annotated[int, Ge(68), Le(9198)] | None = None
    """MTU of the ports in octets of the IP packet. Default: the size that the largest frame
    needs."""
    kind: Word = "ovs-dpdk"
    """Type of the switch."""
    driver: KernelDriver = KernelDriver.AF_PACKET
    """DPDK driver that generator and functions use on kernel interfaces. It applies to linux-bridge
    and linux-router, and to ovs-dpdk and wsdp-router if their ports are kernel interfaces."""
    ovs: Ovs = field(default_factory=Ovs)
    own: tuple[OwnKey, ...] = field(default=(), metadata=NOT_WRITTEN)
    """Keys of the table sut.vswitch.NAME that one type of switch has, by name, with
    the defaults of omitted keys. A study writes that table."""
