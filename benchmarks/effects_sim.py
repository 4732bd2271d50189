# SPDX-License-Identifier: Apache-2.0
"""Find the best setting on a simulated host whose CPUs move every 10 to 60 s.

No data plane runs. There are three factors of 4 to 10% each and five blocks in random order; far
forwards 0, 10 or 35% less than near. Prints in how many of RUNS runs the true best setting was
found, with and without the placement as a covariate.
"""

from __future__ import annotations

import os
import sys

from benchmarks.shared.figures import show
from tests.support.moving_rates import (
    best_with_placement,
    best_without_placement,
    simulated,
)

RUNS = int(os.environ.get("RUNS", "100"))
LOSSES = (0.0, 0.1, 0.35)
ASKED = 0.95


def main() -> int:
    passed = True
    for loss in LOSSES:
        runs = [simulated(loss, seed) for seed in range(RUNS)]
        right = sum(best_with_placement(samples) == best for samples, best in runs)
        plain = sum(best_without_placement(samples) == best for samples, best in runs)
        name = f"effects_sim_{loss:.0%}_best_found"
        show(f"{name}_with_placement", right, f"of-{RUNS} asked {ASKED * RUNS:g}")
        show(f"{name}_without", plain, f"of-{RUNS}")
        passed = passed and right >= ASKED * RUNS
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
