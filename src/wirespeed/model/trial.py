# SPDX-License-Identifier: Apache-2.0
"""What was seen in one trial, and what was concluded from it?

`Observation` is what a bench saw: counters read after traffic stopped and drained. `Trial` is the
observation judged. Loads and counts are summed over all directions; the directions are kept apart
in `Observation.directions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.cpus import CpuPulse, Proximity


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

    role is "generator" (generates or analyses) or "sut" (forwards). cpu: where it ran,
    -1 where that is not known. The gap figures are None where
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
    cpu: int = -1


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
class Observation:
    """The raw outcome of one trial. Times in seconds unless the name says ns.

    intended_load_fps: what was asked for; for "as fast as possible", what was offered (never inf).
    duration_s: how long frames were offered. overhead_s: what the trial took besides that.
    ring_frames: how many frames the path can hold for one direction at its shallowest stage (all
    queues of that stage together); 0 where that is not known, as with an external SUT.
    steal_ns: time the hypervisor took, summed over the CPUs that `threads` run on.
    proximity: of the polling CPUs, of all pairs the worst, right before and right after; None where
    only one polls. pulses: of each polling CPU; empty where threads may not run before all others.
    waited_s: how long the trial was put off until the CPUs shared what they had
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
    pulses: tuple[CpuPulse, ...] = ()
    workers: tuple[WorkerShare, ...] = ()

    @property
    def slowest(self) -> CpuPulse | None:
        """Of the CPUs that forward, the one whose core something else used most; None: unknown.

        A generator that is slowed but keeps its pace changes nothing, unless a network function
        shares its CPU.
        """
        forwards = {"sut"} if self.limited_by is None else {"sut", "generator"}
        cpus = {thread.cpu for thread in self.threads if thread.role in forwards}
        found = (pulse for pulse in self.pulses if pulse.cpu in cpus)
        return max(found, key=lambda pulse: pulse.slow_ratio, default=None)

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
