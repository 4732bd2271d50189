# SPDX-License-Identifier: Apache-2.0
"""Simulate a host with settings, noise and CPUs that move, for searches that tune it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from wirespeed.experiment.combinations import Combination, factorial
from wirespeed.model.cpus import PlacementKind

NEAR, FAR = PlacementKind.ONE_CACHE, PlacementKind.ACROSS_CACHES
BASE_FPS = 4e6
# "Far" forwards less by this share; the CPUs move before a measurement with this chance.
FAR_LOSS, MOVES = 0.35, 0.25
# Relative scatter of a rate within its placement; standard deviation of the drift of each
# measurement to the next.
SCATTER, DRIFT = 0.02, 0.002


@dataclass
class TunedHost:
    """A host whose factors multiply its rate."""

    gains: tuple[float, ...]
    """Relative gain of each factor's other level."""
    seed: int
    scatter: float = SCATTER
    drift: float = DRIFT
    together: dict[Combination, float] = field(default_factory=dict)
    """Relative gain of two factors together, in addition to theirs alone."""
    measured: int = 0
    _far: bool = False
    _drifted: float = 0.0

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)

    def truth(self, on: Combination) -> float:
        """Return the rate of a combination next to that of the start."""
        log = sum(math.log1p(self.gains[at]) for at in on)
        log += sum(math.log1p(gain) for pair, gain in self.together.items() if pair <= on)
        return math.exp(log)

    def best(self) -> float:
        """Return the best rate of the full factorial next to that of the start."""
        return max(self.truth(on) for on in factorial(len(self.gains)))

    def measure(self, on: Combination) -> dict[PlacementKind | None, float]:
        """Measure a combination in the placement of the moment."""
        self.measured += 1
        if self._draw.random() < MOVES:
            self._far = not self._far
        self._drifted += self._draw.gauss(0, self.drift)
        log = self._drifted + self._draw.gauss(0, self.scatter)
        log += math.log1p(-FAR_LOSS) if self._far else 0.0
        return {FAR if self._far else NEAR: BASE_FPS * self.truth(on) * math.exp(log)}
