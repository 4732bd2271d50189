# SPDX-License-Identifier: Apache-2.0
"""Search on a simulated host whose CPUs move every 10 to 60 s between two placements.

No data plane runs. Far forwards 0, 10 or 35% less than near. Prints how many NDRs lie within the
search's width of the truth of their placement, how many equal placements are merged, and the most
trials of a placement next to those of a host that does not move.
"""

from __future__ import annotations

import os
import sys

from benchmarks.shared.figures import show
from tests.support.moving_host import NEAR, MovingHost
from tests.support.noisy_host import NoisyHost
from tests.support.simulated import Recorder

from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import WIDTH, run_search
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.study.spec import Search, SearchKind

RUNS = int(os.environ.get("RUNS", "200"))
LOSSES = (0.0, 0.1, 0.35)
NEAR_FPS = 4e6
WITHIN, MERGED, MOST = 0.95, 0.9, 1.2
QUICK = Search(SearchKind.QUICK)
# The search's steps are rounded.
SLACK = 1.02


def points(loss: float, unmoved: int) -> bool:
    """Print one line of results for a host whose far placement forwards that much less."""
    figures = within = both = merged = most = 0
    for seed in range(RUNS):
        host = MovingHost(NEAR_FPS, loss, seed=seed)
        result = run_search(QUICK, host.measure, UNLIMITED, Recorder())
        fused_here = any("merged" in note for note in result.notes)
        merged += fused_here
        both += fused_here or sum(bool(one.mrr_fps) for one in result.answers) > 1
        for one in result.answers:
            ran = sum(trial.placement is one.placement for trial in result.trials)
            most = max(most, ran)
            if one.ndr is not None and one.ndr.lower is not None:
                near = one.placement is PlacementKind.ONE_CACHE
                truth_fps = host.near_fps if near else host.far_fps
                figures += 1
                within += abs(one.ndr.lower.load_fps / truth_fps - 1) <= SLACK * WIDTH
    name = f"placement_sim_{loss:.0%}"
    show(f"{name}_within_the_width", within / figures, f"of-{figures}-NDRs asked {WITHIN:g}")
    show(
        f"{name}_merged",
        merged / both if both else 0.0,
        f"of-{both}-points-with-both-MRRs{'' if loss else f' asked {MERGED:g}'}",
    )
    show(f"{name}_most_trials_of_a_placement", most / unmoved, f"x-of-{unmoved} asked {MOST:g}")
    fused = loss > 0 or not both or merged >= MERGED * both
    return within >= WITHIN * figures and fused and most <= MOST * unmoved


def main() -> int:
    still = NoisyHost(NEAR_FPS, generator_fps=8 * NEAR_FPS, placement=(NEAR, NEAR))
    unmoved = len(run_search(QUICK, still.measure, UNLIMITED, Recorder()).trials)
    passed = [points(loss, unmoved) for loss in LOSSES]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
