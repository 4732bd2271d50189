# SPDX-License-Identifier: Apache-2.0
"""Compare NDR and PDR of p2p 64 B with the MRR, and two searches with each other.

The quick search runs twice through a real Open vSwitch with DPDK, each time with its own bench. A
run without an NDR prints what it has instead, and the benchmark fails.
"""

from __future__ import annotations

import sys
from statistics import median

from benchmarks.shared.figures import show
from benchmarks.shared.point import point_of, searched

from wirespeed.model.result.result import SearchResult


def tell(run: int, result: SearchResult) -> float | None:
    """Print one run's results; return its NDR in frames/s."""
    trials = result.trials
    overhead_s = [trial.observation.overhead_s for trial in trials]
    show(f"p2p_64B_run{run}_overhead_a_trial_median", median(overhead_s), "s")
    show(f"p2p_64B_run{run}_overhead_a_trial_longest", max(overhead_s), "s")
    shares = [trial.gated.clean_share for trial in trials if trial.gated is not None]
    show(f"p2p_64B_run{run}_clean_share_median", median(shares), "of-the-time")
    print(f"p2p_64B_run{run} grade {result.grade}: {'; '.join(result.because)}")
    if result.mrr_fps is None:
        print(f"p2p_64B_run{run} has no MRR over clean time: {result.as_is}")
        return None
    if (pair := trials[-1].observation.placement) is not None:
        print(f"p2p_64B_run{run} CPUs: {pair[0]}")
    show(f"p2p_64B_run{run}_mrr", result.mrr_fps, "fps")
    ndr_fps = None
    for goal, interval in (("ndr", result.ndr), ("pdr", result.pdr)):
        if interval is None or interval.lower is None:
            print(f"p2p_64B_run{run}_{goal} has no lower bound: {result.bracket}")
            continue
        load_fps = interval.lower.load_fps
        show(f"p2p_64B_run{run}_{goal}", load_fps, "fps", load_fps / result.mrr_fps, "mrr")
        ndr_fps = load_fps if goal == "ndr" else ndr_fps
    return ndr_fps


def main() -> int:
    # As near as the search gets, however long it takes.
    spec = point_of(
        "quickstart", "topology.kind=p2p", "traffic.frame=64", "search.time_limit_s=600"
    )
    first, second = (tell(run, searched(spec)) for run in (1, 2))
    if first is None or second is None:
        return 1
    show("p2p_64B_ndr_of_run_2", second, "fps", second / first, "run-1")
    return 0


if __name__ == "__main__":
    sys.exit(main())
