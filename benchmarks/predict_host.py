# SPDX-License-Identifier: Apache-2.0
"""Measure the error of the model on this host, at points that it was not fitted to.

Fitted: p2p and pvp at three frame sizes, chains of 1, 2 and 4. Predicted: chains of 3 and 8, 2 and
8 functions in parallel, and a new frame size. Unseen: a chain of 5 and 3 functions in parallel. The
cost of missed cache lookups was added to the model, and the parameters to fit were reduced, after
the predicted points had been seen. So only the unseen points test the structure; no median has
them.

All run through a real Open vSwitch with DPDK, in one session of ROUNDS rounds over all points, each
in random order. Of a point the median of its clean MRRs of grade C or better counts. Parameters are
fitted for each CPU placement, and predict the points of that placement; the same pooled over
placements stands next to it. Next to each are the NDR/MRR ratio and the median latency at half the
PDR, predicted and measured in the first round. Required: a median error of at most 10% in each
placement. The spread between rounds shows the limit of any answer on this host.
SECONDS_A_POINT limits each point of the first round.

Parameters that one PMD core cannot separate are not fitted but taken from S2 (predict/bench.py).
CLOCK_GHZ is the clock of this machine's cores.
"""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

from benchmarks.shared.figures import show
from benchmarks.shared.point import point_of, searched

from wirespeed.model.cpus import NEAREST, PlacementKind
from wirespeed.model.errors import BadInput
from wirespeed.model.plan.prediction import Case, RateKind
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.study.spec import Frames
from wirespeed.model.study.study import Point
from wirespeed.predict.bench import fit_bench
from wirespeed.predict.observation import Observation
from wirespeed.predict.parameters import Parameters
from wirespeed.predict.predict import predict
from wirespeed.predict.study import case_of
from wirespeed.session.rig import local_rig

