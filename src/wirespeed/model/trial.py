# SPDX-License-Identifier: Apache-2.0
"""What was seen in one trial, and what was concluded from it?

`Observation` is what a bench saw: counters read after traffic stopped and drained. `Trial` is the
observation judged. Loads and counts are summed over all directions; the directions are kept apart
in `Observation.directions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DropCause(StrEnum):
    """Why a hop did not pass a frame on."""

    RX_RING_FULL = "rx_ring_full"
    VHOST_TX_RING_FULL = "vhost_tx_ring_full"
    NO_FLOW = "no_flow"
    UPCALL = "upcall"
    MTU = "mtu"
    POLICER = "policer"
    VNF_DISCARD = "vnf_discard"
    VNF_TX_RING_FULL = "vnf_tx_ring_full"
    VNF_RING_FULL = "vnf_ring_full"
    VNF_HANDLED = "vnf_handled"
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


@dataclass(frozen=True, slots=True)
class DirectionCount:
    """Frames of one direction: offered = sent + refused by the first ring of the SUT.

    intended = offered + unsent; a generator told to go as fast as it can intends what it offers.
    received: frames of this trial that arrived as they should; further copies of them are
    `duplicated`. misdirected, corrupted: arrived, but meant for somebody else, or damaged; where
    content is checked.
    """

    name: str
    intended: int
    offered: int
    sent: int
    unsent: int
    received: int
    duplicated: int
    reordered: int
    foreign: int
    misdirected: int = 0
    corrupted: int = 0


@dataclass(frozen=True, slots=True)
class ThreadHealth:
    """How undisturbed did a polling thread run during the trial?

    role is "generator" (generates or analyses) or "sut" (forwards). The gap figures are None where
    the thread does not time its own polls (e.g. a vSwitch without such a counter): then the
    run-queue wait and the steal are the only evidence. gaps_ns is the sum of the gaps that count as
    such (wsdp: those over its gap_limit_ns).
    """

    name: str
    role: str
    max_gap_ns: int | None
    gaps_ns: int | None
    involuntary_switches: int
    runqueue_wait_ns: int


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


# Two cores of one cache need less, one way, on every server processor since 2017: 20 to 70 ns.
SHARED_CACHE_NS = 100.0
# Two cores do not slow each other by more, whatever their clocks do.
OWN_CORE_SLOWDOWN = 1.2


@dataclass(frozen=True, slots=True)
class Proximity:
    """What two CPUs share, told by what it does.

    core_to_core_ns: how long a cache line takes from one to the other, one way: tens of ns within a
    cache, hundreds between chips. slowdown: how much longer work takes that both do at once: 1 on
    two cores, about 1.5 on two threads of one.
    """

    core_to_core_ns: float
    slowdown: float

    # Between one cache and two chips lies a factor of three to six in time, between two cores and
    # one of 1.3 and more in speed; what is measured twice on one placement differs by far less.
    def worse_than(self, other: Proximity) -> bool:
        """Whether these CPUs share clearly less of a cache, or more of a core, than those."""
        return (
            self.core_to_core_ns > 2 * other.core_to_core_ns or self.slowdown > 1.2 * other.slowdown
        )

    def like(self, other: Proximity) -> bool:
        """Whether the CPUs may have been placed alike both times."""
        return not self.worse_than(other) and not other.worse_than(self)

    def __str__(self) -> str:
        return f"{self.core_to_core_ns:.0f} ns apart and {self.slowdown:.2f}x slower together"


@dataclass(frozen=True, slots=True)
class Observation:
    """The raw outcome of one trial. Times in seconds unless the name says ns.

    intended_load_fps: what was asked for; for "as fast as possible", what was offered (never inf).
    duration_s: how long frames were offered. overhead_s: what the trial took besides that.
    ring_frames: how many frames the path can hold for one direction at its shallowest stage (all
    queues of that stage together); 0 where that is not known, as with an external SUT.
    steal_ns: time the hypervisor took, summed over the CPUs that `threads` run on.
    proximity: of the polling CPUs, of all pairs the worst, right before and right after; None where
    only one polls. waited_s: how long the trial was put off until the CPUs shared what they had
    shared before; not part of overhead_s.
    workers: where a network function has several, what each of them took.
    """

    intended_load_fps: float
    duration_s: float
    directions: tuple[DirectionCount, ...]
    drops: tuple[Drop, ...]
    threads: tuple[ThreadHealth, ...]
    steal_ns: int
    overhead_s: float
    ring_frames: int
    latency: Latency | None = None
    # A fact about the rig that bounds what it can offer, e.g. "shared_lcore".
    limited_by: str | None = None
    proximity: tuple[Proximity, Proximity] | None = None
    waited_s: float = 0.0
    workers: tuple[WorkerShare, ...] = ()

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


@dataclass(frozen=True, slots=True)
class Trial:
    """An observation judged: valid or not (before loss is read), then its loss.

    `lost` = offered - received - handled, never below 0; unsent frames are not loss (they are the
    generator's own lateness), and frames that the SUT consumed on purpose (ARP) are neither lost
    nor forwarded. An invalid trial's loss says nothing about the SUT.
    """

    seen: Observation
    stage: Stage
    valid: bool
    invalid_reason: str | None = None

    @property
    def intended_load_fps(self) -> float:
        return self.seen.intended_load_fps

    @property
    def duration_s(self) -> float:
        return self.seen.duration_s

    @property
    def offered(self) -> int:
        return self.seen.total("offered")

    @property
    def received(self) -> int:
        return self.seen.total("received")

    @property
    def lost(self) -> int:
        return max(0, self.offered - self.received - self.seen.handled)

    @property
    def loss_ratio(self) -> float:
        return self.lost / self.offered if self.offered else 0.0

    @property
    def offered_fps(self) -> float:
        return self.offered / self.duration_s

    @property
    def forwarding_fps(self) -> float:
        return self.received / self.duration_s
