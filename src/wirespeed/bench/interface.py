# SPDX-License-Identifier: Apache-2.0
"""What does the rest of wirespeed see of a bench, and what is one part of it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.errors import WirespeedError
from wirespeed.model.hop_counts import Counted, DropCause
from wirespeed.model.observation import Observation
from wirespeed.model.tcp import TcpRun
from wirespeed.remote.interface import Process


class BenchError(WirespeedError):
    """A bench could not be set up, or a part of it failed during a trial."""


class Bench(Protocol):
    """A realised topology with traffic generator: what a search measures."""

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        """Offer load_fps (summed over all directions) for duration_s; stop, drain, then count.

        Raises BenchError when a part of the bench ended during the trial.
        """
        ...

    def place(self, after_s: float) -> CpuPlacement | None:
        """Probe where the polling CPUs are, after_s seconds from now; None: it is not known."""
        ...

    def describe(self) -> Mapping[str, object]:
        """Versions, configuration files and commands, for the run record."""
        ...

    @property
    def emulated(self) -> str | None:
        """See SearchResult."""
        ...


class TcpBench(Protocol):
    """Hosts joined as a point with a [tcp] table asks, with a server that clients can test."""

    def run(self) -> TcpRun:
        """Let every client test once, all at the same time. Raises BenchError when one fails."""
        ...

    def describe(self) -> Mapping[str, object]:
        """Versions, configuration and commands, for the run record."""
        ...

    @property
    def emulated(self) -> str | None:
        """See SearchResult."""
        ...


class Way(StrEnum):
    """How a frame passes a port of a hop."""

    IN = "in"
    OUT = "out"


@dataclass(frozen=True, slots=True)
class HopCount:
    """What one hop did with the frames handed to it, by port.

    entered: frames that came in through each port. left: frames that went out through each port.
    drops: frames that did neither, by place (e.g. "switch:vnf0a") and cause. Frames are conserved
    at a hop that forwards when everything that entered has left or was dropped; a traffic generator
    is where frames begin and end. workers: frames that each of
    several workers took, by its number and the port that they came in by. events: see HopEvents.
    queues: frames by port and queue, of ports that have several. links: frames that entered and
    left by each link of the ports that are bonds.
    """

    hop: str
    entered: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)
    drops: Mapping[tuple[str, DropCause], int] = field(default_factory=dict)
    workers: Mapping[tuple[int, str], int] = field(default_factory=dict)
    events: Mapping[tuple[str, Counted], int] = field(default_factory=dict)
    queues: Mapping[tuple[str, int], int] = field(default_factory=dict)
    links: Mapping[tuple[str, Way], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Poller:
    """A thread that polls. timed: whether it times its own polls (`Part.gap_logs`). sleeps: whether
    it sleeps without frames on purpose."""

    tid: int
    name: str
    role: str
    timed: bool
    sleeps: bool = False


@dataclass(frozen=True, slots=True)
class GapLog:
    """When a thread that times its own polls was away from its queues.

    gaps: (begin, length) in cycles of the TSC; what its rounds usually take is not part of a
    length. overflowed: how many more there were.
    """

    thread: str
    role: str
    cpu: int
    gaps: tuple[tuple[int, int], ...]
    overflowed: int


@dataclass(frozen=True, slots=True)
class Busy:
    """How long a polling thread has had frames to handle, and how long it has polled; both in the
    same unit, cycles or ns. awake: whether the total excludes the time that the thread slept."""

    busy: int
    total: int
    awake: bool = False


class Part(Protocol):
    """One part of a bench: a vSwitch, a network function, the generator.

    Brought up in order and taken down in reverse. Whatever `up` does to the host it first writes
    to the journal, so that it is undone even when `down` never runs.
    """

    @property
    def name(self) -> str: ...

    def up(self) -> None:
        """Start, without waiting for other parts. Raises BenchError with what failed."""
        ...

    def waits_for(self) -> str | None:
        """None once it can carry traffic, else what it still waits for; asked again and again."""
        ...

    def alive(self) -> str | None:
        """None while it works, else in one sentence how it ended."""
        ...

    @property
    def processes(self) -> tuple[Process, ...]:
        """Its programs; a trial watches them."""
        ...

    def begin(self) -> None:
        """A trial is about to start: forget gaps and other things that do not add up."""
        ...

    def read(self) -> tuple[HopCount, ...]:
        """The counts of its hops, as of now; between two `begin` they only grow."""
        ...

    def pollers(self) -> tuple[Poller, ...]:
        """Its polling threads."""
        ...

    def gap_logs(self) -> tuple[GapLog, ...]:
        """Of those that time their own polls, since `begin`."""
        ...

    def busy(self) -> Mapping[int, Busy]:
        """Of those that measure it, by thread id."""
        ...

    @property
    def unwatched(self) -> str | None:
        """What of its disturbances nobody sees, in one sentence; None where its threads are
        watched, or it does nothing in the data path."""
        ...

    def down(self) -> None:
        """Stop. Never raises because it is stopped already."""
        ...

    def describe(self) -> Mapping[str, object]:
        """Version, command, configuration."""
        ...


# So many seconds after the first frame is due, and what is done then.
Step = tuple[float, Callable[[], object]]


class Injection(Protocol):
    """What causes a fault on purpose while a bench is up (bench/fault).

    Whatever it does to the host is journalled, or ends with a process that is.
    """

    def up(self) -> None:
        """The path has passed frames; from now on it has the fault, or can be given it."""
        ...

    def begin(self) -> None:
        """A trial is about to start; parts have not been asked for counts yet."""
        ...

    def steps(self, duration_s: float) -> Sequence[Step]:
        """What is done while frames are offered for so long, by time. Each must be quick: what
        asks the pollers takes their CPU."""
        ...

    def rest(self) -> None:
        """The time of the traffic is over: let everything answer questions again."""
        ...

    def down(self) -> None:
        """The bench is about to be taken down. Never raises because that has begun."""
        ...


class UnpolledPart:
    """What a part says of polling threads that has none: a server program, a kernel bridge."""

    unwatched: str | None = None

    def pollers(self) -> tuple[Poller, ...]:
        return ()

    def gap_logs(self) -> tuple[GapLog, ...]:
        return ()

    def busy(self) -> Mapping[int, Busy]:
        return {}


class UnstartedPart(UnpolledPart):
    """What a part says of programs that has none: it works from the moment that it is up."""

    def waits_for(self) -> str | None:
        return None

    def alive(self) -> str | None:
        return None

    @property
    def processes(self) -> tuple[Process, ...]:
        return ()
