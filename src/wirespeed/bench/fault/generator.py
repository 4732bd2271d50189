# SPDX-License-Identifier: Apache-2.0
"""A generator that is too slow: it looks at its schedule so seldom that frames are given up."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.bench.fault.interface import Kind, Lasting, Scene, Strength
from wirespeed.bench.interface import Injection, Step
from wirespeed.bench.topology.wiring import GENERATOR
from wirespeed.bench.traffic.frames.generator import Generator
from wirespeed.model.study.spec import Frames


class SlowGenerator(Kind):
    name = "slow-generator"
    summary = "the generator falls behind its schedule and offers less than its load"
    strength = Strength("how long it is away between two looks", "ms", 5, 2, 10)

    def places(self, _frames: Frames) -> tuple[str, ...]:
        return (GENERATOR,)

    def injection(self, scene: Scene) -> Injection:
        return _Naps(scene)


class _Naps(Lasting):
    """The start of a trial ends every pause, so each trial has it anew; so does its end."""

    def steps(self, _duration_s: float) -> Sequence[Step]:
        return [(0.0, self._nap)]

    def _nap(self) -> None:
        generator = next(part for part in self.scene.parts if isinstance(part, Generator))
        generator.program.ask(f"pause_pollers,ns={round(self.scene.strength * 1e6)}")

    def rest(self) -> None:
        generator = next(part for part in self.scene.parts if isinstance(part, Generator))
        generator.pause()
