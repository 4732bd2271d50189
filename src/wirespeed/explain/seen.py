# SPDX-License-Identifier: Apache-2.0
"""Define what all trials of a point showed together (`sum_trials.py` makes the sums)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from wirespeed.model.result.change import Change
from wirespeed.model.result.evidence import DisturbanceKind, Source
from wirespeed.model.result.hop_counts import Counted, DropCause
from wirespeed.model.result.observation import Competitor
from wirespeed.model.result.thread_time import Throttle

# Name prefix of Open vSwitch's PMD threads.
PMD = "pmd-"
# Drops at rings of the SUT, which overflow when their reader is too slow.
RINGS_OF_SUT = frozenset(
    {DropCause.RX_RING_FULL, DropCause.VHOST_TX_RING_FULL, DropCause.VNF_TX_RING_FULL,
     DropCause.VNF_RX_RING_FULL, DropCause.BACKLOG_FULL, DropCause.SOCKET_FULL}
)  # fmt: skip


@dataclass(slots=True)
class Spent:
    """Use of one polling thread's time over all trials, in ns, with the CPUs it ran on."""

    role: str
    cpus: set[int] = field(default_factory=set)
    elapsed_ns: int = 0
    waiting_ns: int = 0
    asleep_ns: int = 0
    stopped_ns: int = 0
    stops: int = 0
    left_cpu: int = 0
    """Times that it gave up its CPU by itself."""
    kernel_ns: int = 0
    minor_faults: int = 0
    major_faults: int = 0
    calls_kernel: bool = False
    sleeps: bool = False
    stopped_by: str = ""
    throttle: Throttle | None = None
    throttled: int = 0

    @property
    def not_running_ns(self) -> int:
        return self.waiting_ns + self.asleep_ns + self.stopped_ns


@dataclass(slots=True)
class Disturbed:
    """Events of one kind of disturbance, and the frames of the trials that had any."""

    events: Counter[int] = field(default_factory=Counter)
    """Number of events, by CPU."""
    drops: Counter[DropCause] = field(default_factory=Counter)
    unsent: int = 0


@dataclass(frozen=True, slots=True)
class Fate:
    """Frames to send, with the lost share and the unsent share."""

    intended: int
    lost: float
    unsent: float


@dataclass(frozen=True, slots=True)
class Changed:
    """Settings that changed during a trial, or between the previous trial and this one."""

    number: int
    """Number of that trial, from 1."""
    changes: tuple[Change, ...]
    before: Fate | None
    """Frames of the trials before it; None if there were none, so nothing can be compared."""
    after: Fate
    """Frames of this trial and all later ones."""

    @property
    def lost(self) -> float:
        """Frames lost since the change, beyond the lost share before it."""
        return self._beyond(lambda fate: fate.lost)

    @property
    def unsent(self) -> float:
        """Frames not sent since the change, beyond the unsent share before it."""
        return self._beyond(lambda fate: fate.unsent)

    def _beyond(self, share: Callable[[Fate], float]) -> float:
        if self.before is None:
            return 0.0
        return max(0.0, share(self.after) - share(self.before)) * self.after.intended


@dataclass(slots=True)
class Seen:
    """Sums over trials; times are in ns."""

    held: bool = False
    """All trials had one load. A search overflows a ring by design, so there an overflow alone
    means nothing."""
    ring_frames: int = 0
    time_ns: int = 0
    intended: int = 0
    offered: int = 0
    unsent: int = 0
    steal_ns: int = 0
    drops: Counter[tuple[str, DropCause]] = field(default_factory=Counter)
    unclosed: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Frames without a known cause, by place and by direction that does not close there."""
    events: Counter[tuple[str, Counted]] = field(default_factory=Counter)
    queues: Counter[tuple[str, int]] = field(default_factory=Counter)
    stops: Counter[tuple[str, Source]] = field(default_factory=Counter)
    """Time that threads were stopped, by role and source."""
    beyond: Counter[str] = field(default_factory=Counter)
    """Stopped time after a ring had filled, by role."""
    longest: dict[tuple[str, Source], int] = field(default_factory=dict)
    """Longest stop, by role and source."""
    disturbed: dict[DisturbanceKind, Disturbed] = field(default_factory=dict)
    waits: Counter[str] = field(default_factory=Counter)
    """Time that a thread waited for its CPU, by thread name."""
    shares: Counter[tuple[str, int]] = field(default_factory=Counter)
    """CPU time of competitors, by name and CPU."""
    pmd_nodes: set[int] = field(default_factory=set)
    """NUMA nodes of the switch's polling threads."""
    other_nodes: set[int] = field(default_factory=set)
    """NUMA nodes of all other polling threads."""
    spent: dict[str, Spent] = field(default_factory=dict)
    """Time of polling threads, by name."""
    interrupts: Counter[tuple[int, str]] = field(default_factory=Counter)
    """Number of interrupts, by CPU and source."""
    softirq_ns: Counter[tuple[int, str]] = field(default_factory=Counter)
    """Time in softirqs, by CPU and source."""
    beside: dict[tuple[str, int], Competitor] = field(default_factory=dict)
    """Last sample of each competitor, by name and CPU."""
    changed: list[Changed] = field(default_factory=list)
    planned: Mapping[str, AbstractSet[int]] = field(default_factory=dict)
    """CPUs that the plan assigns to polling threads, by name."""
    forwarding: set[int] = field(default_factory=set)
    """CPUs of the SUT's polling threads."""
    generating: set[int] = field(default_factory=set)
    """CPUs of all other polling threads."""

    @property
    def lost(self) -> int:
        """Frames that a hop dropped or that vanished. Unsent frames are not lost."""
        return sum(self.drops.values())

    @property
    def load_fps(self) -> float:
        """Mean load in frames/s; 0 without traffic."""
        return self.intended / self.time_ns * 1e9 if self.time_ns else 0.0

    def away_ns(self, *roles: str) -> int:
        """Total time these threads were off-CPU, from any evidence source."""
        return sum(ns for (role, _), ns in self.stops.items() if role in roles)

    def competitor(self, cpus: set[int]) -> tuple[str, int, float]:
        """Return the program that used one of these CPUs most: name, CPU and share of the time.

        Returns ("", -1, 0.0) if there is none.
        """
        here = {key: ns for key, ns in self.shares.items() if key[1] in cpus}
        if not here or not self.time_ns:
            return "", -1, 0.0
        name, cpu = max(here, key=lambda key: here[key])
        return name, cpu, here[name, cpu] / self.time_ns

    def generates(self, name: str) -> bool:
        """Return whether a polling thread ran on a generator CPU."""
        spent = self.spent[name]
        return spent.role == "generator" or not self.generating.isdisjoint(spent.cpus)

    def frames_in(self, time_ns: float) -> float:
        """Return the number of frames offered in that time."""
        return time_ns * self.load_fps / 1e9

    def dropped(self, causes: Iterable[DropCause], at: str = "") -> int:
        """Return the number of frames lost for these causes at hops with this name prefix."""
        wanted = frozenset(causes)
        return sum(n for (hop, cause), n in self.drops.items()
                   if cause in wanted and hop.startswith(at))  # fmt: skip
