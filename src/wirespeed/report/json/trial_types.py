# SPDX-License-Identifier: Apache-2.0
"""Define a trial as the result document has it; its JSON Schema is made from these types."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le
from pydantic import WithJsonSchema
from typing_extensions import TypedDict

from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.result.change import Change
from wirespeed.model.result.evidence import DisturbanceKind, Source
from wirespeed.model.result.hop_counts import Drop, HopEvents, PortCount, QueueShare, WorkerShare
from wirespeed.model.result.observation import Competitor, PollingThread
from wirespeed.model.result.reason import Reason
from wirespeed.model.result.route_churn import RouteChurn
from wirespeed.model.result.thread_time import CpuInterrupts, SutCpu
from wirespeed.model.result.trial import Stage

Count = Annotated[int, Ge(0)]
NotNegative = Annotated[float, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]
Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]


class Latency(TypedDict):
    """One-way latency over all directions, in µs."""

    min: float
    avg: float
    max: float
    p50: float
    p90: float
    p99: float
    p99_9: float
    pdv: float
    """Packet delay variation, p99.9 - min (RFC 5481)."""
    jitter: float
    """Inter-arrival jitter (RFC 3550)."""
    count: Count
    """Number of frames that were timed."""
    hdrh: str
    """Whole HdrHistogram in ns, compressed, base64."""
    unit: Literal["us"]


class LeftOut(TypedDict):
    """A share of the time that does not count."""

    why: Reason
    """Reason for excluding it (docs/reference/reasons.md)."""
    share: Share
    """Share of the time of the traffic."""


class Gated(TypedDict):
    """A trial without its noisy windows."""

    window_ns: Count
    """Length of a window."""
    windows: Count
    """Number of windows of the trial."""
    clean_windows: Count
    """Number of windows that count: without noise, on fast cores, with queues drained after
    noise."""
    clean_share: Share
    """clean_windows / windows."""
    runs: Count
    """Number of pieces that the clean windows form."""
    offered: Count
    """Frames offered in clean windows."""
    lost: Count
    """Frames of these that were lost."""
    loss_ratio: float | None
    """lost / offered; null without clean windows."""
    growth_ratio: float | None
    """Growth of the queues per frame offered; may be negative. Null without clean windows."""
    steady_windows: Count
    """Windows without noise, whether queues had drained or not: an overload that never drains shows
    in these."""
    steady_offered: Count
    """Frames offered in steady windows."""
    steady_lost: Count
    """Frames of these that were lost."""
    receive_fps: float | None
    """Median rate received in clean windows."""
    left_out: list[LeftOut]
    """Excluded shares of the time."""
    latency: Latency | None
    """Latency of the frames sent in clean windows."""


class Disturbances(TypedDict):
    """All disturbances of one kind, from one source, of one thread or CPU."""

    role: str
    """generator: generates or analyses; sut: forwards."""
    cpu: int
    """-1 if they are not confined to one CPU."""
    kind: DisturbanceKind
    """Kind of the disturbances; docs/reference/reasons.md has what each means."""
    source: Source
    """Source of the evidence."""
    count: Count
    """Number of events."""
    total_ns: Count
    """Total length."""
    longest_ns: Count
    """Length of the longest."""


class Direction(TypedDict):
    """Counts of one direction: intended = offered + unsent, offered = accepted + refused."""

    name: str
    intended: Count
    """Frames that were due; without a rate limit, those offered."""
    offered: Count
    """Frames that the generator handed to the SUT's first ring."""
    accepted: Count
    """Frames that this ring took."""
    refused: Count
    """Frames that this ring did not take: loss of the SUT."""
    unsent: Count
    """Frames that the late generator did not offer."""
    received: Count
    """Frames of this trial that arrived intact, each counted once."""
    duplicated: Count
    """Further copies of received frames."""
    reordered: Count
    """Frames that arrived after a later one."""
    foreign: Count
    """Frames that arrived and were not of this trial."""
    misdirected: Count
    """Frames that arrived at the wrong subscriber or port, if content is checked."""
    corrupted: Count
    """Frames that arrived damaged, if content is checked."""


