# SPDX-License-Identifier: Apache-2.0
"""Prove injected faults that take 10 to 20% of a rate, in pairs matched within a CPU placement.

pvp at 1518 B, one direction, through a real Open vSwitch with DPDK, with and without each fault, in
the order A B B A. A measurement is the rate received in one overloaded trial, all time counted.
Halves wait for a partner of their placement. Asked: each fault is proved (sign test, 95%) in at
most 12 pairs, and at least 80% of the measurements are matched; next to it the share of those whose
partner was measured in turn. Policers and slow functions are set to a share of the first rate.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.shared.figures import show
from benchmarks.shared.point import point_of, trials_at

from wirespeed.experiment.order import Planned, next_in_placement
from wirespeed.experiment.pairs import Half, Matching, match
from wirespeed.explain.tried import Verdict, measured_gain
from wirespeed.measure.interface import UNLIMITED
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.errors import WirespeedError
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.injected import InjectedFault
from wirespeed.model.study.spec import Frames

# A share of the time of the PMD core.
OF_TIME = (("pmd-core-hog", 0.15),)
# Shares of the rate without the fault.
OF_RATE = (("egress-policer", 0.85), ("ingress-policer", 0.85), ("slow-vnf", 0.85))
ASKED_PAIRS, ASKED_SHARE = 12, 0.8
TRIAL_S = 1.0


@dataclass(frozen=True, slots=True)
class Proof:
    """verdict: None while no pair is whole."""

    matching: Matching[float]
    verdict: Verdict | None


def measured(frames: Frames) -> Trial:
    return trials_at(frames, [UNLIMITED], TRIAL_S)[0]


def in_turn(matching: Matching[float]) -> float:
    """Return the share of measurements whose neighbour in time was a partner."""
    whole = sum(pair.in_turn for pair in matching.pairs)
    return 2 * whole / matching.measured if matching.measured else 0.0


def pairs(healthy: Frames, faulty: Frames) -> Iterator[Proof]:
    """Measure on, and return what is known after each measurement."""
    left = [Planned(side, 1) for side in "ABBA" * (ASKED_PAIRS // 2)]
    found: dict[PlacementKind, Counter[str]] = {}
    halves: list[Half[float]] = []
    now: PlacementKind | None = None
    while left:
        side = left.pop(next_in_placement(left, found, now)).sample
        trial = measured(healthy if side == "A" else faulty)
        if trial.placement is not None:
            found.setdefault(trial.placement, Counter())[side] += 1
        at = trial.observation.placement
        now = None if at is None else at[1].kind
        known = {} if trial.moved else {trial.placement: trial.forwarding_fps}
        halves.append(Half(side == "B", known))
        matching = match(halves)
        rates = [(pair.before, pair.after) for pair in matching.pairs]
        yield Proof(matching, measured_gain(rates).verdict if rates else None)


def proved(name: str, healthy: Frames, fault: InjectedFault) -> bool:
    """Print the proof; whether it is as asked."""
    proof = None
    for proof in pairs(healthy, replace(healthy, fault=fault)):
        if proof.verdict in (Verdict.LESS, Verdict.MORE):
            break
    assert proof is not None
    matching = proof.matching
    print(f"{name}: {proof.verdict}; {matching.words}", flush=True)
    if matching.pairs:
        gain = measured_gain([(pair.before, pair.after) for pair in matching.pairs])
        show(f"{name}_change", 100 * gain.gain, f"% {100 * gain.low:.1f} to {100 * gain.high:.1f}")
    less = proof.verdict is Verdict.LESS
    show(f"{name}_pairs", len(matching.pairs),
         f"{'proved' if less else 'not proved'} asked {ASKED_PAIRS}")  # fmt: skip
    show(f"{name}_matched", matching.share,
         f"{in_turn(matching):.2f} in turn alone, asked {ASKED_SHARE:g}")  # fmt: skip
    return less and matching.share >= ASKED_SHARE


def main() -> int:
    healthy = point_of(
        "quickstart", "topology.kind=pvp", "topology.bidirectional=false", "traffic.frame=1518"
    )
    first_fps = measured(healthy).forwarding_fps
    faults = [*OF_TIME, *((kind, share * first_fps) for kind, share in OF_RATE)]
    passed = []
    for kind, strength in faults:
        name = kind.replace("-", "_")
        try:
            passed.append(proved(name, healthy, InjectedFault(kind, strength, None, 1)))
        except WirespeedError as error:
            print(f"{name} could not be caused: {error}")
            passed.append(False)
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
