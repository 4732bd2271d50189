# SPDX-License-Identifier: Apache-2.0
"""Simulate a generator and SUT of known capacity and their clock: trials cost no time.

Frames carry no time stamp here, so that a trial counts whole or not at all, and searches run by the
thousand. tests/support/noisy_host.py has trials with windows. Nothing here is ever shown as a
measurement: it exists to test and compare searches.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Protocol

from wirespeed.measure.interface import Measurer, Progress
from wirespeed.measure.prober import Prober
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Evidence, Source
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.observation import DirectionCount, Latency, Observation, PollingThread
from wirespeed.model.result.trial import Trial

LATENCY = Latency(1000, 900.0, 1500.0, 1400.0, 1800.0, 2500.0, 4000.0, 9000.0, 50.0, "")
GENERATOR_CPU, SUT_CPU = 1, 2
THREADS = (
    PollingThread("lcore1", "generator", GENERATOR_CPU, 0, 0),
    PollingThread("pmd2", "sut", SUT_CPU, 0, 0),
)


class Sut(Protocol):
    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        """Return how many of the frames offered at that load for that time come out."""
        ...


@dataclass(frozen=True)
class Sharp:
    """Forwards at capacity_fps, once a queue of buffer_frames is full."""

    capacity_fps: float
    buffer_frames: int = 0

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:  # noqa: ARG002
        offered = round(load_fps * duration_s)
        return min(offered, math.floor(self.capacity_fps * duration_s) + self.buffer_frames)


@dataclass(frozen=True)
class Noisy:
    """Has another capacity in each trial: normally distributed, `spread` relative."""

    capacity_fps: float
    spread: float

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        capacity_fps = self.capacity_fps * max(0.1, rng.gauss(1.0, self.spread))
        return Sharp(capacity_fps).forwards(load_fps, duration_s, rng)


@dataclass(frozen=True)
class RareLoss:
    """Sharp, but in a share of the trials a few frames vanish at any load."""

    capacity_fps: float
    share: float
    frames: int = 10

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        out = Sharp(self.capacity_fps).forwards(load_fps, duration_s, rng)
        return max(0, out - self.frames) if rng.random() < self.share else out


@dataclass(frozen=True)
class Fraying:
    """Forwards capacity_fps, but loses a thousandth of what exceeds lossless_fps."""

    capacity_fps: float
    lossless_fps: float

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        out = Sharp(self.capacity_fps).forwards(load_fps, duration_s, rng)
        return out - round(max(0.0, load_fps - self.lossless_fps) * duration_s / 1000)


@dataclass(frozen=True)
class Collapsing:
    """Forwards capacity_fps, but only slowed_fps while more than collapse_fps is offered."""

    capacity_fps: float
    collapse_fps: float
    slowed_fps: float

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:
        slowed = load_fps > self.collapse_fps
        rate_fps = self.slowed_fps if slowed else self.capacity_fps
        return Sharp(rate_fps).forwards(load_fps, duration_s, rng)


@dataclass
class Rig:
    """The measurer: a generator in front of a SUT, and noise of the machine."""

    sut: Sut
    generator_fps: float = 20e6
    """Highest load that is offered."""
    disturbed_share: float = 0.0
    """Share of trials with a stop of stop_ns. Their loss is meaningless on purpose, so that a
    search that reads it goes wrong.
    """
    stop_ns: int = 1_000_000_000
    misread_share: float = 0.0
    """Share of trials with more frames received than offered."""
    ring_frames: int = 1024
    directions: int = 1
    limited_by: str | None = None
    latency: Latency | None = LATENCY
    unseen: tuple[str, ...] = ()
    """Parts that could not be observed, as with an external SUT."""
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    calls: list[tuple[float, float]] = field(default_factory=list)

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        self.calls.append((load_fps, duration_s))
        offered_fps = min(load_fps, self.generator_fps)
        offered = round(offered_fps * duration_s)
        intended = offered if math.isinf(load_fps) else round(load_fps * duration_s)
        disturbed = self.rng.random() < self.disturbed_share
        received = self.sut.forwards(offered_fps, duration_s, self.rng)
        if disturbed:
            received = self.rng.randint(0, offered)
        if self.rng.random() < self.misread_share:
            received = offered + 1
        return Observation(
            intended_load_fps=load_fps,
            duration_s=duration_s,
            directions=self._split(intended, offered, received),
            drops=(Drop("sut", DropCause.RX_RING_FULL, max(0, offered - received)),),
            threads=THREADS,
            steal_ns=0,
            overhead_s=0.2,
            residual_wait_s=2.0,
            pause_s=5.0,
            ring_frames=self.ring_frames,
            path_frames=4 * self.ring_frames,
            evidence=Evidence((stop(self.stop_ns),) if disturbed else (), (), self.unseen),
            latency=self.latency,
            limited_by=self.limited_by,
        )

    def _split(self, intended: int, offered: int, received: int) -> tuple[DirectionCount, ...]:
        """Spread the counts over the directions, remainders to the first ones."""
        n = self.directions

        def part(total: int, i: int) -> int:
            return (total + n - 1 - i) // n

        return tuple(
            count(f"d{i}", part(intended, i), part(offered, i), part(received, i)) for i in range(n)
        )

    @property
    def traffic_s(self) -> float:
        return sum(duration_s for _, duration_s in self.calls)


def stop(length_ns: int, role: str = "sut", begin_ns: int = 1_000_000) -> Disturbance:
    """Return a stop of a polling thread."""
    cpu = SUT_CPU if role == "sut" else GENERATOR_CPU
    return Disturbance(cpu, begin_ns, length_ns, DisturbanceKind.STOPPED, Source.POLL_GAP, role)


def count(name: str, intended: int, offered: int, received: int) -> DirectionCount:
    return DirectionCount(
        name=name,
        intended=intended,
        offered=offered,
        accepted=offered,
        unsent=intended - offered,
        received=received,
        duplicated=0,
        reordered=0,
        foreign=0,
    )


def prober_of(measure: Measurer, extension: float = 1.0, expected_s: float = 0.0) -> Prober:
    """Return a prober with the limits of quiet hosts."""
    return Prober(measure, Recorder(), 0.005, 0.005, extension, expected_s)


@dataclass
class Recorder:
    """A listener that records."""

    trials: list[Trial] = field(default_factory=list)
    announced: list[Progress] = field(default_factory=list)

    def progress(self, progress: Progress) -> None:
        self.announced.append(progress)

    def trial(self, trial: Trial) -> None:
        self.trials.append(trial)
