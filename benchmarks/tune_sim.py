# SPDX-License-Identifier: Apache-2.0
"""Tune, compare and bisect simulated hosts whose CPUs move between two placements.

No data plane runs. Far forwards 35% less than near, the CPUs move before every fourth measurement,
and the host drifts. Prints how often the best settings are found, how often something is claimed
where nothing helps, what is shipped where two factors interact, and how many pairs and probes
comparisons and bisections take.
"""

from __future__ import annotations

import math
import os
import random
import sys
from collections.abc import Callable

from benchmarks.shared.figures import show
from tests.support.tuned_host import TunedHost

from wirespeed.experiment.bisection import MOST_PROBES, bisect
from wirespeed.experiment.tuning import effort_for, tune
from wirespeed.experiment.turns import Answer, Compared, Stop, compare_in_turns
from wirespeed.experiment.wide import Groups, members, wide_effort, wide_tune

RUNS = int(os.environ.get("RUNS", "60"))
FACTORS, WRONG, TRIALS, WORTH = 8, 3, 64, 0.02
DIFFERENCES, BISECT_PAIRS = 12, 12
SCATTERS = (0.02, 0.03)
# Other levels of each factor.
WIDE: dict[str, Groups] = {"20_factors": (1,) * 20, "sizes": (4, 3, *(1,) * 6)}


def mis_set(seed: int, scatter: float) -> TunedHost:
    """Return a host with WRONG factors whose other level gains; the others harm or do nothing."""
    draw = random.Random(seed)
    gains = [draw.choice((0.0, -draw.uniform(0.02, 0.1))) for _ in range(FACTORS)]
    for at in draw.sample(range(FACTORS), WRONG):
        gains[at] = draw.uniform(0.04, 0.12)
    return TunedHost(tuple(gains), seed, scatter)


def well_set(seed: int, scatter: float) -> TunedHost:
    """Return a host where nothing helps: half of the seeds have no effect at all."""
    draw = random.Random(seed)
    harm = draw.uniform(0.02, 0.1) if seed % 2 else 0.0
    return TunedHost(tuple(-harm * draw.choice((0, 1)) for _ in range(FACTORS)), seed, scatter)


def interacting(seed: int, scatter: float) -> TunedHost:
    """Return a host where two factors gain alone, and lose more together, or the reverse."""
    host = mis_set(seed, scatter)
    draw = random.Random(seed + 1)
    pair = frozenset(draw.sample(range(FACTORS), 2))
    sign = draw.choice((-1, 1))
    host.together[pair] = sign * draw.uniform(0.05, 0.25)
    return host


def tuned(host: TunedHost) -> float:
    """Return the true gain of what is claimed; 1 where nothing is."""
    found = tune(
        len(host.gains), lambda asked: host.measure(asked.on), WORTH,
        effort_for(len(host.gains), TRIALS), host.seed,
    )  # fmt: skip
    assert host.measured <= TRIALS
    return host.truth(found.claimed)


def searches(scatter: float, judged: bool) -> bool:
    """Print what searches reach on hosts of that noise."""
    name = f"tune_sim_{scatter:.0%}"
    asked = " asked " if judged else " goal "
    hosts = [mis_set(seed, scatter) for seed in range(RUNS)]
    shares = sorted(tuned(host) / host.best() for host in hosts)
    reached = sum(share >= 0.95 for share in shares)
    show(f"{name}_at_least_95%_of_the_best", reached, f"of-{RUNS}{asked}{RUNS}")
    show(f"{name}_worst", shares[0], "of the best")
    show(f"{name}_most_trials", max(host.measured for host in hosts), f"trials{asked}{TRIALS}")
    claims = sum(tuned(well_set(1000 + seed, scatter)) != 1 for seed in range(RUNS))
    show(f"{name}_claims_where_nothing_helps", claims, f"of-{RUNS}{asked}{0.05 * RUNS:g}")
    crossed = [interacting(2000 + seed, scatter) for seed in range(RUNS)]
    gains = [(tuned(host), host.best()) for host in crossed]
    harmed = sum(gain < 1 for gain, _ in gains)
    near = sum(gain >= 0.95 * best for gain, best in gains)
    show(f"{name}_interactions_shipped_a_harm", harmed, f"of-{RUNS}{asked}{0.01 * RUNS:g}")
    show(f"{name}_interactions_at_least_95%_of_the_best", near, f"of-{RUNS}")
    return reached == RUNS and claims <= 0.05 * RUNS and harmed <= 0.01 * RUNS


def wide_host(groups: Groups, seed: int, scatter: float, wrong: int) -> TunedHost:
    """Return a host with that many factors set wrong: each of their other levels gains."""
    draw = random.Random(seed)
    gains = [draw.choice((0.0, -draw.uniform(0.02, 0.1))) for _ in range(sum(groups))]
    factors = members(groups)
    for at in draw.sample(range(len(groups)), wrong):
        for level in factors[at]:
            gains[level] = draw.uniform(0.04, 0.12)
    return TunedHost(tuple(gains), seed, scatter)


