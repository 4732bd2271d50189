# SPDX-License-Identifier: Apache-2.0
"""How far is the model off on this host, at points that it was not fitted to?

Fitted: p2p and pvp at three frame sizes, chains of 1, 2 and 4. Predicted: chains of 3 and 8, 2 and
8 functions in parallel, and a frame size that was not seen. All through a real Open vSwitch with
DPDK, in one session of ROUNDS rounds over all points, each in an order of its own; of a point the
median of its undisturbed MRRs of grade C or better counts. Beside each stand the NDR/MRR ratio and
the median latency at half the PDR, predicted and measured in the first round. Asked: a median error
of at most 10%. The spread between rounds says how well this host can answer at all. SECONDS limits
each point of the first round; the model's structure was frozen before this was run.

What one PMD core cannot tell apart is not fitted but taken from S2 (predict/bench.py). CLOCK_GHZ is
the clock of this machine's cores.
"""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass
from statistics import median

from benchmarks.figures import show
from benchmarks.point import point_of, searched

from wirespeed.cli.rig import local_rig
from wirespeed.model.prediction import Case, RateKind
from wirespeed.model.result import Grade, SearchResult
from wirespeed.model.spec import Frames
from wirespeed.model.study import Point
from wirespeed.predict.bench import fit_bench
from wirespeed.predict.observation import Observation
from wirespeed.predict.parameters import Parameters
from wirespeed.predict.predict import predict
from wirespeed.predict.study import case_of

# D only to try this out: such MRRs are not undisturbed.
LEAST = Grade(os.environ.get("LEAST_GRADE", "C"))
SECONDS = float(os.environ.get("SECONDS_A_POINT", "16"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
# Of this machine's cores: the reference machine's by default.
CLOCK_GHZ = float(os.environ.get("CLOCK_GHZ", "2.6"))
ASKED = 0.10

FITTED = (
    *((kind, 1, size) for kind in ("p2p", "pvp") for size in (64, 512, 1518)),
    *(("chain", count, 64) for count in (1, 2, 4)),
)
PREDICTED = (
    *(("chain", count, 64) for count in (3, 8)),
    *(("parallel", count, 64) for count in (2, 8)),
    ("pvp", 1, 256),
)


@dataclass(frozen=True)
class Found:
    """A measured point. results: of all rounds, whatever their grades; of the first with NDR and
    latency."""

    label: str
    case: Case
    results: list[SearchResult]

    @property
    def rates(self) -> list[float]:
        """The undisturbed MRRs whose grade is good enough."""
        graded = (r for r in self.results if r.grade is not None and r.grade <= LEAST)
        return [result.mrr_fps for result in graded if result.mrr_fps]

    @property
    def mrr_fps(self) -> float | None:
        """Their median."""
        return median(self.rates) if self.rates else None


def measured(chance: random.Random) -> dict[tuple[str, int, int], Found]:
    """Every point once a round, each round in an order of its own: this host changes by the minute,
    and by more than the model may be off."""
    found: dict[tuple[str, int, int], Found] = {}
    for number in range(ROUNDS):
        points = [*FITTED, *PREDICTED]
        chance.shuffle(points)
        for point in points:
            spec = _spec(*point, whole=number == 0)
            if point not in found:
                label = "{}_{}_{}B".format(*point)
                case = case_of(Point("", label, spec, {}), local_rig().plan(spec))
                found[point] = Found(label, case, [])
            result = searched(spec)
            found[point].results.append(result)
            rate = "no MRR" if result.mrr_fps is None else f"MRR {result.mrr_fps / 1e6:.3f} Mpps"
            print(f"# round {number + 1}, {found[point].label}: grade {result.grade}, {rate}",
                  flush=True)  # fmt: skip
    return found


def _spec(kind: str, functions: int, size: int, *, whole: bool) -> Frames:
    search = (f"search.time_limit_s={SECONDS}",) if whole else ("search.kind=mrr",)
    return point_of(
        "quickstart",
        f"topology.kind={kind}", f"topology.vnfs={functions}", f"traffic.frame={size}", *search,
    )  # fmt: skip


def fitted(points: list[Found]) -> Parameters:
    observations = [
        Observation(point.case, point.mrr_fps, RateKind.MRR, point.label)
        for point in points
        if point.mrr_fps
    ]
    return fit_bench(observations, "this host", CLOCK_GHZ * 1e9)


def beside(point: Found, parameters: Parameters) -> float | None:
    """Print the prediction beside what was measured; the error, where the MRR counts."""
    found = predict([point.case], parameters)[0]
    limited = f"limited by {found.limit.resource}"
    show(f"{point.label}_predicted", found.rate_fps, f"fps {limited}")
    rate, result = point.mrr_fps, point.results[0]
    if rate is None:
        print(f"{point.label}_measured none of grade {LEAST} or better")
        return None
    told = f"fps median of {len(point.rates)}, {min(point.rates):.0f} to {max(point.rates):.0f}"
    show(f"{point.label}_measured", rate, told, found.rate_fps / rate, "mrr")
    if result.ndr is not None and result.ndr.lower is not None:
        ratio = result.ndr.lower.load_fps / rate
        show(f"{point.label}_ndr_share", ratio, f"predicted {found.ndr_share:.2f}")
    at = next((at for at in result.latency if abs(at.share - 0.5) < 1e-9), None)
    if at is not None:
        latency = at.undisturbed or at.latency
        show(f"{point.label}_p50", latency.p50_ns / 1e3, f"us predicted {found.latency_us:.1f}")
    return abs(found.rate_fps / rate - 1)


def main() -> int:
    seed = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"# SEED={seed}", flush=True)
    points = measured(random.Random(seed))
    learned = [points[point] for point in FITTED]
    parameters = fitted(learned)
    for name, estimate in parameters.values.items():
        told = "" if estimate.told else " (not told)"
        print(f"{name} {estimate.value:.4g} ({estimate.low:.4g} to {estimate.high:.4g}){told}")
    for point in learned:
        beside(point, parameters)
    print("# held out", flush=True)
    missed = [beside(points[point], parameters) for point in PREDICTED]
    counted = [error for error in missed if error is not None]
    if not counted:
        print(f"no point that was held out has grade {LEAST} or better")
        return 1
    show("held_out_points", len(counted), f"of-{len(missed)}")
    show("held_out_median_error", 100 * median(counted), f"% asked {100 * ASKED:.0f}")
    spreads = [max(p.rates) / min(p.rates) - 1 for p in points.values() if len(p.rates) > 1]
    if spreads:
        show("same_point_median_spread", 100 * median(spreads), "% between rounds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
