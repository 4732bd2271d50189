# SPDX-License-Identifier: Apache-2.0
"""Compare two settings in turns, and stop as soon as the answer is sure. Pure.

Turns go A B B A, so that a steady drift favours neither. Two measurements are compared only if they
have one CPU placement (experiment/pairs.py); one that finds no partner is followed by the other
side. The answer is looked at after a few numbers of pairs,
each time with a t interval of the mean logarithm. The error rate is shared out over the looks in
proportion to their pairs, so by Boole's inequality all intervals hold together with at least the
stated confidence: looking more than once does not make errors more frequent (Jennison and Turnbull,
Group Sequential Methods, chapter 9: repeated confidence intervals).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from wirespeed.experiment.pairs import Half, Matching, match
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.quantile import student

ERROR = 0.05
"""Chance that any interval of a comparison misses the true ratio."""
FEWEST_PAIRS = 3
# Each look has about half as many pairs again as the one before.
_LOOKS = (3, 5, 8, 12, 18, 27, 40, 60, 90)
MOST_PAIRS = _LOOKS[-1]

Rates = Mapping[PlacementKind | None, float]
"""Rate of one measurement by CPU placement; empty where it has none."""


class Answer(StrEnum):
    """Conclusion about B next to A."""

    MORE = "more"
    LESS = "less"
    SAME = "same"
    """A difference that matters is excluded."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Ratio:
    """Relative difference of B to A, with the interval of the last look."""

    gain: float
    """Geometric mean of B / A, less 1."""
    low: float
    high: float
    """Infinite where too few pairs were measured."""
    pairs: int


NOTHING = Ratio(0.0, -1.0, math.inf, 0)


@dataclass(frozen=True, slots=True)
class Stop:
    """Rule that ends the turns."""

    worth: float
    """Relative difference that matters."""
    pairs: int
    """Most pairs, FEWEST_PAIRS to MOST_PAIRS."""
    one_sided: bool = False
    """Only a gain matters: any loss counts as no gain."""
    error: float = ERROR

    def __post_init__(self) -> None:
        if not FEWEST_PAIRS <= self.pairs <= MOST_PAIRS:
            raise ValueError(f"pairs must be {FEWEST_PAIRS} to {MOST_PAIRS}")

    @property
    def looks(self) -> Mapping[int, float]:
        """Error rate that each number of pairs may spend; in all `error`."""
        sizes = [*(size for size in _LOOKS if size < self.pairs), self.pairs]
        return {size: self.error * size / sum(sizes) for size in sizes}

    @property
    def most(self) -> int:
        """Most measurements: some find no partner where the CPUs move."""
        return 2 * self.pairs + self.pairs // 2

    def answer(self, ratio: Ratio) -> Answer:
        """Return the conclusion, or UNDECIDED where more pairs are needed."""
        if ratio.low > 0:
            return Answer.MORE
        if ratio.high < 0:
            return Answer.LESS
        below = ratio.high < self.worth
        if below and (self.one_sided or ratio.low > -self.worth):
            return Answer.SAME
        return Answer.UNDECIDED


@dataclass(frozen=True, slots=True)
class Compared:
    """Outcome of the turns."""

    answer: Answer
    ratio: Ratio
    matching: Matching[float] = field(default_factory=lambda: match(()))

    @property
    def measured(self) -> int:
        """Number of measurements."""
        return self.matching.measured


def ratio_of(pairs: Sequence[tuple[float, float]], error: float) -> Ratio:
    """Return the ratio of at least two pairs (A, B), with its interval at this error rate."""
    logs = [math.log(b / a) for a, b in pairs]
    mean, spread = statistics.fmean(logs), statistics.stdev(logs)
    half = student(1 - error / 2, len(logs) - 1) * spread / math.sqrt(len(logs))
    return Ratio(math.expm1(mean), math.expm1(mean - half), math.expm1(mean + half), len(logs))


def compare_in_turns(measure: Callable[[bool], Rates], stop: Stop) -> Compared:
    """Measure A and B in turns until the rule stops.

    measure: measures B (True) or A (False).
    """
    halves: list[Half[float]] = []
    looks = dict(stop.looks)
    last = looks[stop.pairs]
    ratio, matching = NOTHING, match(halves)
    side = False
    for number in range(stop.most):
        halves.append(Half(side, measure(side)))
        matching = match(halves)
        # A partner is likeliest while the placement lasts; after a pair, the same side comes again.
        waits = any(half is halves[-1] for half in matching.waiting)
        side = side is not waits
        count = len(matching.pairs)
        error = looks.pop(count, None)
        if error is None and number + 1 == stop.most and count >= FEWEST_PAIRS and looks:
            error = last
        if error is None:
            continue
        ratio = ratio_of([(pair.before, pair.after) for pair in matching.pairs], error)
        if not looks or stop.answer(ratio) is not Answer.UNDECIDED:
            break
    return Compared(stop.answer(ratio), ratio, matching)
