# SPDX-License-Identifier: Apache-2.0
"""A generator and SUT of known capacity whose clock is simulated: trials cost no time.

Nothing here is ever shown as a measurement: it exists to test and compare searches.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Protocol

from wirespeed.measure.interface import Progress
from wirespeed.model.trial import (
    DirectionCount,
    Drop,
    DropCause,
    Latency,
    Observation,
    ThreadHealth,
    Trial,
)

LATENCY = Latency(1000, 900.0, 1500.0, 1400.0, 1800.0, 2500.0, 4000.0, 9000.0, 50.0, "")


class Sut(Protocol):
    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        """How many of the frames offered at that load and for that long come out."""
        ...


@dataclass(frozen=True)
class Sharp:
    """Forwards at capacity_fps, after a queue of buffer_frames filled up."""

    capacity_fps: float
    buffer_frames: int = 0

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:  # noqa: ARG002
        offered = round(load_fps * duration_s)
        return min(offered, math.floor(self.capacity_fps * duration_s) + self.buffer_frames)


@dataclass(frozen=True)
class Noisy:
    """Each trial meets another capacity: normally distributed, `spread` relative."""

    capacity_fps: float
    spread: float

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        capacity_fps = self.capacity_fps * max(0.1, rng.gauss(1.0, self.spread))
        return Sharp(capacity_fps).forwards(load_fps, duration_s, rng)


@dataclass(frozen=True)
class RareLoss:
    """Sharp, and in a share of the trials a few frames vanish at any load."""

    capacity_fps: float
    share: float
    frames: int = 10

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        out = Sharp(self.capacity_fps).forwards(load_fps, duration_s, rng)
        return max(0, out - self.frames) if rng.random() < self.share else out


@dataclass
class Rig:
    """The measurer: a generator in front of a SUT, and how often the machine disturbs them.

    generator_fps: the most that is offered. invalid_share: how many trials meet a pause; then the
    loss figure is nonsense on purpose, so that a search that looks at it goes wrong.
    """

    sut: Sut
    generator_fps: float = 20e6
    invalid_share: float = 0.0
    pause_ns: int = 10_000_000_000
    usual_gap_ns: int = 1_000
    ring_frames: int = 1024
    directions: int = 1
    limited_by: str | None = None
    latency: Latency | None = LATENCY
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    calls: list[tuple[float, float]] = field(default_factory=list)

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        self.calls.append((load_fps, duration_s))
        offered_fps = min(load_fps, self.generator_fps)
        offered = round(offered_fps * duration_s)
        intended = offered if math.isinf(load_fps) else round(load_fps * duration_s)
        disturbed = self.rng.random() < self.invalid_share
        received = self.sut.forwards(offered_fps, duration_s, self.rng)
        if disturbed:
            received = self.rng.randint(0, offered)
        return Observation(
            intended_load_fps=load_fps,
            duration_s=duration_s,
            directions=self._split(intended, offered, received),
            drops=(Drop("sut", DropCause.RX_RING_FULL, offered - received),),
            threads=(
                self._generator_thread(disturbed, duration_s),
                thread("pmd2", "sut", None),
            ),
            steal_ns=0,
            overhead_s=0.2,
            ring_frames=self.ring_frames,
            latency=self.latency,
            limited_by=self.limited_by,
        )

    def _generator_thread(self, disturbed: bool, duration_s: float) -> ThreadHealth:
        """Disturbed: one pause that no ring bears, and 3% of the time gone in all."""
        if not disturbed:
            return thread("lcore1", "generator", self.usual_gap_ns)
        gone_ns = max(self.pause_ns, round(0.03 * duration_s * 1e9))
        return thread("lcore1", "generator", self.pause_ns, gaps_ns=gone_ns)

    def _split(self, intended: int, offered: int, received: int) -> tuple[DirectionCount, ...]:
        """The counts spread over the directions, remainders to the first ones."""
        n = self.directions

        def part(total: int, i: int) -> int:
            return (total + n - 1 - i) // n

        return tuple(
            count(f"d{i}", part(intended, i), part(offered, i), part(received, i)) for i in range(n)
        )

    @property
    def traffic_s(self) -> float:
        return sum(duration_s for _, duration_s in self.calls)


def thread(
    name: str,
    role: str,
    max_gap_ns: int | None,
    wait_ns: int = 0,
    switches: int = 0,
    *,
    gaps_ns: int | None = None,
) -> ThreadHealth:
    """gaps_ns: left out, the longest gap is the only one."""
    return ThreadHealth(name, role, max_gap_ns, gaps_ns or max_gap_ns, switches, wait_ns)


def count(name: str, intended: int, offered: int, received: int) -> DirectionCount:
    return DirectionCount(
        name=name,
        intended=intended,
        offered=offered,
        sent=offered,
        unsent=intended - offered,
        received=received,
        duplicated=0,
        reordered=0,
        foreign=0,
    )


@dataclass
class Recorder:
    """A listener that remembers."""

    trials: list[Trial] = field(default_factory=list)
    announced: list[Progress] = field(default_factory=list)

    def progress(self, progress: Progress) -> None:
        self.announced.append(progress)

    def trial(self, trial: Trial) -> None:
        self.trials.append(trial)
