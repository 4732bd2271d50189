# SPDX-License-Identifier: Apache-2.0
"""What was observed in one trial, and what was concluded from it?

`Observation` is what a bench measured: counters read after traffic stopped and drained, the same
counts by windows of the time of sending, and what disturbed the trial. `Trial` is the observation
with its verdict. Loads and counts are sums over all directions; `Observation.directions` has each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.evidence import Evidence, Windows
from wirespeed.model.series import Series

# The hop of frames that the SUT's first ring refused.
INGRESS = "sut-ingress"


class DropCause(StrEnum):
    """Why a hop did not pass a frame on."""

    RX_RING_FULL = "rx_ring_full"
    VHOST_TX_RING_FULL = "vhost_tx_ring_full"
    NO_FLOW = "no_flow"
    UPCALL = "upcall"
    MTU = "mtu"
    POLICER = "policer"
    EGRESS_POLICER = "egress_policer"
    WRONG_VLAN = "wrong_vlan"
    NOT_CONNECTED = "not_connected"
    VNF_ENDED = "vnf_ended"
    BACKLOG_FULL = "backlog_full"
    TAP_RING_FULL = "tap_ring_full"
    SOCKET_FULL = "socket_full"
    VNF_DISCARD = "vnf_discard"
    NO_ROUTE = "no_route"
    TTL_EXPIRED = "ttl_expired"
    BAD_HEADER = "bad_header"
    VNF_TX_RING_FULL = "vnf_tx_ring_full"
    VNF_RING_FULL = "vnf_ring_full"
    VNF_RX_RING_FULL = "vnf_rx_ring_full"
    VNF_HANDLED = "vnf_handled"
    NIC_DISCARD = "nic_discard"
    LINK_DOWN = "link_down"
    PARTNER_RING_FULL = "partner_ring_full"
    IMPAIRED = "impaired"
    TG_RX_RING_FULL = "tg_rx_ring_full"
    MISDIRECTED = "misdirected"
    CORRUPTED = "corrupted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Drop:
    hop: str
    cause: DropCause
    frames: int


@dataclass(frozen=True, slots=True)
class WorkerShare:
    """How many frames one of several workers of a network function took, both directions."""

    hop: str
    number: int
    frames: int


class Counted(StrEnum):
    """What a hop counts besides frames."""

    UPCALLS = "upcalls"
    """Frames of flows that the datapath did not know: the slow path was asked."""
    FLOWS_DELETED = "flows_deleted"
    """Flows that the datapath was told to forget."""
    NO_BUFFERS = "no_buffers"
    """How often a port found no free buffer to receive into."""
    RESTARTS = "restarts"
    """How often the program has ended and was started again."""


@dataclass(frozen=True, slots=True)
class HopEvents:
    """How often something that is no frame happened at a hop during the trial."""

    hop: str
    what: Counted
    count: int


@dataclass(frozen=True, slots=True)
class QueueShare:
    """How many frames were offered to one of several queues of a port."""

    port: str
    queue: int
    frames: int


@dataclass(frozen=True, slots=True)
class Competitor:
    """A process that is not the bench's and used a CPU, one that the bench polls on or another.
    share: of the trial's time. host: whose CPU, where a bench has several hosts."""

    name: str
    cpu: int
    share: float
    host: str = ""


