# SPDX-License-Identifier: Apache-2.0
"""What disturbed a trial, when and on which CPU; and what was counted meanwhile, window by window?

The two are apart on purpose: measure/gate.py reads evidence alone, so that no count can decide
which time counts. All times are ns since the trial's first frame was due.
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
    """The hypervisor placed the CPUs on other cores meanwhile; it covers the whole trial."""


class Source(StrEnum):
    """What says so."""

    POLL_GAP = "poll gap"
    """The thread timed its own polls; what its rounds usually take is not part of the length."""
    CONTEXT_SWITCH = "context switch"
    """The kernel recorded that another program took the CPU from the thread."""
    SINK_SILENCE = "sink silence"
    """Nothing arrived, and a witness on the CPU of the SUT's thread was stopped as well."""
    SCHEDULE = "generator's schedule"
    """What was offered, beside what was due."""
    CPU_PLACEMENT = "CPU placement probe"


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
    """How fast was a CPU, as the SMT contention probe found it time and again?

    at_ns: when each sample was taken, ascending. slowness: how long a fixed piece of work took
    then, of what it takes at best: 1.0 undisturbed, up to 2 where something else uses the core.
    forwards: whether a thread of the SUT polls on this CPU; a slow generator that keeps its
    schedule changes nothing.
    """

    cpu: int
    forwards: bool
    at_ns: tuple[int, ...]
    slowness: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that was seen to disturb a trial.

    unseen: what could not be watched, a sentence each (perf forbidden, a log that overflowed, a
    clock that is not invariant). Nobody can call such a trial quiet.
    """

    disturbances: tuple[Disturbance, ...] = ()
    contention: tuple[ContentionSamples, ...] = ()
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DirectionWindows:
    """Frames of one direction by the moment of sending, a value a window.

    offered, received: frames that carry that time stamp; each counts once. unsent: frames that the
    generator gave up in that window. latency_ns: the least latency (ns) of the frames sent in the
    window's first half, -1.0 where none of them arrived; it says how much was queued then.
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
    Only stamped frames are counted: ARP, which a SUT handles on purpose, is in no window, so that
    what is missing in one is lost.
    """

    begin_ns: int
    window_ns: int
    directions: tuple[DirectionWindows, ...]

    @property
    def count(self) -> int:
        return len(self.directions[0].offered) if self.directions else 0
