# SPDX-License-Identifier: Apache-2.0
"""Simulate a host whose noise changes every few seconds, from hardly any to nearly all the time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tests.support.noisy_host import BUSY, LOUD, Noise, NoisyHost
from wirespeed.model.result.observation import Observation

FULL = Noise(shared=0.99, shared_ns=200e6, stops_per_s=60, pauses_per_s=30)
PHASES = (BUSY, LOUD, Noise(shared=0.9, shared_ns=60e6, stops_per_s=30, pauses_per_s=30), FULL)
OVERHEAD_S = 0.1
"""Time between two trials."""


@dataclass
class ChangingHost:
    """The measurer. Phases last 2 to 8 s, in random order after the first ones."""

    capacity_fps: float
    seed: int
    first: tuple[tuple[float, Noise], ...] = ()
    """Phases in the beginning: length in s, noise."""
    now_s: float = 0.0
    _made: int = 0
    _until_s: float = 0.0
    _noise: Noise = FULL
    _begun: int = 0
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        while self.now_s >= self._until_s:
            self._next_phase()
        self._made += 1
        seed = 1000 * self.seed + self._made
        host = NoisyHost(self.capacity_fps, self._noise, buffer_frames=4096, seed=seed)
        self.now_s += duration_s + OVERHEAD_S
        return host.measure(load_fps, duration_s)

    def _next_phase(self) -> None:
        if self._begun < len(self.first):
            length_s, self._noise = self.first[self._begun]
        else:
            length_s = self._rng.uniform(2, 8)
            self._noise = PHASES[self._rng.integers(len(PHASES))]
        self._begun += 1
        self._until_s += length_s
