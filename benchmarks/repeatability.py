# SPDX-License-Identifier: Apache-2.0
"""Do repeated runs give the same figures on this host, as noisy as it is?

p2p and pvp at 64 and 512 B through a real Open vSwitch with DPDK, ROUNDS times each in random
order, each with a bench of its own: how each point was graded, and the coefficient of variation of
the undisturbed figures with its 95% interval, beside that of whole trials. The placebo test of each
point: were frames lost in the time left out? Asked are at most 5% of the undisturbed NDR where it
has grade C or better; figures of grade D are printed apart. Fails when a point has no grade, or
where the interval of that NDR's variation lies above 5% as a whole. Where a hypervisor places the
CPUs, the MRR is printed by placement too: within one cache and across caches are two machines.
"""

from __future__ import annotations

import math
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean, median, stdev

from benchmarks.figures import show
from benchmarks.point import point_of, searched

from wirespeed.measure.proof import noise_explains_loss
from wirespeed.model.cpus import SHARED_CACHE_NS
from wirespeed.model.result import Grade, SearchResult
from wirespeed.model.trial import Stage

# Of the undisturbed NDR of grade C or better.
ASKED = 0.05
NDR = "undisturbed_ndr"
ROUNDS = int(os.environ.get("ROUNDS", "5"))
POINTS = [(kind, size) for kind in ("p2p", "pvp") for size in (64, 512)]
# Chi-square quantiles for the interval of a standard deviation, by degrees of freedom: 2.5%, 97.5%.
_CHI2 = {1: (0.001, 5.02), 2: (0.051, 7.38), 3: (0.216, 9.35), 4: (0.484, 11.14), 5: (0.831, 12.83),
         6: (1.24, 14.45), 7: (1.69, 16.01), 8: (2.18, 17.53), 9: (2.70, 19.02)}  # fmt: skip


def variation(name: str, values: Sequence[float], asked: str = "") -> float:
    """The coefficient of variation with its 95% interval (of a normal distribution); the lower end
    of the interval."""
    if len(values) < 2:
        print(f"{name}_variation: {len(values)} figures are too few")
        return 0.0
    found = stdev(values) / fmean(values)
    freedom = len(values) - 1
    low, high = _CHI2.get(freedom, (freedom * 0.5, freedom * 1.7))
    show(f"{name}_mean", fmean(values), "fps")
    lowest = found * math.sqrt(freedom / high)
    show(f"{name}_variation", found, f"of-{len(values)}{asked}")
    show(f"{name}_variation_from", lowest, "")
    show(f"{name}_variation_to", found * math.sqrt(freedom / low), "")
    return lowest


def placebo(result: SearchResult) -> str:
    """Over the trials at the NDR."""
    if result.ndr is None or result.ndr.lower is None:
        return "nothing to try"
    load_fps = result.ndr.lower.load_fps
    there = [t for t in result.trials if t.intended_load_fps == load_fps]
    said = noise_explains_loss([t for t in there if t.stage is not Stage.AS_IS])
    return {True: "noise explains the loss", False: "it does not", None: "undecided"}[said]


def placed(result: SearchResult) -> str:
    """Where most of its trials had the CPUs."""
    seen = [
        at.core_to_core_ns for trial in result.trials for at in trial.observation.placement or ()
    ]
    if not seen:
        return "of_unknown_placement"
    return "within_one_cache" if median(seen) <= SHARED_CACHE_NS else "across_caches"


def main() -> int:
    order = [point for point in POINTS for _ in range(ROUNDS)]
    random.Random(ROUNDS).shuffle(order)
    figures: defaultdict[str, list[float]] = defaultdict(list)
    grades: Counter[str] = Counter()
    for kind, size in order:
        spec = point_of("quickstart", f"topology.kind={kind}", f"traffic.frame={size}")
        result = searched(spec)
        name = f"{kind}_{size}B"
        grades[str(result.grade)] += 1
        shared = [
            part.share for trial in result.trials if trial.gated is not None
            for part in trial.gated.left_out if part.why == "core shared"
        ]  # fmt: skip
        told = median(shared) if shared else 0.0
        print(f"{name} grade {result.grade}, MRR {result.mrr_fps or math.nan:,.0f} fps, "
              f"core shared {told:.0%}, placebo: {placebo(result)}; "
              f"{'; '.join(result.because)} {result.bracket or ''}", flush=True)  # fmt: skip
        rough = "_of_grade_D" if result.grade is Grade.D else ""
        if result.mrr_fps is not None:
            figures[f"{name}_undisturbed_mrr{rough}"].append(result.mrr_fps)
            figures[f"{name}_mrr_{placed(result)}"].append(result.mrr_fps)
        if result.ndr is not None and result.ndr.lower is not None:
            figures[f"{name}_{NDR}{rough}"].append(result.ndr.lower.load_fps)
        if result.as_is is not None and result.as_is.mrr_fps is not None:
            figures[f"{name}_as_is_mrr"].append(result.as_is.mrr_fps)
        if result.as_is is not None and result.as_is.lossless_fps is not None:
            figures[f"{name}_as_is_lossless"].append(result.as_is.lossless_fps)
    too_far = []
    for name in sorted(figures):
        judged = name.endswith(NDR)
        lowest = variation(name, figures[name], f" asked {ASKED:g}" if judged else "")
        if judged and lowest > ASKED:
            too_far.append(name)
    for grade in (*Grade, "None"):
        show(f"points_of_grade_{grade}", grades[str(grade)], f"of-{len(order)}")
    for name in too_far:
        print(f"{name} varies by more than {ASKED:.0%}")
    return 1 if grades["None"] or too_far else 0


if __name__ == "__main__":
    sys.exit(main())
