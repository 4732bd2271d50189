# SPDX-License-Identifier: Apache-2.0
"""Define the network function of a point, and the virtual machine that it may run in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le

from wirespeed.model.input.text import Word


class VnfMode(StrEnum):
    IO = "io"
    MAC = "mac"
    MACSWAP = "macswap"


class VnfPages(StrEnum):
    """Page size of the memory of a function's own process."""

    HUGE = "huge"
    SMALL = "4K"


class VnfThreads(StrEnum):
    """CPUs over which the scheduler may move the threads of a function's own process."""

    ANYWHERE = "anywhere"
    NODE = "node"
    PINNED = "pinned"


@dataclass(frozen=True, slots=True)
class Vnf:
    """The network function, or the forwarder of the host topology."""

    kind: Word = "wsdp"
    """Type of the network function."""
    mode: VnfMode = VnfMode.MAC
    """Change to a frame: none, rewrite the destination MAC, or swap both MACs. bng has no such
    choice."""
    workers: Annotated[int, Ge(1), Le(16)] = 1
    """bng only: number of workers that share the subscribers. 1: both directions are two tasks of
    one lcore. More: the layout of Intel 2015 (S1), with load balancers in front of the workers and
    aggregation behind them. In the host topology each of these gets a CPU if there are enough
    cores, two workers per core. Otherwise all tasks take turns on one lcore."""
    placement: Word | None = None
    """VNF placement. Default: process if the machine has the cores, else shared."""
    pages: VnfPages = VnfPages.HUGE
    """Pages of the memory of its own process. huge: 2 MiB; 4K: 4 KiB."""
    threads: VnfThreads = VnfThreads.PINNED
    """CPUs of the threads of its own process. anywhere: the scheduler uses all CPUs; node: the CPUs
    of the memory's NUMA node; pinned: each thread has a CPU."""

    @property
    def untuned(self) -> tuple[tuple[str, str], ...]:
        """Settings that only an own process has and that differ from the default."""
        usual = Vnf()
        return tuple(
            (f"sut.vnf.{key}", str(value))
            for key in ("pages", "threads")
            if (value := getattr(self, key)) is not getattr(usual, key)
        )


class GuestPages(StrEnum):
    """Backing of a guest's memory."""

    HUGE = "huge"
    MEMFD = "memfd"


class EmulatorThreads(StrEnum):
    """CPUs of QEMU's own threads, which are not virtual CPUs."""

    APART = "apart"
    ON_VCPUS = "on-vcpus"


@dataclass(frozen=True, slots=True)
class Guest:
    """Virtual machine of a VNF, or of a host of a TCP test.

    A VNF runs in one with sut.vnf.placement = "guest".
    """

    vcpus: Annotated[int, Ge(1), Le(8)] | None = None
    """Virtual CPUs. The first runs the guest's kernel and control; a VNF's data plane has the
    others. With one vCPU they take turns. Default: two, or one for each queue of its ports."""
    memory_mib: Annotated[int, Ge(256), Le(65_536)] | None = None
    """Memory in MiB. Default: the need of the packets, or of TCP's buffers, and of the guest's
    system."""
    pages: GuestPages = GuestPages.HUGE
    """Backing of that memory. huge: 2 MiB huge pages of the host; memfd: shared memory in pages of
    4 KiB."""
    emulator: EmulatorThreads = EmulatorThreads.APART
    """CPUs of QEMU's own threads. apart: a CPU without a data plane vCPU; on-vcpus: the CPUs of the
    vCPUs, whose time they then take."""
