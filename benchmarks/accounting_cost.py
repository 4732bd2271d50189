# SPDX-License-Identifier: Apache-2.0
"""What does it cost the rate that every frame is accounted for?

On one bench of p2p with 64 B frames, through a real Open vSwitch with DPDK, overload trials by
turns: whole, as every trial is (counters of all hops before and after, evidence recorded while
frames pass), and bare: the generator offers as many frames, and nothing but its own counts is read.
Both offer half as much again as passes, so that what is received is what the switch forwards. The
effect is the ratio of the rates in pairs of neighbouring trials, with its interval by the bootstrap
over PAIRS pairs. Asked is a cost of at most 2%; fails where the interval says that it is more.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable

from benchmarks.figures import show
from benchmarks.point import bench_of, point_of

from wirespeed.bench.session import RealBench
from wirespeed.experiment.combinations import Combination
from wirespeed.experiment.effects import step

PAIRS = int(os.environ.get("PAIRS", "20"))
ASKED = 0.02
TRIAL_S = 1.0
OVERLOAD = 1.5
BARE: Combination = frozenset()
WHOLE: Combination = frozenset({0})


def bare_fps(bench: RealBench, load_fps: float) -> float:
    """What is received when nothing is watched or read besides."""
    generator = bench.rig.generator
    generator.begin()
    generator.start(load_fps, TRIAL_S)
    time.sleep(TRIAL_S)
    while generator.running():
        time.sleep(0.01)
    return sum(d.received for d in generator.figures().directions()) / TRIAL_S


def whole_fps(bench: RealBench, load_fps: float) -> float:
    return bench.measure(load_fps, TRIAL_S).total("received") / TRIAL_S


def main() -> int:
    kinds: dict[Combination, Callable[[RealBench, float], float]] = {
        BARE: bare_fps, WHOLE: whole_fps,
    }  # fmt: skip
    rates: dict[Combination, list[float]] = {BARE: [], WHOLE: []}
    order = random.Random(PAIRS)
    with bench_of(point_of("quickstart", "topology.kind=p2p", "traffic.frame=64")) as bench:
        assert isinstance(bench, RealBench)
        load_fps = OVERLOAD * max(whole_fps(bench, 1e9) for _ in range(3))
        for _ in range(PAIRS):
            for kind in order.sample([BARE, WHOLE], 2):
                rates[kind].append(kinds[kind](bench, load_fps))
    found = step(rates, BARE, WHOLE, blocks=True)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    for name, kind in (("bare", BARE), ("whole", WHOLE)):
        show(f"p2p_64B_{name}_median", sorted(rates[kind])[PAIRS // 2], "fps")
    show("accounting_cost", 1 - found.ratio, f"of-the-rate-of-{PAIRS}-pairs asked {ASKED:g}")
    show("accounting_cost_from", 1 - found.high, "")
    show("accounting_cost_to", 1 - found.low, "")
    return 1 if 1 - found.high > ASKED else 0


if __name__ == "__main__":
    sys.exit(main())
