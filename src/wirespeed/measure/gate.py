# SPDX-License-Identifier: Apache-2.0
"""Decide which windows of a trial count, from noise and never from counted frames.

No count is an argument here: a gate that knew which windows lost frames could exclude them. Of
latency it gets one boolean for each window: whether queues had drained as the window began. That is
known before the window's frames are sent.

A stop of a polling thread matters where it may overflow the rings. It can cost frames sent before
it, which are still queued, and frames sent after it, while the queues drain. A slow core forwards
less than the SUT could: a window counts if the contention samples before and after it were fast.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from wirespeed.model.result.evidence import (
    SLOW,
    ContentionSamples,
    Disturbance,
    DisturbanceKind,
    Evidence,
)
from wirespeed.model.result.reason import Reason, Shown
from wirespeed.model.result.trial import LeftOut

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

# A stop that fills a quarter of the rings leaves space for the bursts that rings are made for. In a
# virtual machine pollers stop for up to 100 µs hundreds of times a second, which rings can hold.
STOP_FLOOR_NS: Final = 100_000.0
RING_SHARE: Final = 0.25
# Frames that are in the SUT's queues when a stop begins were sent before it.
GUARD_FLOOR_NS: Final = 1_000_000.0
# The contention probe samples every 2 ms. After three periods without a sample, speed is unknown.
SAMPLE_REACH_NS: Final = 6_000_000
# For an external SUT with unknown ring depth. 1,024 descriptors, a usual depth, hold 64 B frames
# for 68.8 µs at 10 GbE line rate, 14.88 Mpps. A path has four such stages.
UNKNOWN_RING_NS: Final = 68_800.0
STAGES: Final = 4


@dataclass(frozen=True, slots=True)
class Geometry:
    """A trial's windows, in ns since its first frame was due, and what the SUT can queue."""

    begin_ns: int
    window_ns: int
    count: int
    load_fps: float
    """Load of one direction, which limits how long a stop may be."""
    ring_frames: int
    """As in an Observation; 0 where unknown."""
    path_frames: int
    """As in an Observation; 0 where unknown."""
    width: float
    """Relative resolution of the search."""
    forwarding_shares_generator: bool
    """True if SUT and generator share a CPU, so that a slow CPU of the generator is a slow SUT."""


@dataclass(frozen=True, slots=True)
class Mask:
    """Windows that count, one boolean for each."""

    clean: tuple[bool, ...]
    """Without noise, and queues had drained since the last noise."""
    steady: tuple[bool, ...]
    """Without noise, drained or not: queues of an overloaded SUT never drain."""
    left_out: tuple[LeftOut, ...]
    """Shares of the excluded windows by first reason; their sum is 1 - the clean share."""


def ring_ns(geometry: Geometry) -> float:
    """Return how long a direction's shallowest stage, stopped, can hold the offered load."""
    if not geometry.ring_frames:
        return UNKNOWN_RING_NS
    return _ns_of(geometry.ring_frames, geometry.load_fps)


def path_ns(geometry: Geometry) -> float:
    """Return how long all stages of a direction together can hold the offered load."""
    if not geometry.path_frames:
        return STAGES * ring_ns(geometry)
    return _ns_of(geometry.path_frames, geometry.load_fps)


def stop_limit_ns(geometry: Geometry) -> float:
    """Return the longest stop of a polling thread after which the windows around it still count."""
    return max(STOP_FLOOR_NS, RING_SHARE * ring_ns(geometry))


def gate(evidence: Evidence, geometry: Geometry, drained: Sequence[bool]) -> Mask:
    """Return which windows count.

    drained: for each window, whether less than a quarter of the ring was queued as it began.
    """
    if len(drained) != geometry.count:
        raise ValueError(
            f"a trial of {geometry.count} windows came with {len(drained)} drained flags: "
            "there must be one for each window"
        )
    reasons = {Reason.CORE_SHARED: _slow(evidence.contention, geometry)}
    for reason in Reason:
        if (shown := reason.about.shown) is not None:
            reasons[reason] = _disturbed(evidence.disturbances, shown, geometry)
    steady = ~np.logical_or.reduce(list(reasons.values()))
    clean = _after_draining(steady, np.asarray(drained, dtype=np.bool_), geometry)
    reasons[Reason.NOT_DRAINED] = ~clean
    return Mask(tuple(clean.tolist()), tuple(steady.tolist()), _left_out(reasons, geometry.count))


def _ns_of(frames: int, load_fps: float) -> float:
    return frames / load_fps * 1e9 if load_fps > 0 else math.inf


