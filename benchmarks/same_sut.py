# SPDX-License-Identifier: Apache-2.0
"""Count how often `compare` sees a difference between runs of one SUT.

SIMULATED pairs run on a simulated host whose CPUs move every 10 to 60 s between two placements that
differ by 0, 10 and 35%. REAL pairs are p2p at 64 B through a real Open vSwitch with DPDK. Required:
a verdict of better or worse for at most 5% of the pairs. Also prints how many rates were "cannot
tell", and how many pairs had no common placement.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator

from benchmarks.shared.figures import show
from benchmarks.shared.point import point_of, searched
from tests.support.same_sut import Compared, compared, simulated

from wirespeed.model.result.result import SearchResult

SIMULATED = int(os.environ.get("SIMULATED", "100"))
REAL = int(os.environ.get("REAL", "10"))
LOSSES = (0.0, 0.1, 0.35)
ASKED = 0.05


def show_verdicts(name: str, pairs: Iterator[Compared]) -> bool:
    """Print the verdicts of the pairs; return whether few enough see a difference."""
    found = list(pairs)
    differs = sum(pair.differs for pair in found)
    verdicts = Counter(str(verdict) for pair in found for verdict in pair.verdicts)
    show(f"{name}_pairs_with_a_difference", differs, f"of-{len(found)} asked {ASKED:.0%}")
    print(f"{name} verdicts: {', '.join(f'{what} {n}' for what, n in verdicts.most_common())}")
    return differs <= ASKED * len(found)


def pairs_of(measure: Callable[[], SearchResult], count: int) -> Iterator[Compared]:
    for number in range(count):
        pair = compared(measure(), measure())
        print(f"# pair {number + 1}: {', '.join(map(str, pair.verdicts))}", flush=True)
        yield pair


def main() -> int:
    passed = [
        show_verdicts(f"simulated_{loss:.0%}",
             (compared(simulated(loss, 2 * n), simulated(loss, 2 * n + 1))
              for n in range(SIMULATED)))
        for loss in LOSSES
    ]  # fmt: skip
    if REAL:
        spec = point_of("quickstart", "topology.kind=p2p", "traffic.frame=64")
        passed.append(show_verdicts("real", pairs_of(lambda: searched(spec), REAL)))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
