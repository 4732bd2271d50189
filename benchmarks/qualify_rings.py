# SPDX-License-Identifier: Apache-2.0
"""Compare the ring need that `wirespeed qualify` predicts with the frames that really pile up.

30 stall patterns of seeded length and rate. For each, a poller without traffic is stalled once, and
its gap gives the frames that will pile up. Then frames arrive at that rate, and the poller is
stalled once: those that its ring refused, and those that it held, are what piled up. Both are
medians of several stalls, as the hypervisor prolongs one now and then. The ring holds half of the
prediction, so that shorter noise of the host costs no frame. Generator and poller have real-time
priority meanwhile: nothing but the stalls and the hypervisor stops them. Needs root and two CPUs.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

from benchmarks.shared.disturbances import stalling
from benchmarks.shared.figures import show

from wirespeed.bench.program.config import WsdpConfig, WsdpRing, WsdpTask
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.model.plan.plan import ProcessMemory
from wirespeed.qualify.cpus import usable_cpus
from wirespeed.qualify.pollers import polling, started
from wirespeed.qualify.rings import backlog_ns, needed
from wirespeed.qualify.slices import SliceRecorder
from wirespeed.remote.local import LocalRunner

SEED, PATTERNS, TRIALS, CLOSE = 34, 30, 5, 0.10
STALL_S, RATE_FPS = (0.003, 0.025), (0.3e6, 1.5e6)
BEFORE_S, TRIAL_S = 0.05, 0.15
MBUFS, MEMORY_MIB = 65535, 512
# A generator that was late has not offered the load of the pattern.
LATE, TRIES = 0.01, 15
CATCHUP_NS = 20_000_000
# Of SCHED_FIFO. Controller and telemetry interrupt everything, for less than a millisecond.
POLLS, STALLS, CONTROLS = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Pattern:
    """Stall of some length at some load."""

    stall_s: float
    rate_fps: float


def patterns() -> list[Pattern]:
    chance = random.Random(SEED)
    return [Pattern(chance.uniform(*STALL_S), chance.uniform(*RATE_FPS)) for _ in range(PATTERNS)]


@contextmanager
def real_time(program: Wsdp) -> Iterator[None]:
    """Give a program and this thread real-time priority, for less than a second."""
    pollers = {seen["tid"] for seen in program.ask("lcores").values()}
    [process] = program.processes
    tids = [int(name) for name in os.listdir(f"/proc/{process.pid}/task")]
    before, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(CONTROLS))
    try:
        for tid in tids:
            priority = POLLS if tid in pollers else CONTROLS
            os.sched_setscheduler(tid, os.SCHED_FIFO, os.sched_param(priority))
        yield
    finally:
        for tid in tids:
            os.sched_setscheduler(tid, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setscheduler(0, before, parameter)


def predicted(pattern: Pattern, cpu: int) -> int:
    """Return the frames that pile up by the gaps of a poller without traffic."""
    runner, backlogs = LocalRunner(), []
    with polling(runner, [cpu], usable_cpus()) as (program, _), stalling(cpu, STALLS) as stall:

        def stalled(seconds: float) -> None:
            time.sleep(BEFORE_S)
            stall(pattern.stall_s)
            time.sleep(seconds - BEFORE_S)

        pollers = {seen["cpu"]: seen["tid"] for seen in program.ask("lcores").values()}
        recorder = SliceRecorder(program, runner, program.tsc_hz, pollers, stalled)
        for _ in range(TRIALS):
            with real_time(program):
                [found] = recorder.slices(TRIAL_S)
            gaps = ((gap.begin_ns, gap.length_ns) for gap in found.gaps[cpu])
            backlogs.append(backlog_ns(gaps))
    return needed(pattern.rate_fps, median(backlogs))


def configuration(generator: int, poller: int, ring: int, tag: str) -> WsdpConfig:
    """Return a generator on one CPU that feeds a poller on another one by a ring."""
    return WsdpConfig(
        f"rings{tag}", generator, (generator, poller),
        ProcessMemory(MBUFS, 2176, MEMORY_MIB, huge_pages=False), (),
        (WsdpTask("gen", "gen", 1, tx=("ring:r",)), WsdpTask("sink", "sink", 2, rx=("ring:r",))),
        (WsdpRing("r", ring),),
    )  # fmt: skip


def piled_up(pattern: Pattern, ring: int, cpus: tuple[int, int]) -> float | None:
    """Return the frames that a stall piles up, counted; None if the generator was always late."""
    found: list[int] = []
    with (
        started(LocalRunner(), lambda tag: configuration(*cpus, ring, tag)) as (program, _),
        stalling(cpus[1], STALLS) as stall,
    ):
        for _ in range(TRIES):
            if (piled := _once(program, stall, pattern, ring)) is not None:
                found.append(piled)
            if len(found) == TRIALS:
                break
    return median(found) if found else None


def _once(program: Wsdp, stall: Callable[[float], None], pattern: Pattern, ring: int) -> int | None:
    offered = (
        f"rate_fps={pattern.rate_fps:.0f},duration_ns={int(TRIAL_S * 1e9)},catchup_ns={CATCHUP_NS}"
    )
    with real_time(program):
        program.ask("reset")
        program.ask(f"start,{offered}")
        time.sleep(BEFORE_S)
        stall(pattern.stall_s)
        time.sleep(TRIAL_S)
        seen = program.ask("task,gen")
    refused = int(seen["tx_fail"])
    if int(seen["unsent"]) > LATE * pattern.rate_fps * pattern.stall_s or not refused:
        return None
    return refused + ring


def main() -> int:
    allowed = usable_cpus()
    if os.geteuid() != 0 or len(allowed) < 2:
        print("needs root and two CPUs")
        return 1
    cpus = allowed[0], allowed[1]
    ratios = []
    for number, pattern in enumerate(patterns(), 1):
        frames = predicted(pattern, cpus[1])
        piled = piled_up(pattern, frames // 2, cpus)
        words = f"{pattern.stall_s * 1e3:.1f}ms_{pattern.rate_fps / 1e6:.2f}Mpps"
        if piled is None:
            print(f"pattern {number} {words}: no trial without a late generator", flush=True)
            continue
        ratios.append(frames / piled)
        show(f"predicted_{number}_{words}", frames, "frames", ratios[-1], "piled-up")
    within = sum(abs(ratio - 1) <= CLOSE for ratio in ratios)
    show("median_prediction", median(ratios), "x")
    show("largest_difference", 100 * max(abs(ratio - 1) for ratio in ratios), "%")
    print(f"predictions within 10% asked {PATTERNS} of {PATTERNS}, measured {within} of {PATTERNS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