def wide_tuned(host: TunedHost, groups: Groups) -> float:
    """Return the true gain of what is claimed; 1 where nothing is."""
    found = wide_tune(
        groups, lambda asked: host.measure(asked.on), WORTH, wide_effort(groups, 1000), host.seed
    )
    return host.truth(found.claimed)


def wide_best(host: TunedHost, groups: Groups) -> float:
    """Return the gain of the best level of every factor."""
    gains = host.gains
    return math.prod(1 + max(0.0, *(gains[level] for level in each)) for each in members(groups))


def wide_searches(scatter: float, judged: bool) -> bool:
    """Print what searches over many factors, or many levels, reach."""
    asked = " asked " if judged else " goal "
    passed = True
    for shape, groups in WIDE.items():
        name = f"tune_sim_{shape}_{scatter:.0%}"
        hosts = [wide_host(groups, seed, scatter, WRONG) for seed in range(RUNS // 3)]
        shares = sorted(wide_tuned(host, groups) / wide_best(host, groups) for host in hosts)
        reached = sum(share >= 0.95 for share in shares)
        show(f"{name}_at_least_95%_of_the_best", reached, f"of-{len(hosts)}{asked}{len(hosts)}")
        show(f"{name}_most_trials", max(host.measured for host in hosts), "trials")
        still = [wide_host(groups, 1000 + seed, scatter, 0) for seed in range(RUNS // 3)]
        claims = sum(wide_tuned(host, groups) != 1 for host in still)
        show(f"{name}_claims_where_nothing_helps", claims, f"of-{len(still)}{asked}{RUNS / 60:g}")
        crossed = [wide_host(groups, 2000 + seed, scatter, WRONG) for seed in range(RUNS // 3)]
        for host in crossed:
            pair = frozenset(random.Random(host.seed).sample(range(sum(groups)), 2))
            host.together[pair] = random.Random(host.seed).choice((-0.2, 0.2))
        harmed = sum(wide_tuned(host, groups) < 1 for host in crossed)
        show(f"{name}_interactions_shipped_a_harm", harmed, f"of-{len(crossed)}{asked}0")
        passed = passed and reached == len(hosts) and claims <= RUNS / 60 and not harmed
    return passed


def compared(seed: int, gain: float, scatter: float) -> Compared:
    host = TunedHost((gain,), seed, scatter)
    return compare_in_turns(lambda b: host.measure(frozenset({0} if b else ())), Stop(WORTH, 12))


def comparisons(scatter: float, judged: bool) -> bool:
    name = f"tune_sim_compare_{scatter:.0%}"
    asked = " asked " if judged else " goal "
    right = sum(compared(seed, 0.04, scatter).answer is Answer.MORE for seed in range(10 * RUNS))
    wrong = sum(
        compared(seed, 0.0, scatter).answer in (Answer.MORE, Answer.LESS)
        for seed in range(10 * RUNS)
    )
    show(f"{name}_4%_decided_in_12_pairs", right, f"of-{10 * RUNS}{asked}{9.5 * RUNS:g}")
    show(f"{name}_a_a_wrong", wrong, f"of-{10 * RUNS}{asked}{0.5 * RUNS:g}")
    return right >= 9.5 * RUNS and wrong <= 0.5 * RUNS


def bisections(scatter: float, judged: bool) -> bool:
    """Print how often both of two differences that matter are named, and no other."""
    name = f"tune_sim_bisect_{scatter:.0%}"
    asked = " asked " if judged else " goal "
    both = wrong = most = measured = 0
    for seed in range(RUNS):
        draw = random.Random(seed)
        gains = [0.0] * DIFFERENCES
        planted = frozenset(draw.sample(range(DIFFERENCES), 2))
        for at in planted:
            gains[at] = -draw.uniform(0.08, 0.2)
        host = TunedHost(tuple(gains), seed, scatter)
        found = bisect(DIFFERENCES, host.measure, WORTH, BISECT_PAIRS)
        both += found.blamed == planted and found.proven
        wrong += bool(found.blamed - planted)
        most = max(most, len(found.probes))
        measured += host.measured
    show(f"{name}_both_named", both, f"of-{RUNS}{asked}{RUNS}")
    show(f"{name}_wrong_blame", wrong, f"of-{RUNS}{asked}0")
    show(f"{name}_most_probes", most, f"probes{asked}{MOST_PROBES}")
    show(f"{name}_measurements", measured / RUNS, "a-bisection")
    return both == RUNS and not wrong and most <= MOST_PROBES


def main() -> int:
    figures: tuple[Callable[[float, bool], bool], ...] = (
        searches, wide_searches, comparisons, bisections,
    )  # fmt: skip
    passed = [
        figure(scatter, at == 0) or at > 0
        for figure in figures
        for at, scatter in enumerate(SCATTERS)
    ]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
