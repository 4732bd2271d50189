# SPDX-License-Identifier: Apache-2.0
"""One trial on a bench: begin, offer, watch, drain, count.

The counters are read when nothing moves any more: read while frames are on their way, they would
show losses that are none.
"""

from __future__ import annotations

import math
import select
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wirespeed.bench import accounts
from wirespeed.bench.interface import BenchError, HopCount, Part, Poller
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.bench.noise.watch import NoiseWatch
from wirespeed.bench.parts import first_ended
from wirespeed.bench.threads import Treatment, steal_ns, treatment
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.bench.traffic.generator import AFTER_NS, Generator
from wirespeed.bench.traffic.windows import Cut, cut
from wirespeed.model.trial import Drop, Observation, PollingThread, WorkerShare
from wirespeed.remote.interface import Process, Runner

# A generator that has not ended this long after its time has hung.
_LATE_S = 5.0
# The path is drained when all frames are accounted for; those lost without a trace never are.
_DRAIN_S = 0.3
_POLL_S = 0.002
# What is asked after the traffic must not take a poller's CPU while the last frames are sent.
_MARGIN_S = 0.002


@dataclass(frozen=True, slots=True)
class Rig:
    """What a trial runs on.

    cpus: all that poll. ring_frames, path_frames: see Observation.
    """

    runner: Runner
    wiring: Wiring
    parts: Sequence[Part]
    generator: Generator
    watch: NoiseWatch
    cpus: frozenset[int]
    ring_frames: int
    path_frames: int
    limited_by: str | None


def run_trial(rig: Rig, load_fps: float, duration_s: float) -> Observation:
    """Offer load_fps over all directions (math.inf: as much as possible) and see what arrives.

    Raises BenchError when a part ended meanwhile.
    """
    check_alive(rig.parts)
    began = time.monotonic()
    placed = rig.watch.place()
    for part in rig.parts:
        part.begin()
    hops = _read(rig.parts)
    pollers = [poller for part in rig.parts for poller in part.pollers()]
    rig.watch.start(pollers, AFTER_NS, duration_s)
    rig.generator.start(0.0 if math.isinf(load_fps) else load_fps, duration_s)
    # Nothing is asked between these two: where programs share a CPU, each question takes time from
    # a poller, and that would pass for a disturbance of the trial.
    before = _snapshot(rig, pollers)
    _let_run(rig, duration_s + AFTER_NS / 1e9 + _MARGIN_S)
    after = _snapshot(rig, pollers)
    _await_end(rig)
    drops, workers = _drain(rig, hops)
    clock = rig.generator.clock()
    placed_after = rig.watch.place()
    both = (placed, placed_after) if placed is not None and placed_after is not None else None
    found = _cut(rig, clock, load_fps, duration_s)
    evidence = rig.watch.stop(rig.parts, clock, round(duration_s * 1e9), found.arrivals, both)
    directions = rig.generator.directions()
    offered_s = rig.generator.elapsed_ns() / 1e9
    offered = sum(d.offered for d in directions)
    return Observation(
        intended_load_fps=offered / offered_s if math.isinf(load_fps) else load_fps,
        duration_s=duration_s,
        directions=directions,
        drops=drops,
        threads=tuple(_statistics(poller, before, after) for poller in pollers),
        steal_ns=after.steal_ns - before.steal_ns,
        overhead_s=time.monotonic() - began - duration_s,
        ring_frames=rig.ring_frames,
        path_frames=rig.path_frames,
        evidence=replace(
            evidence,
            disturbances=evidence.disturbances + found.late,
            unseen=tuple(dict.fromkeys(evidence.unseen + found.unseen)),
        ),
        windows=found.windows,
        latency=rig.generator.latency(),
        latency_rows=rig.generator.latency_rows(clock),
        limited_by=rig.limited_by,
        placement=both,
        workers=workers,
    )


def _cut(rig: Rig, clock: TrialClock, load_fps: float, duration_s: float) -> Cut:
    bins = rig.generator.bins()
    one_way_fps = 0.0 if math.isinf(load_fps) else load_fps / len(bins)
    return cut(bins, clock, round(duration_s * 1e9), one_way_fps)


def check_alive(parts: Iterable[Part]) -> None:
    """Raises BenchError that says which part ended, and how."""
    if (ended := first_ended(parts)) is not None:
        raise BenchError(ended, "The bench is taken down; the results so far are kept.")


def _let_run(rig: Rig, duration_s: float) -> None:
    """For the time of the traffic, or until a part ends. Nothing of ours runs meanwhile."""
    ended, _, _ = select.select(_watched(rig), [], [], duration_s)
    if ended:
        check_alive(rig.parts)


def _await_end(rig: Rig) -> None:
    """Until the generator has sent all, or a part ends."""
    deadline = time.monotonic() + _LATE_S
    while rig.generator.running():
        if time.monotonic() > deadline:
            raise BenchError(f"the generator has not ended {_LATE_S:g} s after its time")
        ended, _, _ = select.select(_watched(rig), [], [], _POLL_S)
        if ended:
            check_alive(rig.parts)


def _watched(rig: Rig) -> list[Process]:
    return [process for part in rig.parts for process in part.processes]


def _drain(
    rig: Rig, before: Sequence[HopCount]
) -> tuple[tuple[Drop, ...], tuple[WorkerShare, ...]]:
    """Wait until no frame is on its way; then where did the missing ones go, and who did what?"""
    deadline = time.monotonic() + _DRAIN_S
    time.sleep(_POLL_S)
    while rig.generator.holds() and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    rig.generator.pause()
    while True:
        books = accounts.since(before, _read(rig.parts))
        found = accounts.drops(books, rig.wiring.cables, rig.generator.directions())
        if not accounts.unexplained(found) or time.monotonic() > deadline:
            check_alive(rig.parts)
            return found, accounts.shares(books)
        time.sleep(_POLL_S)


def _read(parts: Iterable[Part]) -> tuple[HopCount, ...]:
    return tuple(hop for part in parts for hop in part.read())


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """What the kernel has counted so far, by thread id."""

    threads: Mapping[int, Treatment]
    steal_ns: int


def _snapshot(rig: Rig, pollers: Sequence[Poller]) -> _Snapshot:
    try:
        threads = {poller.tid: treatment(rig.runner, poller.tid) for poller in pollers}
    except (FileNotFoundError, ProcessLookupError) as error:
        check_alive(rig.parts)
        raise BenchError(f"a polling thread ended during the trial: {error}") from error
    return _Snapshot(threads, steal_ns(rig.runner, rig.cpus))


def _statistics(poller: Poller, before: _Snapshot, after: _Snapshot) -> PollingThread:
    was, now = before.threads[poller.tid], after.threads[poller.tid]
    return PollingThread(
        name=poller.name,
        role=poller.role,
        cpu=now.cpu,
        involuntary_switches=now.involuntary_switches - was.involuntary_switches,
        runqueue_wait_ns=now.runqueue_wait_ns - was.runqueue_wait_ns,
    )
