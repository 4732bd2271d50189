# SPDX-License-Identifier: Apache-2.0
"""Define the evidence of disturbances in a trial, and the frame counts of its windows.

`Evidence` and `Windows` are separate types: measure/gate.py reads evidence alone, so that no count
decides which time counts. All times are ns since the trial's first frame was due.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# Slowness of a contention sample above which the core was shared, relative to the fastest tenth of
# the session; on a shared core it is 1.3 and more.
SLOW: Final = 1.10


class DisturbanceKind(StrEnum):
    STOPPED = "stopped"
    """The thread did not run."""
    LATE = "late"
    """The generator did not offer the intended load."""
    MOVED = "moved"
    """The hypervisor moved the CPUs to other cores during the trial. Covers the whole trial."""

    INTERRUPTED = "interrupted"
    """Interrupts were too frequent on the CPU for its time to count. Covers the whole trial."""

    THROTTLED = "throttled"
    """Heat lowered the CPU's clock. Covers the whole trial."""


class Source(StrEnum):
    """Source of evidence for a disturbance."""

    POLL_GAP = "poll gap"
    """The thread timed its polls. The length excludes the usual duration of a round."""
    FROZEN = "frozen"
    """A poll gap longer than a scheduler takes a CPU away, on a CPU that was running: the program
    was stopped, or waited for something."""
    CONTEXT_SWITCH = "context switch"
    """The kernel recorded that another program took the CPU from the thread."""
    SINK_SILENCE = "sink silence"
    """No frame arrived while the contention probe on the CPU of the SUT's thread was stopped too.
    """
    SCHEDULE = "generator's schedule"
    """The generator offered fewer frames than were due."""
    CPU_PLACEMENT = "CPU placement probe"
    """The CPU placement differed before and after the trial."""
    INTERRUPTS = "interrupt counts"
    """The kernel's interrupt counts before and after the trial; the moments are not known."""
    THROTTLE_COUNTS = "thermal throttle counts"
    """The kernel's counts of thermal throttling before and after the trial; likewise."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One disturbance of a thread or CPU in a trial."""

    cpu: int
    """-1 if the disturbance is not confined to one CPU."""
    begin_ns: int
    length_ns: int
    kind: DisturbanceKind
    source: Source
    role: str
    """Either "generator" (generates or analyses) or "sut" (forwards)."""
    count: int = 1
    """Number of events in it, for a source that counts them without their moments."""


@dataclass(frozen=True, slots=True)
class ContentionSamples:
    """Samples of the SMT contention probe on one CPU."""

    cpu: int
    forwards: bool
    """A thread of the SUT polls on this CPU. A slow CPU of the generator does not matter while the
    generator keeps its schedule."""
    at_ns: tuple[int, ...]
    """Time of each sample, ascending."""
    slowness: tuple[float, ...]
    """Duration of a fixed piece of work, relative to the fastest: 1.0 on an idle core, up to 2
    while something else uses the core."""
    host: str = ""
    """Host of the CPU, for a bench of several hosts."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All observed disturbances of a trial."""

    disturbances: tuple[Disturbance, ...] = ()
    contention: tuple[ContentionSamples, ...] = ()
    unseen: tuple[str, ...] = ()
    """One sentence for each source that could not be watched: perf forbidden, a log that
    overflowed, a clock that is not invariant. A trial with such a gap is never quiet."""
    clock_error_ns: int = 0
    """Largest clock error of hosts other than the generator's. Disturbances there are extended by
    it at both ends."""

    def __add__(self, other: Evidence) -> Evidence:
        """Merge the evidence of two hosts."""
        return Evidence(
            self.disturbances + other.disturbances,
            self.contention + other.contention,
            tuple(dict.fromkeys(self.unseen + other.unseen)),
            max(self.clock_error_ns, other.clock_error_ns),
        )


@dataclass(frozen=True, slots=True)
class DirectionWindows:
    """Frames of one direction by the time of sending, one value per window."""

    name: str
    offered: tuple[int, ...]
    """Frames whose time stamp lies in the window, each counted once."""
    unsent: tuple[int, ...]
    """Frames due in the window that the generator gave up."""
    received: tuple[int, ...]
    """Frames whose time stamp lies in the window and that arrived, each counted once."""
    latency_ns: tuple[float, ...]
    """Least latency of the frames sent in the window's first half, in ns; -1.0 if none arrived. It
    shows how much was queued."""


@dataclass(frozen=True, slots=True)
class Windows:
    """A trial divided into windows of equal length, by the time stamp in each frame.

    Window i begins at begin_ns + i * window_ns. Only windows wholly within the trial are listed.
    Only frames with a stamp are counted, so every missing frame of a window is lost. ARP, which a
    SUT consumes on purpose, carries no stamp.
    """

    begin_ns: int
    window_ns: int
    directions: tuple[DirectionWindows, ...]

    @property
    def count(self) -> int:
        return len(self.directions[0].offered) if self.directions else 0