@dataclass(frozen=True, slots=True)
class PortCount:
    """Frames that entered a hop through one port, and that left it there.

    port: as paths name it (SutDescription), e.g. "switch:vnf0a".
    """

    port: str
    entered: int
    left: int


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
    node: the NUMA node of that CPU; None where that is not known.
    """

    name: str
    role: str
    cpu: int
    involuntary_switches: int
    runqueue_wait_ns: int
    busy_share: float | None = None
    host: str = ""
    node: int | None = None


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
    placement: of the polling CPUs, of all pairs the worst, before and after the trial; None where
    only one polls.
    workers: where a network function has several, the frames that each of them took.
    events: what hops counted besides frames. queues: where ports have several, the frames of each.
    competitors: who else used the CPUs that poll, most first; then who used others.
    ports: what every port of every hop counted; empty where an older version measured.
    latency_rows: see LatencyRows; None where frames carry no time stamp.
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

    def total(self, field: str) -> int:
        """Sum of one count over the directions."""
        return sum(int(getattr(d, field)) for d in self.directions)

    @property
    def handled(self) -> int:
        """Frames that the SUT consumed on purpose: neither lost nor forwarded."""
        return sum(d.frames for d in self.drops if d.cause is DropCause.VNF_HANDLED)


class Stage(StrEnum):
    """What a trial was run for."""

    WARM_UP = "warm-up"
    MRR = "mrr"
    SEARCH = "search"
    CONFIRM = "confirm"
    LATENCY = "latency"
    BURST = "burst"
    CONSTANT = "constant"
    AS_IS = "as is"


@dataclass(frozen=True, slots=True)
class CleanRun:
    """Consecutive undisturbed windows, with what was offered and lost in them.

    growth_frames: by how many frames the queues grew from its begin to its end, from latency; may
    be negative; 0 where latency is not known.
    """

    windows: int
    offered: int
    lost: int
    growth_frames: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A share of a trial's time that does not count, and why, e.g. "PMD stopped"."""

    why: str
    share: float


@dataclass(frozen=True, slots=True)
class Gated:
    """A trial without its disturbed windows (measure/gate.py).

    windows: how many it has, of window_ns each. runs: those that count. steady_windows,
    steady_offered, steady_lost: of all undisturbed windows, whether queues had drained after a
    disturbance or not; an overload shows in these although its queues never drain. draining: the
    steady windows that do not count, as runs. receive_fps: the median rate of windows that count.
    latency: of the frames sent in undisturbed time, percentiles to 1/16 of an octave.
    """

    window_ns: int
    windows: int
    runs: tuple[CleanRun, ...]
    steady_windows: int
    steady_offered: int
    steady_lost: int
    left_out: tuple[LeftOut, ...]
    receive_fps: float | None = None
    latency: Latency | None = None
    draining: tuple[CleanRun, ...] = ()

    @property
    def clean_windows(self) -> int:
        return sum(run.windows for run in self.runs)

    @property
    def clean_share(self) -> float:
        return self.clean_windows / self.windows if self.windows else 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """An observation and its verdict, which was reached before its loss was read.

    quiet: nothing disturbed any of it, so that it counts whole (RFC 2544). disturbed: why it is not
    quiet, in one sentence with numbers. gated: the same trial without its disturbed windows; None
    where nothing of it can count (`fault` says why: counters that contradict each other). series:
    counts and samples over time; the store keeps them in a table of their own.

    `lost` = offered - received - handled over the whole trial, never below 0. Unsent frames are not
    lost: the generator was late. Frames that the SUT consumed on purpose (ARP) are neither lost nor
    forwarded.
    """

    observation: Observation
    stage: Stage
    quiet: bool
    disturbed: str | None = None
    gated: Gated | None = None
    fault: str | None = None
    series: tuple[Series, ...] = ()

    @property
    def intended_load_fps(self) -> float:
        return self.observation.intended_load_fps

    @property
    def duration_s(self) -> float:
        return self.observation.duration_s

    @property
    def offered(self) -> int:
        return self.observation.total("offered")

    @property
    def received(self) -> int:
        return self.observation.total("received")

    @property
    def lost(self) -> int:
        return max(0, self.offered - self.received - self.observation.handled)

    @property
    def loss_ratio(self) -> float:
        return self.lost / self.offered if self.offered else 0.0

    @property
    def offered_fps(self) -> float:
        return self.offered / self.duration_s

    @property
    def forwarding_fps(self) -> float:
        return self.received / self.duration_s
