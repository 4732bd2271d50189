# SPDX-License-Identifier: Apache-2.0
"""Measure how much rate the accounting of every frame costs.

The bench is p2p with 64 B frames through a real Open vSwitch with DPDK. Overload trials run in
blocks of three, in random order: bare (only the generator's own counts are read), counted (counters
of all hops before and after, path of every frame, threads, stops), and whole, as every trial is. In
a whole trial the SMT contention probe also works on each polling CPU; it identifies noise and is no
part of the accounting. All trials offer half as much again as passes, so that the received rate is
what the switch forwards. A cost is the ratio of rates within blocks, with its bootstrap interval
over BLOCKS blocks. Required is at most 2% for the accounting; the benchmark fails where the
interval shows more. The probe's cost is printed next to it, and the time of one look at all
settings, which each trial takes once after its traffic: required is at most 30 ms.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median

from benchmarks.shared.figures import show
from benchmarks.shared.point import bench_of, point_of

from wirespeed.bench.noise import cgroups
from wirespeed.bench.noise.settings import watched
from wirespeed.bench.session import RealBench
from wirespeed.bench.trial import TrialHost, run_trial
from wirespeed.experiment.combinations import Combination
from wirespeed.experiment.effects import Effect, step

BLOCKS = int(os.environ.get("BLOCKS", "20"))
ASKED, SETTINGS_MS, LOOKS = 0.02, 30.0, 50
TRIAL_S = 1.0
OVERLOAD = 1.5
BARE: Combination = frozenset()
COUNTED: Combination = frozenset({0})
WHOLE: Combination = frozenset({0, 1})


def bare_fps(bench: RealBench, load_fps: float) -> float:
    """Return what is received when nothing else is observed or read."""
    generator = bench.rig.generator
    generator.begin()
    generator.start(load_fps, TRIAL_S)
    time.sleep(TRIAL_S)
    while generator.running():
        time.sleep(0.01)
    return sum(d.received for d in generator.figures().directions()) / TRIAL_S


def counted_fps(bench: RealBench, load_fps: float) -> float:
    rig = replace(bench.rig, hosts=[without_probe(host) for host in bench.rig.hosts])
    return run_trial(rig, load_fps, TRIAL_S).total("received") / TRIAL_S


def without_probe(host: TrialHost) -> TrialHost:
    """Return the host without a probe: wsdp rejects one for no CPU, and the trial continues."""
    nowhere = replace(host.watch.contention, cpus=frozenset())
    return replace(host, watch=replace(host.watch, contention=nowhere))


def whole_fps(bench: RealBench, load_fps: float) -> float:
    return bench.measure(load_fps, TRIAL_S).total("received") / TRIAL_S


KINDS: dict[Combination, tuple[str, Callable[[RealBench, float], float]]] = {
    BARE: ("bare", bare_fps),
    COUNTED: ("counted", counted_fps),
    WHOLE: ("whole", whole_fps),
}


def main() -> int:
    rates: dict[Combination, list[float]] = {kind: [] for kind in KINDS}
    order = random.Random(BLOCKS)
    with bench_of(point_of("quickstart", "topology.kind=p2p", "traffic.frame=64")) as bench:
        assert isinstance(bench, RealBench)
        load_fps = OVERLOAD * max(whole_fps(bench, 1e9) for _ in range(3))
        for _ in range(BLOCKS):
            for kind in order.sample(list(KINDS), len(KINDS)):
                rates[kind].append(KINDS[kind][1](bench, load_fps))
        took_ms = sorted(look_ms(bench) for _ in range(LOOKS))
    show("settings_look_median", median(took_ms), f"ms of-{LOOKS}-looks asked {SETTINGS_MS:g}")
    show("settings_look_longest", took_ms[-1], "ms")
    for kind, (name, _) in KINDS.items():
        show(f"p2p_64B_{name}_median", median(rates[kind]), "fps")
    cost("accounting_and_probe_cost", step(rates, BARE, WHOLE, blocks=True), "")
    lowest = cost("accounting_cost", step(rates, BARE, COUNTED, blocks=True), f" asked {ASKED:g}")
    return 1 if lowest > ASKED or median(took_ms) > SETTINGS_MS else 0


def look_ms(bench: RealBench) -> float:
    """Return the time of one look at the settings of all hosts, in ms."""
    began = time.perf_counter()
    for host in bench.rig.hosts:
        host.settings.look(cgroups.read(host.runner, watched(host.parts)))
    return 1e3 * (time.perf_counter() - began)


def cost(name: str, found: Effect | None, asked: str) -> float:
    """Print a cost; return the lower end of its interval."""
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    show(name, 1 - found.ratio, f"of-the-rate-of-{BLOCKS}-blocks{asked}")
    show(f"{name}_from", 1 - found.high, "")
    show(f"{name}_to", 1 - found.low, "")
    return 1 - found.high


if __name__ == "__main__":
    sys.exit(main())
