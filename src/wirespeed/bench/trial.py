# SPDX-License-Identifier: Apache-2.0
"""Run one trial on a bench: begin, offer, watch, drain, count.

Counters are read when no frame moves any more: frames in flight would look like losses.
"""

from __future__ import annotations

import math
import select
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.bench import frame_accounting
from wirespeed.bench.interface import BenchError, ChangesRoutes, HopCount, Injection, Part
from wirespeed.bench.noise.clock import ClockElsewhere, TrialClock
from wirespeed.bench.noise.moves import moves, place
from wirespeed.bench.noise.settings import SettingsWatch
from wirespeed.bench.noise.watch import Arrivals, NoiseWatch
from wirespeed.bench.threads import HostThreads, check_alive
from wirespeed.bench.topology.wiring import End, Wiring
from wirespeed.bench.traffic.frames.figures import TrialFigures
from wirespeed.bench.traffic.frames.generator import AFTER_NS, Generator
from wirespeed.bench.traffic.frames.windows import Cut, cut
from wirespeed.model.errors import WirespeedError
from wirespeed.model.result.evidence import Evidence
from wirespeed.model.result.hop_counts import (
    Drop,
    DropCause,
    HopEvents,
    PortCount,
    QueueShare,
    WorkerShare,
)
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.route_churn import RouteChurn
from wirespeed.model.study.rfc2544 import FINAL_S, PAUSE_S, RESIDUAL_S
from wirespeed.remote.interface import Process, Runner

# A generator that has not ended this long after its time hangs.
_LATE_S = 5.0
# Time that a killed process may take to return its memory.
_ENDING_S = 2.0
# The path is drained when all frames are accounted for; frames lost without trace never are.
_DRAIN_S = 0.3
_POLL_S = 0.002
# Frames that this many readings do not account for are lost without trace.
_READINGS = 5
# A query after the traffic must not take a poller's CPU while the last frames are sent.
_MARGIN_S = 0.002


@dataclass(frozen=True, slots=True)
class TrialHost:
    """One host that a trial runs on."""

    name: str
    """"" for a single host."""
    runner: Runner
    parts: Sequence[Part]
    watch: NoiseWatch
    cpus: frozenset[int]
    """All CPUs that are polled there."""
    settings: SettingsWatch
    """Settings that may change meanwhile."""
    clock: ClockElsewhere | None = None
    """Relation of its TSC to the generator's, on another host than the generator's."""
    kernel_carries: bool = False
    """True if the kernel carries frames there, in softirqs."""
    forwards: frozenset[int] = frozenset()
    """CPUs of the SUT alone; empty if it has none to itself."""


@dataclass(frozen=True, slots=True)
class TrialSetup:
    """Hosts, components and limits of a trial."""

    hosts: Sequence[TrialHost]
    wiring: Wiring
    generator: Generator
    ring_frames: int
    """See Observation."""
    path_frames: int
    """See Observation."""
    limited_by: str | None
    unread: Mapping[End, DropCause]
    """See frame_accounting.drops."""
    injections: Sequence[Injection] = field(default_factory=tuple)

    @property
    def watches(self) -> tuple[NoiseWatch, ...]:
        return tuple(host.watch for host in self.hosts)

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(part for host in self.hosts for part in host.parts)


def run_trial(setup: TrialSetup, load_fps: float, duration_s: float) -> Observation:
    """Offer load_fps over all directions (math.inf: maximum) and count what arrives.

    Returns an Observation. Raises BenchError when a component ended meanwhile.
    """
    try:
        return _trial(setup, load_fps, duration_s)
    except WirespeedError:
        # A component without answer may be about to end: a process closes its sockets first.
        select.select(_watched(setup), [], [], _ENDING_S)
        check_alive(setup.parts)
        raise


