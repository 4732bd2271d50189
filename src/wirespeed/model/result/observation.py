# SPDX-License-Identifier: Apache-2.0
"""Define the measurements of a bench in one trial.

Counters are read after traffic stopped and drained. Windows have the same counts by the time of
sending. Loads and counts are sums over all directions; `Observation.directions` has each.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.result.change import Change
from wirespeed.model.result.evidence import Evidence, Windows
from wirespeed.model.result.hop_counts import (
    Drop,
    DropCause,
    HopEvents,
    PortCount,
    QueueShare,
    WorkerShare,
)
from wirespeed.model.result.route_churn import RouteChurn
from wirespeed.model.result.thread_time import CpuInterrupts, SutCpu, ThreadTime


@dataclass(frozen=True, slots=True)
class DirectionCount:
    """Frames of one direction: intended = offered + unsent; offered = accepted + refused."""

    name: str
    intended: int
    """Frames due. A generator without a rate limit intends what it offers."""
    offered: int
    """Frames handed to the SUT's first ring, which accepted or refused them."""
    accepted: int
    unsent: int
    """Frames that the late generator did not offer."""
    received: int
    """Frames of this trial that arrived intact, each counted once."""
    duplicated: int
    """Further copies of received frames."""
    reordered: int
    foreign: int
    misdirected: int = 0
    """Frames that arrived at the wrong subscriber or port; 0 if content is not checked."""
    corrupted: int = 0
    """Frames that arrived damaged; 0 if content is not checked."""

    @property
    def refused(self) -> int:
        """Frames refused by the SUT's first ring: loss of the SUT."""
        return self.offered - self.accepted


@dataclass(frozen=True, slots=True)
class PollingThread:
    """A thread that polls, with the kernel's counters over the trial."""

    name: str
    role: str
    """Either "generator" (generates or analyses) or "sut" (forwards)."""
    cpu: int
    """CPU on which it ran; -1 if unknown."""
    involuntary_switches: int
    runqueue_wait_ns: int
    busy_share: float | None = None
    """Share of the trial's time in which it had frames to handle, 0 to 1; None if not measured."""
    host: str = ""
    """Host of the CPU, for a bench of several hosts."""
    node: int | None = None
    """NUMA node of the CPU; None if unknown."""
    time: ThreadTime | None = None
    """Account of its time; None in records of an older version."""
    sleeps: bool = False
    """It sleeps on purpose while no frames arrive."""
    calls_kernel: bool = False
    """The kernel carries its frames, so that time in the kernel is its work."""


@dataclass(frozen=True, slots=True)
class Competitor:
    """A process that used a CPU without polling on it, whether the bench polls there or not."""

    name: str
    cpu: int
    share: float
    """Share of the trial's time."""
    host: str = ""
    """Host of the CPU, for a bench of several hosts."""
    pid: int = 0
    """Process ID; 0 in records of an older version."""
    started: float = 0.0
    """Start time of the process, in s since the epoch; 0 in records of an older version."""
    own: bool = False
    """It is a thread of the bench's programs that does not poll."""


@dataclass(frozen=True, slots=True)
class Latency:
    """One-way latency in ns over all directions."""

    count: int
    min_ns: float
    avg_ns: float
    p50_ns: float
    p90_ns: float
    p99_ns: float
    p999_ns: float
    max_ns: float
    jitter_ns: float
    hdrh: str
    """Encoded HdrHistogram (base64)."""

    @property
    def pdv_ns(self) -> float:
        """Packet delay variation in ns, p99.9 - min (RFC 5481 section 4.2)."""
        return self.p999_ns - self.min_ns


@dataclass(frozen=True, slots=True)
class LatencyRows:
    """Latency histograms of consecutive time rows, over all directions.

    Row i holds the frames sent in the row_ns from begin_ns + i * row_ns on.
    """

    begin_ns: int
    row_ns: int
    rows: tuple[tuple[tuple[int, int], ...], ...]
    """Pairs of (lowest latency of a bucket in ns, frames). Buckets are 1/16 of an octave wide."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Raw outcome of one trial."""

    intended_load_fps: float
    """Requested load in frames/s. Without a rate limit: the offered load, never inf."""
    duration_s: float
    """Time during which frames were offered, in s."""
    directions: tuple[DirectionCount, ...]
    drops: tuple[Drop, ...]
    threads: tuple[PollingThread, ...]
    steal_ns: int
    """Steal time of the CPUs of `threads`, in ns, summed."""
    overhead_s: float
    """Time of the trial beyond duration_s, in s."""
    ring_frames: int
    """Frames that one direction's shallowest stage holds, over all its queues. A stop may lose as
    many frames. 0 if unknown, as with an external SUT."""
    path_frames: int
    """Frames that all stages of a direction hold; as many may be queued. 0 if unknown."""
    evidence: Evidence = field(default_factory=Evidence)
    windows: Windows | None = None
    """None if frames carry no time stamp."""
    latency: Latency | None = None
    latency_rows: LatencyRows | None = None
    """None if frames carry no time stamp."""
    limited_by: str | None = None
    """Reason why this bench cannot offer more load, e.g. "shared_lcore"; None without such a limit.
    """
    placement: tuple[CpuPlacement, CpuPlacement] | None = None
    """Placement of the polling CPUs of all hosts, before and after the trial. None if each host has
    one, or if a probe failed."""
    workers: tuple[WorkerShare, ...] = ()
    """Frames of each worker, for a network function with several."""
    events: tuple[HopEvents, ...] = ()
    """Events that hops counted in addition to frames."""
    queues: tuple[QueueShare, ...] = ()
    """Frames of each queue, for ports with several."""
    competitors: tuple[Competitor, ...] = ()
    """Other users of the polling CPUs, the largest share first; then users of other CPUs."""
    ports: tuple[PortCount, ...] = ()
    """Counters of every port of every hop; empty in records of an older version."""
    residual_wait_s: float = 0.0
    """Wait for residual frames before the counters were read, in s."""
    pause_s: float = 0.0
    """Time that the SUT was left alone before the trial, in s; 0 if not ensured. RFC 2544 section
    23 asks for 2 s and 5 s."""
    interrupts: tuple[CpuInterrupts, ...] = ()
    """Interrupts of the polling CPUs, by source, the most frequent first."""
    changes: tuple[Change, ...] = ()
    """Settings that differ from those before the trial."""
    began_ns: int = 0
    """CLOCK_MONOTONIC when the first frame was due, in ns, of the machine that measures; 0 in
    records of an older version."""
    began_error_ns: int = 0
    """Largest error of began_ns, in ns."""
    churn: RouteChurn | None = None
    """None if no routes were changed."""
    sut_cpu: SutCpu | None = None
    """None where the SUT has no CPUs to itself, and in records of an older version."""

    def total(self, field: str) -> int:
        """Return the sum of one count over the directions."""
        return sum(int(getattr(d, field)) for d in self.directions)

    @property
    def shallowest_frames(self) -> int:
        """Frames that the shallowest stages of all directions hold; 0 if unknown."""
        return self.ring_frames * len(self.directions)

    @property
    def handled(self) -> int:
        """Frames that the SUT consumed on purpose: neither lost nor forwarded."""
        return sum(d.frames for d in self.drops if d.cause is DropCause.VNF_HANDLED)