# D only to try this out: such MRRs are not clean.
LEAST = Grade(os.environ.get("LEAST_GRADE", "C"))
SECONDS = float(os.environ.get("SECONDS_A_POINT", "16"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
# Clock of this machine's cores: the reference machine's by default.
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
UNSEEN = (("chain", 5, 64), ("parallel", 3, 64))


# A placement, or all of them together.
POOLED: Final = "pooled"
Of = PlacementKind | Literal["pooled"] | None


@dataclass(frozen=True)
class Found:
    """A measured point."""

    label: str
    case: Case
    results: list[SearchResult]
    """Results of all rounds, whatever their grades; that of the first has NDR and latency."""

    def rates(self, of: Of) -> list[float]:
        """Return the clean MRRs whose grade is good enough."""
        answers = (one for result in self.results for one in result.answers)
        return [
            one.mrr_fps
            for one in answers
            if of in (POOLED, one.placement)
            and one.grade is not None
            and one.grade <= LEAST
            and one.mrr_fps
        ]

    def mrr_fps(self, of: Of) -> float | None:
        """Return their median."""
        return median(rates) if (rates := self.rates(of)) else None


def measured(chance: random.Random) -> dict[tuple[str, int, int], Found]:
    """Measure every point once a round, each round in random order.

    This host changes by the minute, and by more than the model may be off.
    """
    found: dict[tuple[str, int, int], Found] = {}
    for number in range(ROUNDS):
        points = [*FITTED, *PREDICTED, *UNSEEN]
        chance.shuffle(points)
        for point in points:
            spec = _spec(*point, whole=number == 0)
            if point not in found:
                label = "{}_{}_{}B".format(*point)
                case = case_of(Point("", label, spec, {}), local_rig().plan(spec))
                found[point] = Found(label, case, [])
            result = searched(spec)
            found[point].results.append(result)
            rate = ", ".join(
                f"{one.placement or 'not known'}: grade {one.grade}, "
                f"MRR {(one.mrr_fps or 0) / 1e6:.3f} Mpps"
                for one in result.answers
            )
            print(f"# round {number + 1}, {found[point].label}: {rate}",
                  flush=True)  # fmt: skip
    return found


def _spec(kind: str, functions: int, size: int, *, whole: bool) -> Frames:
    search = (f"search.time_limit_s={SECONDS}",) if whole else ("search.kind=mrr",)
    return point_of(
        "quickstart",
        f"topology.kind={kind}", f"topology.vnfs={functions}", f"traffic.frame={size}", *search,
    )  # fmt: skip


def fitted(points: list[Found], of: Of) -> Parameters:
    """Fit the parameters. Raises BadInput for fewer points than parameters."""
    observations = [
        Observation(point.case, rate, RateKind.MRR, point.label)
        for point in points
        if (rate := point.mrr_fps(of))
    ]
    return fit_bench(observations, f"this host, {of}", CLOCK_GHZ * 1e9)


def show_error(point: Found, parameters: Parameters, of: Of) -> float | None:
    """Print the prediction next to the measurement; return the error, where the MRR counts."""
    found = predict([point.case], parameters)[0]
    name = f"{point.label}_{named(of)}"
    rates, rate = point.rates(of), point.mrr_fps(of)
    if rate is None:
        print(f"{name}_measured none of grade {LEAST} or better")
        return None
    show(f"{name}_predicted", found.rate_fps, f"fps limited by {found.limit.resource}")
    spread = f"fps median of {len(rates)}, {min(rates):.0f} to {max(rates):.0f}"
    show(f"{name}_measured", rate, spread, found.rate_fps / rate, "mrr")
    result = point.results[0]
    if of not in (POOLED, result.placement):
        return abs(found.rate_fps / rate - 1)
    if result.ndr is not None and result.ndr.lower is not None:
        ratio = result.ndr.lower.load_fps / rate
        show(f"{name}_ndr_share", ratio, f"predicted {found.ndr_share:.2f}")
    at = next((at for at in result.latency if abs(at.share - 0.5) < 1e-9), None)
    if at is not None:
        latency = at.undisturbed or at.latency
        show(f"{name}_p50", latency.p50_ns / 1e3, f"us predicted {found.latency_us:.1f}")
    return abs(found.rate_fps / rate - 1)


def named(of: Of) -> str:
    return "unknown" if of is None else of.replace(" ", "_")


def checked(points: dict[tuple[str, int, int], Found], of: Of) -> bool | None:
    """Fit to the rates of one placement, print the errors there, and return whether they pass.

    None where there are too few.
    """
    learned = [points[point] for point in FITTED]
    print(f"# {of or 'placement not known'}", flush=True)
    try:
        parameters = fitted(learned, of)
    except BadInput as error:
        print(f"{named(of)}: {error.what}")
        return None
    for name, estimate in parameters.values.items():
        unsure = "" if estimate.determined else " (not determined)"
        print(f"{name} {estimate.value:.4g} ({estimate.low:.4g} to {estimate.high:.4g}){unsure}")
    for point in learned:
        show_error(point, parameters, of)
    print("# held out", flush=True)
    missed = [show_error(points[point], parameters, of) for point in PREDICTED]
    print("# not seen when the structure was chosen", flush=True)
    for unseen in UNSEEN:
        show_error(points[unseen], parameters, of)
    counted = [error for error in missed if error is not None]
    show(f"held_out_points_{named(of)}", len(counted), f"of-{len(missed)}")
    if not counted:
        return None
    asked = "" if of == POOLED else f" asked {100 * ASKED:.0f}"
    show(f"held_out_median_error_{named(of)}", 100 * median(counted), f"%{asked}")
    spreads = [max(rates) / min(rates) - 1
               for p in points.values() if len(rates := p.rates(of)) > 1]  # fmt: skip
    if spreads:
        show(f"same_point_median_spread_{named(of)}", 100 * median(spreads), "% between rounds")
    return median(counted) <= ASKED


def main() -> int:
    seed = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"# SEED={seed}", flush=True)
    points = measured(random.Random(seed))
    answers = (one for p in points.values() for r in p.results for one in r.answers)
    met = {one.placement for one in answers}
    passed = [checked(points, of) for of in (*NEAREST, None) if of in met]
    checked(points, POOLED)
    return 0 if any(passed) and False not in passed else 1


if __name__ == "__main__":
    sys.exit(main())