def _trial(setup: TrialSetup, load_fps: float, duration_s: float) -> Observation:
    check_alive(setup.parts)
    began = time.monotonic()
    pause_s, residual_s = _waits(duration_s)
    time.sleep(pause_s)
    placed = place(setup.watches)
    for injection in setup.injections:
        injection.begin()
    for part in setup.parts:
        part.begin()
    hops = _read(setup.parts)
    threads = [
        HostThreads(
            h.name, h.runner, h.parts, h.cpus, kernel_carries=h.kernel_carries, forwards=h.forwards
        )
        for h in setup.hosts
    ]
    for host in setup.hosts:
        if host.clock is not None:
            host.clock.align()
    for host, seen in zip(setup.hosts, threads, strict=True):
        host.watch.start(seen.pollers, AFTER_NS, duration_s)
    before_ns = time.monotonic_ns()
    setup.generator.start(0.0 if math.isinf(load_fps) else load_fps, duration_s)
    after_ns = time.monotonic_ns()
    # No query in between: where programs share a CPU, each query takes time from a poller, which
    # would look like noise in the trial.
    for seen in threads:
        seen.before_traffic()
    _let_run(setup, duration_s)
    for seen in threads:
        seen.after_traffic()
    for injection in setup.injections:
        injection.rest()
    _await_end(setup)
    time.sleep(residual_s)
    drained = _drain(setup, hops)
    for seen in threads:
        seen.at_rest()
    figures = drained.figures
    clock = figures.clock()
    placed_after = place(setup.watches)
    both = (placed.at, placed_after.at) if placed.at and placed_after.at else None
    found = _cut(setup, figures, load_fps, duration_s)
    duration_ns = round(duration_s * 1e9)
    evidence = _evidence(setup, clock, duration_ns, found.arrivals)
    evidence += moves(placed, placed_after, duration_ns)
    evidence += Evidence(disturbances=found.late, unseen=found.unseen)
    directions = figures.directions()
    offered_s = figures.elapsed_ns() / 1e9
    offered = sum(d.offered for d in directions)
    evidence += Evidence(tuple(d for seen in threads for d in seen.disturbances(duration_s)))
    churn = _settled(setup.injections)
    looks = [h.settings.look(s.groups) for h, s in zip(setup.hosts, threads, strict=True)]
    evidence += Evidence(unseen=tuple(what for look in looks for what in look.unknown))
    return Observation(
        intended_load_fps=offered / offered_s if math.isinf(load_fps) else load_fps,
        duration_s=duration_s,
        directions=directions,
        drops=drained.drops,
        threads=tuple(thread for seen in threads for thread in seen.threads(duration_s)),
        steal_ns=sum(seen.steal_ns for seen in threads),
        overhead_s=time.monotonic() - began - duration_s,
        ring_frames=setup.ring_frames,
        path_frames=setup.path_frames,
        evidence=evidence,
        windows=found.windows,
        latency=setup.generator.latency(figures),
        latency_rows=setup.generator.latency_rows(clock),
        limited_by=setup.limited_by,
        placement=both,
        workers=drained.workers,
        events=drained.events,
        queues=drained.queues,
        competitors=tuple(other for seen in threads for other in seen.competitors()),
        ports=drained.ports,
        residual_wait_s=residual_s,
        pause_s=pause_s,
        interrupts=tuple(each for seen in threads for each in seen.interrupts),
        changes=tuple(change for look in looks for change in look.changes),
        began_ns=(before_ns + after_ns) // 2 + AFTER_NS,
        began_error_ns=(after_ns - before_ns) // 2,
        churn=churn,
        sut_cpu=next((cpu for seen in threads if (cpu := seen.sut_cpu) is not None), None),
    )


def _settled(injections: Iterable[Injection]) -> RouteChurn | None:
    """Wait until routes that changed are there again; return the changes of all routers."""
    found = [each.settle() for each in injections if isinstance(each, ChangesRoutes)]
    if not found:
        return None
    return RouteChurn(
        sum(each.changes for each in found),
        max(each.late_s for each in found),
        max(each.behind_s for each in found),
    )


def _waits(duration_s: float) -> tuple[float, float]:
    """Return the waits in seconds before a trial and after its traffic.

    A final trial has those of RFC 2544 section 23: the DUT restabilizes, and residual frames
    arrive.
    """
    return (PAUSE_S, RESIDUAL_S) if duration_s >= FINAL_S else (0.0, 0.0)


