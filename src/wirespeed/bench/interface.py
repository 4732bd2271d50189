# SPDX-License-Identifier: Apache-2.0
"""Define what the rest of wirespeed sees of a bench, and what a component of it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.errors import WirespeedError
from wirespeed.model.result.hop_counts import Counted, DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.route_churn import RouteChurn
from wirespeed.model.result.tcp import TcpRun
from wirespeed.remote.interface import Process


class BenchError(WirespeedError):
    """A bench could not be set up, or a component failed during a trial."""


class Bench(Protocol):
    """A topology with traffic generator, ready to be measured by a search."""

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        """Offer load_fps (sum of all directions) for duration_s; stop, drain, then count.

        Returns frames per direction, drops and evidence. Raises BenchError when a component ended
        during the trial.
        """
        ...

    def place(self, after_s: float) -> CpuPlacement | None:
        """Probe where the polling CPUs are, after_s seconds from now; None if unknown."""
        ...

    def describe(self) -> Mapping[str, object]:
        """Return versions, configuration files and commands, for the run record."""
        ...

    @property
    def emulated(self) -> str | None:
        """See SearchResult."""
        ...


class TcpBench(Protocol):
    """Hosts joined as a point's [tcp] table asks, with a server that clients test against."""

    def run(self) -> TcpRun:
        """Let every client test once, all at the same time. Raises BenchError when one fails."""
        ...

    def describe(self) -> Mapping[str, object]:
        """Return versions, configuration and commands, for the run record."""
        ...

    @property
    def emulated(self) -> str | None:
        """See SearchResult."""
        ...


class Way(StrEnum):
    """Direction in which a frame passes a port of a hop."""

    IN = "in"
    OUT = "out"


@dataclass(frozen=True, slots=True)
class HopCount:
    """Frames that one hop handled, by port.

    Frames are conserved at a hop that forwards: everything that entered has left or was dropped. At
    a traffic generator frames begin and end.
    """

    hop: str
    entered: Mapping[str, int] = field(default_factory=dict)
    """Frames that came in, by port."""
    left: Mapping[str, int] = field(default_factory=dict)
    """Frames that went out, by port."""
    drops: Mapping[tuple[str, DropCause], int] = field(default_factory=dict)
    """Frames that did not leave, by place (e.g. "switch:vnf0a") and cause."""
    workers: Mapping[tuple[int, str], int] = field(default_factory=dict)
    """Frames that a worker took, by its number and the port by which they came in."""
    events: Mapping[tuple[str, Counted], int] = field(default_factory=dict)
    """Events other than frames; see HopEvents."""
    queues: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """Frames by port and queue, of ports with several queues."""
    links: Mapping[tuple[str, Way], int] = field(default_factory=dict)
    """Frames that entered and left by each link of ports that are bonds."""


@dataclass(frozen=True, slots=True)
class Poller:
    """A thread that polls."""

    tid: int
    name: str
    role: str
    timed: bool
    """True if it records the times of its polls (`Part.gap_logs`)."""
    sleeps: bool = False
    """True if it sleeps by design when there are no frames."""


@dataclass(frozen=True, slots=True)
class GapLog:
    """Times at which a thread that records its polls was away from its queues."""

    thread: str
    role: str
    cpu: int
    gaps: tuple[tuple[int, int], ...]
    """(begin, length) in TSC cycles; the length excludes the usual duration of a round."""
    overflowed: int
    """Number of gaps that did not fit in the log."""


@dataclass(frozen=True, slots=True)
class Busy:
    """Busy and polling time of a polling thread, both in the same unit: cycles or ns."""

    busy: int
    """Time with frames to handle."""
    total: int
    """Time of polling."""
    awake: bool = False
    """True if the total excludes the time that the thread slept."""


class Part(Protocol):
    """A component of a bench: a vSwitch, a network function, the generator.

    Components start in order and stop in reverse. `up` journals each change before it makes it, so
    that it is undone even when `down` never runs.
    """

    @property
    def name(self) -> str: ...

    def up(self) -> None:
        """Start, without waiting for other components. Raises BenchError with what failed."""
        ...

    def waits_for(self) -> str | None:
        """Return None once it can carry traffic, else what it waits for; called repeatedly."""
        ...

    def alive(self) -> str | None:
        """Return None while it works, else how it ended, as a sentence."""
        ...

    @property
    def processes(self) -> tuple[Process, ...]:
        """Return its programs; a trial watches them."""
        ...

    @property
    def programs(self) -> tuple[int, ...]:
        """Return the numbers of its programs on its own host; those in a guest have none there."""
        ...

    def begin(self) -> None:
        """Prepare for a trial: reset gaps and other records that are not cumulative."""
        ...

    def read(self) -> tuple[HopCount, ...]:
        """Return the counts of its hops as of now; they only grow between two `begin`."""
        ...

    def pollers(self) -> tuple[Poller, ...]:
        """Return its polling threads."""
        ...

    def gap_logs(self) -> tuple[GapLog, ...]:
        """Return the gaps since `begin` of threads that record their polls."""
        ...

    def busy(self) -> Mapping[int, Busy]:
        """Return the busy time of threads that measure it, by thread ID."""
        ...

    @property
    def unwatched(self) -> str | None:
        """Return which of its noise nobody observes, as a sentence.

        None where its threads are watched, or where it does nothing in the data path.
        """
        ...

    def down(self) -> None:
        """Stop. Never raises because it is stopped already."""
        ...

    def describe(self) -> Mapping[str, object]:
        """Return version, command and configuration."""
        ...


# Seconds after the first frame is due, and the action at that time.
Step = tuple[float, Callable[[], object]]


class Injection(Protocol):
    """An injected fault, present while a bench is up (bench/fault).

    Every change to the host is journalled, or ends with a journalled process.
    """

    def up(self) -> None:
        """Inject the fault, or prepare to: the path has passed frames before."""
        ...

    def begin(self) -> None:
        """Prepare for a trial; the components have not been read yet."""
        ...

    def steps(self, duration_s: float) -> Sequence[Step]:
        """Return the actions during traffic of this duration, by time.

        Each must be quick: a query to pollers takes their CPU.
        """
        ...

    def rest(self) -> None:
        """Resume telemetry after traffic."""
        ...

    def down(self) -> None:
        """Remove the fault before the bench is taken down. Never raises because that has begun."""
        ...


@runtime_checkable
class ChangesRoutes(Protocol):
    """An injection that changes routes during a trial."""

    def settle(self) -> RouteChurn:
        """Wait until all that hold the routes agree, and report the changes of the trial.

        Raises BenchError if they do not agree in time.
        """
        ...


class UnpolledPart:
    """Base of a component without polling threads: a server program, a kernel bridge."""

    unwatched: str | None = None

    def pollers(self) -> tuple[Poller, ...]:
        return ()

    def gap_logs(self) -> tuple[GapLog, ...]:
        return ()

    def busy(self) -> Mapping[int, Busy]:
        return {}


class UnstartedPart(UnpolledPart):
    """Base of a component without programs: it works as soon as it is up."""

    def waits_for(self) -> str | None:
        return None

    def alive(self) -> str | None:
        return None

    @property
    def processes(self) -> tuple[Process, ...]:
        return ()

    @property
    def programs(self) -> tuple[int, ...]:
        return ()
