# SPDX-License-Identifier: Apache-2.0
"""Define what a host's CPUs are found fit for, before any frame is sent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """Reason why a polling thread did not poll."""

    PROGRAM = "program"
    """Another thread ran on the CPU: the kernel recorded the switch."""
    STOPPED = "stopped"
    """The thread left the CPU and none ran that the records show: a page fault, a signal, a
    freezer, a quota, or a program outside this container."""
    HYPERVISOR = "hypervisor"
    """The kernel switched to no thread, and it counted steal time for the CPU."""
    FIRMWARE = "firmware"
    """The kernel switched to no thread, and the processor counted system management interrupts."""
    NO_PROGRAM = "no program"
    """The kernel switched to no thread, and nothing was counted: an interrupt, the hypervisor or
    the firmware."""
    UNKNOWN = "unknown"
    """Context switches were not recorded."""


@dataclass(frozen=True, slots=True)
class Interrupter:
    """One cause of gaps on a CPU."""

    cause: Cause
    name: str
    """Name of the program; empty for other causes."""
    gaps: int
    longest_ns: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class BusyInterrupt:
    """Interrupt source with its rate on a CPU."""

    source: str
    """The kernel's name of the source, e.g. "Local timer interrupts"."""
    per_s: float


@dataclass(frozen=True, slots=True)
class QualifiedCpu:
    """Gaps of one CPU on which a thread polled all the time."""

    cpu: int
    gaps: int
    """Number of gaps longer than the limit."""
    longest_ns: int
    """Longest gap; 0 without any."""
    longest_by: str
    """Cause of the longest gap, in words; empty without any."""
    total_ns: int
    backlog_ns: int
    """Longest time that frames waited for: the longest gap, and what earlier gaps left when the
    poller takes frames twice as fast as they arrive."""
    interrupters: tuple[Interrupter, ...]
    """Longest gap first."""
    interrupts: tuple[BusyInterrupt, ...]
    """Most frequent first; at most three."""
    steal_ns: int
    """Steal time that the kernel counted, in steps of 10 ms; 0 on bare metal."""
    smis: int | None
    """System management interrupts meanwhile; None where the processor does not tell."""


@dataclass(frozen=True, slots=True)
class RingNeed:
    """Rate up to which a ring loses nothing in the longest backlog."""

    descriptors: int
    lossless_fps: float | None
    """None where no gap was found: the rings limit no rate."""


@dataclass(frozen=True, slots=True)
class Qualification:
    """Gaps of a host's CPUs without traffic, and the rings that they need."""

    watched_s: float
    """Time in which gaps were recorded."""
    gap_limit_ns: int
    """Shorter gaps are not recorded."""
    priority: str
    """Priority that the polling threads had, in words."""
    cpus: tuple[QualifiedCpu, ...]
    rings: tuple[RingNeed, ...]
    moved: bool | None
    """The hypervisor moved the CPUs meanwhile; None: one CPU only, or it could not be measured."""
    unseen: tuple[str, ...]
    """One sentence for each source that could not be watched."""
    host: str = ""
    """Name of the host; empty in documents before version 1.1."""

    @property
    def worst(self) -> QualifiedCpu:
        """CPU with the longest backlog, the first of several."""
        return max(self.cpus, key=lambda each: each.backlog_ns)