def _evidence(
    setup: TrialSetup,
    clock: TrialClock,
    duration_ns: int,
    arrivals: Sequence[Arrivals],
) -> Evidence:
    """Collect the evidence of all hosts."""
    found = Evidence()
    for host in setup.hosts:
        own = clock if host.clock is None else host.clock.of(clock)
        found += host.watch.stop(host.parts, own, duration_ns, arrivals)
    return found


def _cut(setup: TrialSetup, figures: TrialFigures, load_fps: float, duration_s: float) -> Cut:
    bins = setup.generator.bins(figures)
    one_way_fps = 0.0 if math.isinf(load_fps) else load_fps / len(bins)
    return cut(bins, figures.clock(), round(duration_s * 1e9), one_way_fps)


def _let_run(setup: TrialSetup, duration_s: float) -> None:
    """Wait for the time of the traffic, or until a component ends.

    Only injected faults act meanwhile.
    """
    due = time.monotonic() + AFTER_NS / 1e9
    steps = [step for injection in setup.injections for step in injection.steps(duration_s)]
    for after_s, act in sorted(steps, key=lambda step: step[0]):
        _wait_until(setup, due + after_s)
        act()
    _wait_until(setup, due + duration_s + _MARGIN_S)


def _wait_until(setup: TrialSetup, moment_s: float) -> None:
    """Wait until a moment. Raises BenchError as soon as a component ends."""
    ended, _, _ = select.select(_watched(setup), [], [], max(0.0, moment_s - time.monotonic()))
    if ended:
        check_alive(setup.parts)


def _await_end(setup: TrialSetup) -> None:
    """Wait until the generator has sent all, or a component ends."""
    deadline = time.monotonic() + _LATE_S
    while setup.generator.running():
        if time.monotonic() > deadline:
            raise BenchError(f"the generator has not ended {_LATE_S:g} s after its time")
        ended, _, _ = select.select(_watched(setup), [], [], _POLL_S)
        if ended:
            check_alive(setup.parts)


def _watched(setup: TrialSetup) -> list[Process]:
    return [process for part in setup.parts for process in part.processes]


@dataclass(frozen=True, slots=True)
class _Drained:
    """Counts after the last frame has moved."""

    figures: TrialFigures
    drops: tuple[Drop, ...]
    workers: tuple[WorkerShare, ...]
    events: tuple[HopEvents, ...]
    queues: tuple[QueueShare, ...]
    ports: tuple[PortCount, ...]


def _drain(setup: TrialSetup, before: Sequence[HopCount]) -> _Drained:
    """Wait a limited time until all frames are accounted for; then account for the rest."""
    deadline, paths = time.monotonic() + _DRAIN_S, setup.wiring.paths()
    time.sleep(_POLL_S)
    while setup.generator.holds() and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    setup.generator.pause()
    readings: list[frame_accounting.Counts] = []
    while True:
        counts = frame_accounting.since(before, _read(setup.parts))
        readings.append(counts)
        figures = setup.generator.figures()
        found = frame_accounting.drops(
            counts, setup.wiring.cables, figures.directions(), setup.unread, paths
        )
        over = time.monotonic() > deadline and _at_rest(readings)
        if not frame_accounting.unexplained(found) or over:
            check_alive(setup.parts)
            return _Drained(
                figures,
                found,
                frame_accounting.shares(counts),
                frame_accounting.events(counts),
                frame_accounting.queue_shares(counts),
                frame_accounting.ports(counts),
            )
        time.sleep(_POLL_S)


def _at_rest(readings: Sequence[frame_accounting.Counts]) -> bool:
    """Return whether no frame moves any more: two equal readings show it.

    Reading a guest's counters may take so long that frames move meanwhile.
    """
    return len(readings) >= _READINGS or readings[-1] in readings[-2:-1]


def _read(parts: Iterable[Part]) -> tuple[HopCount, ...]:
    return tuple(hop for part in parts for hop in part.read())