class Placement(TypedDict):
    """CPU placement before and after a trial."""

    before: CpuPlacement
    after: CpuPlacement


class TrialEvidence(TypedDict):
    """Evidence behind the verdict on a trial."""

    disturbances: list[Disturbances]
    """Number and length of its disturbances."""
    unseen: list[str]
    """Sources that could not be watched. Such a trial is not quiet."""
    clock_error_ns: Count
    """Largest clock error of hosts other than the generator's; 0 with one host."""
    steal_ns: Count
    """Steal time of the polling threads' CPUs."""
    placement: Placement | None
    """Resources that the polling CPUs share, of the worst pair; null if only one polls."""
    ring_frames: Count
    """Frames that one direction's shallowest stage holds, which a stop may cost; 0 if unknown."""
    path_frames: Count
    """Frames that all stages of a direction hold; 0 if unknown."""
    threads: list[PollingThread]
    """Threads that poll, with the kernel's counters."""
    directions: list[Direction]
    """Counts of each direction."""
    workers: list[WorkerShare]
    """Frames of each of a VNF's workers, both directions; empty with one worker."""
    events: list[HopEvents]
    """Events that hops counted in addition to frames."""
    queues: list[QueueShare]
    """Frames offered to each queue of a port that has several."""
    competitors: list[Competitor]
    """Processes that do not poll: those on the bench's polling CPUs, then others, then threads of
    the bench's own programs."""
    interrupts: list[CpuInterrupts]
    """Interrupts of the polling CPUs by source, the most frequent first; empty in records of an
    older version."""
    changes: list[Change]
    """Settings that differ from those before the trial; an empty text: the setting was absent."""
    ports: list[PortCount]
    """Counters of every port of every hop; empty in records of an older version."""
    churn: RouteChurn | None
    """Changes of routes while frames were offered; null if there were none."""
    sut_cpu: SutCpu | None
    """CPU time of the SUT; null where the generator polls its CPUs, too, and in older records."""


class Trial(TrialEvidence):
    """One trial; counters were read after traffic stopped and drained.

    Frames: intended = offered + unsent; offered = accepted + refused by the SUT's first ring;
    offered = received + handled + lost.
    """

    ended_at: Time
    stage: Stage
    """Purpose of the trial."""
    intended_load_fps: NotNegative
    """Requested load; without a rate limit, the offered load."""
    offered_fps: NotNegative
    """offered / duration_s."""
    forwarding_fps: NotNegative
    """received / duration_s."""
    duration_s: Annotated[float, Gt(0)]
    """Time during which frames were offered."""
    overhead_s: NotNegative
    """Further time of the trial: start, drain, reading of counters."""
    offered: Count
    """Frames that the generator handed to the SUT's first ring."""
    accepted: Count
    """Frames that this ring took."""
    refused: Count
    """Frames that this ring did not take: loss of the SUT."""
    unsent: Count
    """Frames that the late generator did not offer; no loss of the SUT."""
    received: Count
    """Frames of this trial that arrived intact."""
    handled: Count
    """Frames that the VNF consumed on purpose (ARP): neither lost nor forwarded."""
    lost: Count
    """offered - received - handled, never below 0, of the whole trial."""
    loss_ratio: Share
    """lost / offered."""
    duplicated: Count
    """Further copies of received frames."""
    reordered: Count
    """Frames that arrived after a later one."""
    foreign: Count
    """Frames that arrived and were not of this trial."""
    misdirected: Count
    """Frames that arrived at the wrong subscriber or port, if content is checked; lost as well."""
    corrupted: Count
    """Frames that arrived damaged, if content is checked; lost as well."""
    quiet: bool
    """No noise in it, so it counts whole. Decided before its loss is read."""
    disturbed: str | None
    """Noise of a trial that is not quiet."""
    fault: str | None
    """Contradiction of the counters, because of which nothing of it can count."""
    gated: Gated | None
    """The trial without its noisy windows; null if nothing of it can count, and in records of
    an older version."""
    limited_by: str | None
    """Bound of the load that the bench can offer, e.g. shared_lcore, shared_partner or
    shared_control."""
    drops: list[Drop]
    """Place and cause of each lost frame of the whole trial, noisy time included."""
    latency: Latency | None
