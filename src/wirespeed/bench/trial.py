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
from contextlib import ExitStack
from dataclasses import dataclass

from wirespeed.bench import accounts
from wirespeed.bench.interface import BenchError, HopCount, Part, PollingThread
from wirespeed.bench.parts import first_ended
from wirespeed.bench.proximity import Watch
from wirespeed.bench.realtime import alone, before_all_pollers, fits
from wirespeed.bench.threads import Treatment, steal_ns, treatment
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.bench.traffic.generator import AFTER_NS, Generator
from wirespeed.model.cpus import CpuPulse
from wirespeed.model.trial import Drop, Observation, ThreadHealth, WorkerShare
from wirespeed.remote.interface import Process, Runner

# A generator that has not ended this long after its time has hung.
_LATE_S = 5.0
# The path is drained when the books close; frames that are lost without a trace keep them open.
_DRAIN_S = 0.3
_POLL_S = 0.002
# What is asked after the traffic must not take a poller's CPU while the last frames are sent.
_MARGIN_S = 0.002


@dataclass(frozen=True, slots=True)
class Rig:
    """What a trial runs on.

    cpus: all that poll; watch: of what they share, None where there is but one. ring_frames: see
    Observation. alone: whether threads may run before all others, and so short trials alone.
    """

    runner: Runner
    wiring: Wiring
    parts: Sequence[Part]
    generator: Generator
    cpus: frozenset[int]
    watch: Watch | None
    ring_frames: int
    limited_by: str | None
    alone: bool


def run_trial(rig: Rig, load_fps: float, duration_s: float) -> Observation:
    """Offer load_fps over all directions (math.inf: as much as possible) and see what arrives.

    Raises BenchError when a part ended meanwhile.
    """
    check_alive(rig.parts)
    before_it, waited_s = rig.watch.settle() if rig.watch else (None, 0.0)
    began = time.monotonic()
    for part in rig.parts:
        part.begin()
    hops = _read(rig.parts)
    tids = [thread.tid for part in rig.parts for thread in part.threads()]
    with ExitStack() as urgent:
        cpus = [thread.cpu for thread in _stand(rig, tids).threads.values()]
        run_alone = rig.alone and fits(cpus, duration_s)
        if run_alone:
            urgent.enter_context(before_all_pollers())
        if rig.alone:
            rig.generator.watch(rig.cpus, duration_s)
        rig.generator.start(0.0 if math.isinf(load_fps) else load_fps, duration_s)
        if run_alone:
            urgent.enter_context(alone(tids))
        # Nothing is asked between these two: where programs share a CPU, each question takes time
        # from a poller, and that would pass for a disturbance of the trial.
        before = _stand(rig, tids)
        _let_run(rig, duration_s + AFTER_NS / 1e9 + _MARGIN_S)
        after = _stand(rig, tids)
    _await_end(rig)
    pulses = rig.generator.watched() if rig.alone else ()
    stands = before, after, {pulse.cpu: pulse for pulse in pulses}
    threads = tuple(_health(t, *stands) for part in rig.parts for t in part.threads())
    drops, workers = _drain(rig, hops)
    after_it = rig.watch.now() if rig.watch else None
    directions = rig.generator.directions()
    offered_s = rig.generator.elapsed_ns() / 1e9
    offered = sum(d.offered for d in directions)
    return Observation(
        intended_load_fps=offered / offered_s if math.isinf(load_fps) else load_fps,
        duration_s=duration_s,
        directions=directions,
        drops=drops,
        threads=threads,
        steal_ns=after.steal_ns - before.steal_ns,
        overhead_s=time.monotonic() - began - duration_s,
        ring_frames=rig.ring_frames,
        latency=rig.generator.latency(),
        limited_by=rig.limited_by,
        proximity=(before_it, after_it) if before_it and after_it else None,
        waited_s=waited_s,
        pulses=pulses,
        workers=workers,
    )


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
    rig.generator.rest()
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
class _Stand:
    """What the kernel has counted so far, by thread id."""

    threads: Mapping[int, Treatment]
    steal_ns: int


def _stand(rig: Rig, tids: Sequence[int]) -> _Stand:
    try:
        threads = {tid: treatment(rig.runner, tid) for tid in tids}
    except (FileNotFoundError, ProcessLookupError) as error:
        check_alive(rig.parts)
        raise BenchError(f"a polling thread ended during the trial: {error}") from error
    return _Stand(threads, steal_ns(rig.runner, rig.cpus))


def _health(
    thread: PollingThread, before: _Stand, after: _Stand, pulses: Mapping[int, CpuPulse]
) -> ThreadHealth:
    was, now = before.threads[thread.tid], after.threads[thread.tid]
    # What watched the CPU has not disturbed the thread.
    pulse = pulses.get(now.cpu, CpuPulse(now.cpu, 0, 0, 0, 0))
    switches = now.involuntary_switches - was.involuntary_switches - pulse.beats
    wait_ns = now.runqueue_wait_ns - was.runqueue_wait_ns - pulse.ran_ns
    return ThreadHealth(
        name=thread.name,
        role=thread.role,
        max_gap_ns=thread.max_gap_ns,
        gaps_ns=thread.gaps_ns,
        involuntary_switches=max(0, switches),
        runqueue_wait_ns=max(0, wait_ns),
        cpu=now.cpu,
    )