def _disturbed(disturbances: Sequence[Disturbance], shown: Shown, geometry: Geometry) -> Bools:
    """Return windows that overlap such a disturbance.

    A stop matters above the limit; windows shortly before it do not count either.
    """
    found = [d for d in disturbances if d.kind is shown.kind and shown.role in (None, d.role)]
    if shown.kind is not DisturbanceKind.STOPPED:
        return _touched(found, geometry, 0.0)
    limit_ns = stop_limit_ns(geometry)
    stops = [d for d in found if d.length_ns > limit_ns]
    return _touched(stops, geometry, max(GUARD_FLOOR_NS, path_ns(geometry)))


def _touched(disturbances: Sequence[Disturbance], geometry: Geometry, before_ns: float) -> Bools:
    """Return windows that overlap noise, or the time of before_ns in front of it."""
    begin = np.array([d.begin_ns for d in disturbances], dtype=np.float64)
    length = np.array([max(d.length_ns, 1) for d in disturbances], dtype=np.float64)
    first = np.floor((begin - before_ns - geometry.begin_ns) / geometry.window_ns)
    end = np.ceil((begin + length - geometry.begin_ns) / geometry.window_ns)
    return _covered(first, end, geometry.count)


def _covered(first: NDArray[np.float64], end: NDArray[np.float64], count: int) -> Bools:
    """Return which of `count` windows lie in one of the ranges [first, end)."""
    edges = np.zeros(count + 1, dtype=np.int64)
    np.add.at(edges, np.clip(first, 0, count).astype(np.int64), 1)
    np.add.at(edges, np.clip(end, 0, count).astype(np.int64), -1)
    return np.cumsum(edges[:count]) > 0


def _slow(contention: Sequence[ContentionSamples], geometry: Geometry) -> Bools:
    """Return windows in which some forwarding CPU is not known to have been fast.

    A CPU without any sample does not count as slow: Evidence.unseen lists what could not be
    observed.
    """
    slow = np.zeros(geometry.count, dtype=np.bool_)
    for samples in contention:
        if samples.at_ns and (samples.forwards or geometry.forwarding_shares_generator):
            slow |= ~_fast(samples, geometry)
    return slow


def _fast(samples: ContentionSamples, geometry: Geometry) -> Bools:
    """Return windows whose last sample before, first sample after, and all between are fast."""
    at = np.array(samples.at_ns, dtype=np.int64)
    slow_until = np.concatenate(([0], np.cumsum(np.array(samples.slowness) > SLOW)))
    begin = geometry.begin_ns + geometry.window_ns * np.arange(geometry.count, dtype=np.int64)
    end = begin + geometry.window_ns
    before: Ints = np.searchsorted(at, begin, side="right") - 1
    after: Ints = np.searchsorted(at, end, side="left")
    known = (before >= 0) & (after < len(at))
    before, after = np.where(known, before, 0), np.where(known, after, 0)
    near = (begin - at[before] <= SAMPLE_REACH_NS) & (at[after] - end <= SAMPLE_REACH_NS)
    fast: Bools = known & near & (slow_until[after + 1] == slow_until[before])
    return fast


def _after_draining(steady: Bools, drained: Bools, geometry: Geometry) -> Bools:
    """Return steady windows, in each row of them from the first that began drained.

    A row starts after noise, or with the trial. The queues of an overloaded SUT never drain. After
    the time in which an overload of `width` would fill the whole path, windows count regardless of
    queues. They show the overload as growth or loss.
    """
    previous = np.concatenate(([True], steady[:-1]))
    starts = np.flatnonzero(steady & ~previous)
    longest = math.ceil(
        min(path_ns(geometry) / (geometry.width * geometry.window_ns), geometry.count)
    )
    empty = np.append(np.flatnonzero(drained), geometry.count)
    first = np.minimum(empty[np.searchsorted(empty, starts)], starts + longest)
    # Windows past the end of a row are not steady, or belong to a row that waits as long itself.
    ends = np.append(np.flatnonzero(~steady), geometry.count)
    first = np.minimum(first, ends[np.searchsorted(ends, starts)])
    return steady & ~_covered(starts.astype(np.float64), first.astype(np.float64), geometry.count)


def _left_out(reasons: dict[Reason, Bools], count: int) -> tuple[LeftOut, ...]:
    """Return the share of each reason; a window counts for the first that holds."""
    shares: list[LeftOut] = []
    counted = np.zeros(count, dtype=np.bool_)
    for why, windows in reasons.items():
        new = int(np.count_nonzero(windows & ~counted))
        counted |= windows
        if new:
            shares.append(LeftOut(why, new / count))
    return tuple(shares)
