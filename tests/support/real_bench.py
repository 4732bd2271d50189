# SPDX-License-Identifier: Apache-2.0
"""Build benches on this machine for tests marked root: real Open vSwitch, DPDK and frames."""

from __future__ import annotations

import functools
import math
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import speedtest_program
from wirespeed.bench import trial
from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.session import RealBench, open_bench
from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk
from wirespeed.bench.topology.wiring import SWITCH
from wirespeed.bench.traffic.tcp import programs
from wirespeed.bench.trial import TrialSetup
from wirespeed.host.collect import collect
from wirespeed.model.frame import Encapsulation, FrameSizes
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.study.spec import Frames, Sut, Topology, Traffic, Vnf
from wirespeed.remote.interface import Process
from wirespeed.remote.local import LocalRunner
from wirespeed.session.guests import GuestSource
from wirespeed.session.rig import plan_of

# Use the tests' build of the speed test, in this process and in those that import this, too.
programs.SPEEDTEST = replace(programs.SPEEDTEST, built=speedtest_program.PROGRAM)

RUNNER = LocalRunner()
GUESTS = GuestSource(RUNNER)
HUGE_PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"


def point(
    kind: str,
    vnfs: int = 1,
    *,
    bidirectional: bool = False,
    frame: str = "64",
    tags: Encapsulation = Encapsulation.NONE,
    vnf: Vnf | None = None,
    ports: tuple[str, ...] = (),
) -> Frames:
    traffic = Traffic(FrameSizes.parse(frame), encapsulation=tags)
    return Frames(Topology(kind, vnfs, bidirectional), traffic, Sut(vnf=vnf or Vnf(), ports=ports))


@functools.cache
def _facts() -> HostFacts:
    """Return this machine's facts, read once: no bench of the tests changes what a plan needs."""
    return collect(RUNNER)


def planned(spec: Frames) -> Plan:
    return plan_of(_facts(), spec)


@contextmanager
def opened(spec: Frames, logs: Path, plan: Plan | None = None) -> Iterator[RealBench]:
    plan = plan or planned(spec)
    hosts, guests = BenchHosts(BenchHost(RUNNER)), GUESTS.guests_of(plan)
    with open_bench(spec, plan, hosts, logs, guests) as bench:
        assert isinstance(bench, RealBench)
        yield bench


def vswitch(bench: RealBench) -> OvsDpdk:
    [part] = [p for p in bench.rig.parts if isinstance(p, OvsDpdk) and p.hop == SWITCH]
    return part


def process(bench: RealBench, name: str) -> Process:
    """Return the first program of the component of that name."""
    [part] = [p for p in bench.rig.parts if p.name == name]
    return part.processes[0]


def drops(seen: Observation) -> dict[tuple[str, DropCause], int]:
    """Return the lost frames by hop and cause, over all directions."""
    found = Counter[tuple[str, DropCause]]()
    for drop in seen.drops:
        found[drop.hop, drop.cause] += drop.frames
    return found


def frames_are_conserved(seen: Observation) -> bool:
    """Return whether every offered frame was received, or dropped with known hop and cause."""
    lost = sum(drop.frames for drop in seen.drops)
    return unexplained(seen) == 0 and seen.total("offered") == seen.total("received") + lost


def unexplained(seen: Observation) -> int:
    """Return the frames that were lost without a known cause."""
    return sum(n for (_, cause), n in drops(seen).items() if cause is DropCause.UNKNOWN)


def conserving_trials(
    bench: RealBench, load_fps: float, duration_s: float, uncounted: float = 0.0
) -> tuple[Observation, Observation]:
    """Run a trial with that load, and one as fast as possible.

    In both, frames pass every direction, once and where they belong, and every lost one is
    accounted for. uncounted: share of the fast trial's load that may be lost without a counter.
    """
    loaded, flooded = (bench.measure(load, duration_s) for load in (load_fps, math.inf))
    for seen, spared in ((loaded, 0.0), (flooded, uncounted)):
        lost = sum(drop.frames for drop in seen.drops)
        assert seen.total("offered") == seen.total("received") + lost
        assert 0 <= unexplained(seen) <= spared * seen.total("offered"), seen.drops
        assert all(direction.received > 0 for direction in seen.directions), seen.directions
        assert seen.total("duplicated") == seen.total("foreign") == 0, seen.directions
    return loaded, flooded


@contextmanager
def meanwhile(*steps: tuple[float, Callable[[], object]]) -> Iterator[None]:
    """Take each step at its time in seconds from now, while the body runs."""
    timers = [threading.Timer(after_s, step) for after_s, step in steps]
    for timer in timers:
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.join()


@contextmanager
def in_traffic(*steps: Callable[[], object]) -> Iterator[None]:
    """Take the steps while traffic flows, with equal times before, between and after them."""
    let_run = trial._let_run

    def interrupted(rig: TrialSetup, duration_s: float) -> None:
        for step in steps:
            let_run(rig, duration_s / (len(steps) + 1))
            step()
        let_run(rig, duration_s / (len(steps) + 1))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial, "_let_run", interrupted)
        yield


def leftovers() -> list[str]:
    """Return what a bench of this test left on the host (see the fixture `own_state`)."""
    run, state = Path(os.environ["XDG_RUNTIME_DIR"]), Path(os.environ["XDG_STATE_HOME"])
    journals = (state / "wirespeed" / "journal").glob("*")
    return [str(p) for p in (*run.glob("*"), *journals)]
