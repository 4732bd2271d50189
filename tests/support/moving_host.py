# SPDX-License-Identifier: Apache-2.0
"""Simulate a host whose hypervisor moves the CPUs between two placements of unequal speed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from tests.support.noisy_host import QUIET, Noise, NoisyHost
from wirespeed.bench.noise.moves import Place, moves
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.result.observation import Observation

NEAR, FAR = CpuPlacement(45.0, 1.0), CpuPlacement(210.0, 1.0)


@dataclass
class MovingHost:
    """The measurer. Far forwards `loss` less than near; a stay lasts stay_s[0] to stay_s[1]."""

    near_fps: float
    loss: float
    seed: int = 1
    stay_s: tuple[float, float] = (10.0, 60.0)
    noise: Noise = QUIET
    now_s: float = 0.0
    made: int = 0
    _rng: random.Random = field(init=False)
    _near: bool = field(init=False)
    _until_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._near = self._rng.random() < 0.5
        self._until_s = self._rng.uniform(0, self.stay_s[1])

    @property
    def far_fps(self) -> float:
        return self.near_fps * (1 - self.loss)

    def _place(self) -> CpuPlacement:
        while self.now_s >= self._until_s:
            self._near = not self._near
            self._until_s += self._rng.uniform(*self.stay_s)
        return NEAR if self._near else FAR

    def place(self, after_s: float) -> CpuPlacement:
        """Probe after_s seconds later."""
        self.now_s += after_s
        return self._place()

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        before = self._place()
        capacity_fps = self.near_fps if self._near else self.far_fps
        host = NoisyHost(
            capacity_fps, self.noise, generator_fps=8 * self.near_fps,
            seed=1000 * self.seed + self.made,
        )  # fmt: skip
        self.made += 1
        observation = host.measure(load_fps, duration_s)
        self.now_s += duration_s + observation.overhead_s
        return placed(observation, before, self._place())


def placed(observation: Observation, before: CpuPlacement, after: CpuPlacement) -> Observation:
    """Return the observation with the placements, and the evidence of a move between them."""
    found = moves(Place(before), Place(after), round(observation.duration_s * 1e9))
    return replace(observation, evidence=observation.evidence + found, placement=(before, after))
