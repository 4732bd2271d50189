# SPDX-License-Identifier: Apache-2.0
"""Search on simulated noisy hosts of hidden capacity: no rate may lie above the truth.

No data plane runs. A third of the hosts also moves between two placements that differ by 10 or 35%;
on another third the noise comes and goes. Half of the points have a time limit. Prints how many
rates (NDR, PDR) lie above the capacity of their placement by more than the search's width
(required: 0), and how many points have an NDR.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.shared.figures import show
from tests.support.changing_host import ChangingHost
from tests.support.moving_host import MovingHost
from tests.support.noisy_host import Noise, NoisyHost
from tests.support.simulated import Recorder

from wirespeed.measure.interface import UNLIMITED, Measurer
from wirespeed.measure.run import WIDTH, run_search
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.spec import Search, SearchKind

RUNS = int(os.environ.get("RUNS", "200"))
QUICK = Search(SearchKind.QUICK, latency=False)
LOSSES = (0.1, 0.35)
LIMIT_S = 60.0
# The search's steps are rounded.
SLACK = 1.02


def noise(rng: random.Random) -> Noise:
    """Return any mixture, from none to a core that is shared most of the time."""
    return Noise(
        shared=rng.choice((0.0, rng.uniform(0, 0.9))),
        shared_ns=rng.uniform(10e6, 100e6),
        stops_per_s=rng.uniform(0, 20),
        pauses_per_s=rng.uniform(0, 20),
    )


def rates(result: SearchResult) -> Iterator[tuple[PlacementKind | None, float, float]]:
    """Yield placement, rate and the most by which it may exceed the capacity, relative."""
    for one in result.answers:
        width = one.undisturbed.width if one.undisturbed is not None else WIDTH
        for interval, tolerated in ((one.ndr, 0.0), (one.pdr, max(QUICK.pdr_loss, width))):
            if interval is not None and interval.lower is not None:
                yield one.placement, interval.lower.load_fps, tolerated + SLACK * width


def searched(seed: int) -> tuple[SearchResult, dict[PlacementKind | None, float]]:
    """Return the result on one host, and the capacity of each of its placements."""
    rng = random.Random(seed)
    capacity_fps = rng.uniform(0.5e6, 9e6)
    measure: Measurer
    truth: dict[PlacementKind | None, float] = {None: capacity_fps}
    if seed % 3 == 1:
        still = NoisyHost(capacity_fps, noise(rng), generator_fps=8 * capacity_fps, seed=seed)
        measure = still.measure
    elif seed % 3 == 2:
        measure = ChangingHost(capacity_fps, seed).measure
    else:
        moving = MovingHost(
            capacity_fps, rng.choice(LOSSES), seed=seed, stay_s=(4.0, 12.0), noise=noise(rng)
        )
        measure = moving.measure
        truth = {
            PlacementKind.ONE_CACHE: moving.near_fps,
            PlacementKind.ACROSS_CACHES: moving.far_fps,
        }
    search = replace(QUICK, time_limit_s=LIMIT_S if seed % 2 else None)
    return run_search(search, measure, UNLIMITED, Recorder()), truth


def main() -> int:
    found = above = 0
    grades: Counter[str] = Counter()
    for seed in range(RUNS):
        result, truth = searched(seed)
        grades[str(result.grade)] += 1
        for placement, load_fps, most in rates(result):
            beyond = load_fps > truth[placement] * (1 + most)
            found, above = found + 1, above + beyond
            if beyond:
                print(f"seed {seed}: {load_fps:,.0f} fps, truth {truth[placement]:,.0f}")
    show("noise_sim_above_truth", above, f"of-{found}-rates asked 0")
    for grade, points in sorted(grades.items()):
        show(f"noise_sim_grade_{grade}", points, f"of-{RUNS}-points")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
