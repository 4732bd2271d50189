# SPDX-License-Identifier: Apache-2.0
"""What did a bench measure in one trial?

Counters read after traffic stopped and drained, the same counts by windows of the time of sending,
and what disturbed the trial. Loads and counts are sums over all directions;
`Observation.directions` has each.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from wirespeed.model.change import Change
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.evidence import Evidence, Windows
from wirespeed.model.hop_counts import (
    Drop,
    DropCause,
    HopEvents,
    PortCount,
    QueueShare,
    WorkerShare,
)
from wirespeed.model.thread_time import CpuInterrupts, ThreadTime


@dataclass(frozen=True, slots=True)
class DirectionCount:
    """Frames of one direction: intended = offered + unsent; offered = accepted + refused.

    offered: handed to the SUT's first ring, which accepted or refused them. unsent: the generator
    was too late to offer them; told to go as fast as it can, it intends what it offers.
    received: frames of this trial that arrived as they should; further copies of them are
    `duplicated`. misdirected: arrived at the wrong subscriber or port; corrupted: arrived damaged;
    both only where content is checked.
    """

    name: str
    intended: int
    offered: int
    accepted: int
    unsent: int
    received: int
    duplicated: int
    reordered: int
    foreign: int
    misdirected: int = 0
    corrupted: int = 0

    @property
    def refused(self) -> int:
        """Offered, but not taken by the SUT's first ring: loss of the SUT."""
        return self.offered - self.accepted


@dataclass(frozen=True, slots=True)
class PollingThread:
    """A thread that polls, with the kernel's counters over the trial.

    role is "generator" (generates or analyses) or "sut" (forwards). cpu: where it ran, -1 where
    that is not known. busy_share: for how much of the time frames were offered it had some to
    handle; None where it does not measure that. host: whose CPU, where a bench has several hosts.
    node: the NUMA node of that CPU; None where that is not known. time: where its time went; None
    where an older version measured. sleeps: whether it sleeps without frames on purpose.
    """

    name: str
    role: str
    cpu: int
    involuntary_switches: int
    runqueue_wait_ns: int
    busy_share: float | None = None
    host: str = ""
    node: int | None = None
    time: ThreadTime | None = None
    sleeps: bool = False


@dataclass(frozen=True, slots=True)
class Competitor:
    """A process that used a CPU, one that the bench polls on or another, without polling itself.

    share: of the trial's time. host: whose CPU, where a bench has several hosts. pid, started: its
    number, and when it was started (s since the epoch); 0 where an older version measured. own:
    whether it is a thread of the bench's programs that does not poll.
    """

    name: str
    cpu: int
    share: float
    host: str = ""
    pid: int = 0
    started: float = 0.0
    own: bool = False


@dataclass(frozen=True, slots=True)
class Latency:
    """One-way latency in ns over all directions; `hdrh` is an encoded HdrHistogram (base64)."""

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

    @property
    def pdv_ns(self) -> float:
        """Packet delay variation, p99.9 - min (RFC 5481 section 4.2)."""
        return self.p999_ns - self.min_ns


@dataclass(frozen=True, slots=True)
class LatencyRows:
    """Histograms of latency, one for each row of time, over all directions.

    Row i holds the frames sent from begin_ns + i * row_ns on, for row_ns. Its pairs are (the lowest
    latency of a bucket in ns, frames); buckets are 1/16 of an octave wide.
    """

    begin_ns: int
    row_ns: int
    rows: tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """The raw outcome of one trial. Times in seconds unless the name says ns.

    intended_load_fps: the requested load; for "as fast as possible", what was offered (never inf).
    duration_s: how long frames were offered. overhead_s: what the trial took besides that.
    ring_frames: what one direction's shallowest stage holds (all queues of that stage together):
    a stop may cost as many frames. path_frames: what all its stages hold together: as many frames
    may be queued. Both are 0 where not known, as with an external SUT.
    windows: None where frames carry no time stamp. steal_ns: steal time of the CPUs that `threads`
    run on, summed.
    placement: of the polling CPUs of all hosts, before and after the trial; None where only one
    polls on each, or where a probe failed.
    workers: where a network function has several, the frames that each of them took.
    events: what hops counted besides frames. queues: where ports have several, the frames of each.
    competitors: who else used the CPUs that poll, most first; then who used others.
    ports: what every port of every hop counted; empty where an older version measured.
    residual_wait_s: how long residual frames were waited for before the counters were read.
    pause_s: how long the SUT was left alone before the trial (RFC 2544 section 23 asks for 2 and 5
    seconds); 0 where nothing made sure of it.
    latency_rows: see LatencyRows; None where frames carry no time stamp.
    interrupts: of the CPUs that poll, by source, most first. changes: settings that differ from
    those before the trial.
    """

    intended_load_fps: float
    duration_s: float
    directions: tuple[DirectionCount, ...]
    drops: tuple[Drop, ...]
    threads: tuple[PollingThread, ...]
    steal_ns: int
    overhead_s: float
    ring_frames: int
    path_frames: int
    evidence: Evidence = field(default_factory=Evidence)
    windows: Windows | None = None
    latency: Latency | None = None
    latency_rows: LatencyRows | None = None
    # What bounds the load that this bench can offer, e.g. "shared_lcore".
    limited_by: str | None = None
    placement: tuple[CpuPlacement, CpuPlacement] | None = None
    workers: tuple[WorkerShare, ...] = ()
    events: tuple[HopEvents, ...] = ()
    queues: tuple[QueueShare, ...] = ()
    competitors: tuple[Competitor, ...] = ()
    ports: tuple[PortCount, ...] = ()
    residual_wait_s: float = 0.0
    pause_s: float = 0.0
    interrupts: tuple[CpuInterrupts, ...] = ()
    changes: tuple[Change, ...] = ()

    def total(self, field: str) -> int:
        """Sum of one count over the directions."""
        return sum(int(getattr(d, field)) for d in self.directions)

    @property
    def handled(self) -> int:
        """Frames that the SUT consumed on purpose: neither lost nor forwarded."""
        return sum(d.frames for d in self.drops if d.cause is DropCause.VNF_HANDLED)
