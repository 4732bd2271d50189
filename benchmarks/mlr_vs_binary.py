# SPDX-License-Identifier: Apache-2.0
"""Compare the trial time of MLRsearch with that of two binary searches, for NDR and PDR.

Both end with 60 s trials, 60 s for each bound, at 0.5% width, on the reference SUT (a fixed rate
behind a queue of 1,024 frames) with its clock simulated. The time of mlr includes its warm-up and
MRR trials. A search that misses the capacity by more than its width fails the benchmark.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tests.support.simulated import Recorder, Rig, Sharp, prober_of

from wirespeed.measure.run import run_search
from wirespeed.measure.search.interface import Limits
from wirespeed.measure.search.rfc2544 import Rfc2544
from wirespeed.model.result.result import Interval
from wirespeed.model.study.spec import Search, SearchKind
from wirespeed.model.units import line_rate_fps

WIDTH = 0.005
PDR_LOSS = 0.005
FINAL_TRIAL_S = 60.0
MIN_FPS = 10_000.0
LINE_RATE_FPS = line_rate_fps(10e9, 64)
CAPACITIES_FPS = (0.5e6, 1e6, 2e6, 3e6, 5e6, 7.6e6, 10.5e6, 13e6)


@dataclass(frozen=True)
class Cost:
    trials: int
    traffic_s: float


def rig_of(capacity_fps: float) -> Rig:
    return Rig(Sharp(capacity_fps, buffer_frames=1024), generator_fps=LINE_RATE_FPS)


def binary(capacity_fps: float, narrow_trial_s: float) -> Cost:
    """Run two binary searches from line rate, one for each loss goal."""
    rig = rig_of(capacity_fps)
    for loss in (0.0, PDR_LOSS):
        prober = prober_of(rig.measure)
        search = Rfc2544(narrow_trial_s, FINAL_TRIAL_S, WIDTH, loss)
        found = search.find(prober, Limits(MIN_FPS, LINE_RATE_FPS, None))
        check(found.pdr if loss else found.ndr, capacity_fps / (1 - loss))
    return Cost(len(rig.calls), rig.traffic_s)


def mlr(capacity_fps: float) -> Cost:
    """Run the mlr preset with 60 s final trials."""
    rig = rig_of(capacity_fps)
    asked = Search(SearchKind.MLR, MIN_FPS, trial_s=FINAL_TRIAL_S, width=WIDTH, latency=False)
    found = run_search(asked, rig.measure, LINE_RATE_FPS, Recorder())
    check(found.ndr, capacity_fps)
    check_pdr(found.pdr, capacity_fps)
    return Cost(len(rig.calls), rig.traffic_s)


def check(found: Interval | None, truth_fps: float) -> None:
    """Exit where the interval is too wide, or the true rate lies outside of it."""
    if found is None or found.lower is None or found.upper is None:
        sys.exit(f"no interval around {truth_fps:,.0f} frames/s")
    lower, upper = found.lower.load_fps, found.upper.load_fps
    # Frames that the queue absorbs in a final trial, and one frame of rounding.
    hidden_fps = (1024 + 1) / FINAL_TRIAL_S
    if upper - lower > WIDTH * upper or not lower - hidden_fps <= truth_fps <= upper:
        sys.exit(f"{truth_fps:,.0f} frames/s came out as {lower:,.0f}..{upper:,.0f}")


def check_pdr(found: Interval | None, capacity_fps: float) -> None:
    """Check that the PDR of a sharp SUT is its capacity: no rate exceeds the MRR."""
    if found is None or found.lower is None:
        sys.exit(f"no PDR of {capacity_fps:,.0f} frames/s")
    if abs(found.lower.load_fps - capacity_fps) > WIDTH * capacity_fps:
        sys.exit(f"the PDR of {capacity_fps:,.0f} frames/s came out as {found.lower.load_fps:,.0f}")


def report(name: str, costs: list[Cost], base: list[Cost]) -> None:
    traffic_s, base_s = (sum(c.traffic_s for c in x) / len(x) for x in (costs, base))
    trials = sum(c.trials for c in costs) / len(costs)
    worst = max(c.traffic_s / b.traffic_s for c, b in zip(costs, base, strict=True))
    print(f"{name}_trial_time {traffic_s:.0f} s {traffic_s / base_s:.3f}x of two binary searches")
    print(f"{name}_trials {trials:.0f} trials worst-capacity ratio {worst:.3f}")


def main() -> None:
    print(f"# mean of {len(CAPACITIES_FPS)} capacities, 0.5 to 13 Mpps; line rate 14.88 Mpps")
    base = [binary(c, FINAL_TRIAL_S) for c in CAPACITIES_FPS]
    report("binary_60s", base, base)
    report("binary_2s_then_60s", [binary(c, 2.0) for c in CAPACITIES_FPS], base)
    report("mlr", [mlr(c) for c in CAPACITIES_FPS], base)


if __name__ == "__main__":
    main()
