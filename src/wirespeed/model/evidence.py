# SPDX-License-Identifier: Apache-2.0
"""What disturbed a trial, when and on which CPU? What was counted in each window of it?

`Evidence` and `Windows` are separate on purpose: measure/gate.py reads evidence alone, so that no
count can decide which time counts. All times are ns since the trial's first frame was due.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DisturbanceKind(StrEnum):
    STOPPED = "stopped"
    """The thread did not run."""
    LATE = "late"
    """The generator did not offer what it intended to."""
    MOVED = "moved"
    """The hypervisor moved the CPUs to other cores during the trial; it covers the whole trial."""

    INTERRUPTED = "interrupted"
    """Interrupts came too often on the CPU for its time to count; it covers the whole trial."""


class Source(StrEnum):
    """What shows a disturbance."""

    POLL_GAP = "poll gap"
    """The thread timed its polls; the length leaves out what its rounds usually take."""
    FROZEN = "frozen"
    """The same, but for longer than a scheduler takes a CPU away, and while that CPU ran: the
    program was stopped, or waited for something itself."""
    CONTEXT_SWITCH = "context switch"
    """The kernel recorded that another program took the CPU from the thread."""
    SINK_SILENCE = "sink silence"
    """No frame arrived, and the contention probe on the CPU of the SUT's thread was stopped too."""
    SCHEDULE = "generator's schedule"
    """The generator offered less than was due."""
    CPU_PLACEMENT = "CPU placement probe"
    """What the CPUs share differed before and after the trial."""
    INTERRUPTS = "interrupt counts"
    """The kernel's counts before and after the trial; no moment is known."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """role: "generator" (generates or analyses) or "sut" (forwards). cpu: -1 where not one CPU."""

    cpu: int
    begin_ns: int
    length_ns: int
    kind: DisturbanceKind
    source: Source
    role: str


@dataclass(frozen=True, slots=True)
class ContentionSamples:
    """The samples of the SMT contention probe on one CPU.

    at_ns: when each sample was taken, ascending. slowness: how long a fixed piece of work took,
    relative to the fastest: 1.0 undisturbed, up to 2 where something else uses the core.
    forwards: whether a thread of the SUT polls on this CPU. A slow CPU of the generator does not
    matter while the generator keeps its schedule. host: whose CPU, where a bench has several
    hosts.
    """

    cpu: int
    forwards: bool
    at_ns: tuple[int, ...]
    slowness: tuple[float, ...]
    host: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All disturbances of a trial that were observed.

    unseen: what could not be watched, a sentence each (perf forbidden, a log that overflowed, a
    clock that is not invariant). A trial with such a gap in its evidence is never quiet.
    clock_error_ns: how wrong moments on another host than the generator's may be; disturbances
    there are longer by so much at both ends.
    """

    disturbances: tuple[Disturbance, ...] = ()
    contention: tuple[ContentionSamples, ...] = ()
    unseen: tuple[str, ...] = ()
    clock_error_ns: int = 0

    def __add__(self, other: Evidence) -> Evidence:
        """What was seen on two hosts."""
        return Evidence(
            self.disturbances + other.disturbances,
            self.contention + other.contention,
            tuple(dict.fromkeys(self.unseen + other.unseen)),
            max(self.clock_error_ns, other.clock_error_ns),
        )


@dataclass(frozen=True, slots=True)
class DirectionWindows:
    """Frames of one direction by the time of sending, one value for each window.

    offered, received: frames whose time stamp lies in the window; each counts once. unsent: frames
    due in the window that the generator gave up. latency_ns: the least latency (ns) of the frames
    sent in the window's first half, -1.0 where none of them arrived; it shows how much was queued.
    """

    name: str
    offered: tuple[int, ...]
    unsent: tuple[int, ...]
    received: tuple[int, ...]
    latency_ns: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Windows:
    """A trial in windows of equal length, by the time stamp that each frame carries.

    Window i begins at begin_ns + i * window_ns; only windows that lie wholly in the trial are here.
    Only frames with a stamp are counted, so that every missing frame of a window is a lost one:
    ARP, which a SUT consumes on purpose, carries no stamp.
    """

    begin_ns: int
    window_ns: int
    directions: tuple[DirectionWindows, ...]

    @property
    def count(self) -> int:
        return len(self.directions[0].offered) if self.directions else 0
