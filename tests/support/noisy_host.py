# SPDX-License-Identifier: Apache-2.0
"""Simulate a SUT of known capacity on a noisy host, with trials that have windows.

Queues are FIFO, in steps of a quarter of a millisecond. Noise affects the counts as it would, and
appears in the evidence. Nothing here is ever shown as a measurement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tests.support.fluid import (
    SAMPLE_NS,
    STEP_NS,
    STEPS,
    WINDOW_NS,
    Floats,
    covered,
    fifo,
    moments,
    paced,
    shared_steps,
    whole_frames,
)
from tests.support.simulated import GENERATOR_CPU, LATENCY, SUT_CPU, THREADS, count, stop
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.result.evidence import (
    ContentionSamples,
    DirectionWindows,
    Disturbance,
    DisturbanceKind,
    Evidence,
    Source,
    Windows,
)
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.observation import LatencyRows, Observation

OWN_NS = 20_000_000
BASE_NS = 8_000.0


@dataclass(frozen=True)
class Noise:
    """Noise of the host. Lengths are means, in ns."""

    shared: float = 0.0
    """Share of time in which something else uses the SUT's core, which then forwards `speed` of its
    capacity.
    """
    shared_ns: float = 30e6
    speed: float = 0.6
    stops_per_s: float = 0.0
    """Stops of the SUT's thread."""
    stop_ns: float = 1e6
    pauses_per_s: float = 0.0
    """Pauses of the generator, which then catches up."""
    pause_ns: float = 500e3
    own_stalls_per_s: float = 0.0
    """Stalls of the SUT itself, which no evidence excuses."""
    own_spread: float = 0.0
    """Standard deviation of the SUT's own speed, which changes every OWN_NS."""


QUIET = Noise()
BUSY = Noise(shared=0.2, stops_per_s=5, pauses_per_s=5)
LOUD = Noise(shared=0.7, shared_ns=60e6, stops_per_s=5, pauses_per_s=5)
ALWAYS_SHARED = Noise(shared=1.0)


@dataclass
class NoisyHost:
    """The measurer. Each direction has its own queues and capacity."""

    capacity_fps: float
    noise: Noise = QUIET
    generator_fps: float = 20e6
    buffer_frames: int = 1024
    loss: float = 0.0
    """Share of frames that the SUT loses in any case."""
    directions: int = 1
    unseen: tuple[str, ...] = ()
    placement: tuple[CpuPlacement, CpuPlacement] | None = None
    seed: int = 1
    calls: list[tuple[float, float]] = field(default_factory=list)

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        rng = np.random.default_rng((self.seed, len(self.calls)))
        self.calls.append((load_fps, duration_s))
        offered_fps = min(load_fps, self.generator_fps)
        windows = max(1, round(duration_s * 1e9 / WINDOW_NS))
        steps = windows * STEPS
        stops = moments(rng, self.noise.stops_per_s, self.noise.stop_ns, steps)
        stalls = moments(rng, self.noise.own_stalls_per_s, self.noise.stop_ns, steps)
        pauses = moments(rng, self.noise.pauses_per_s, self.noise.pause_ns, steps)
        speed, samples = self._shared_core(rng, steps)
        running = speed * self._own_speed(steps) * (1 - covered(stops + stalls, steps))
        due, most = (
            fps / self.directions * STEP_NS / 1e9 for fps in (offered_fps, self.generator_fps)
        )
        offered = whole_frames(paced(due, most, pauses, steps))
        directions = tuple(
            self._direction(f"d{i}", offered, running, rng) for i in range(self.directions)
        )
        lost = sum(sum(each.offered) - sum(each.received) for each in directions)
        late = _late(offered, due)
        evidence = Evidence(
            (
                *(stop(length, "sut", begin) for begin, length in stops),
                *(stop(length, "generator", begin) for begin, length in pauses),
                *late,
            ),
            (samples,),
            self.unseen,
        )
        intended = None if math.isinf(load_fps) else round(load_fps * duration_s / self.directions)
        return Observation(
            intended_load_fps=load_fps,
            duration_s=duration_s,
            directions=tuple(
                count(w.name, intended or sum(w.offered), sum(w.offered), sum(w.received))
                for w in directions
            ),
            drops=(Drop("sut-ingress", DropCause.RX_RING_FULL, lost),),
            threads=THREADS,
            steal_ns=0,
            overhead_s=0.2,
            residual_wait_s=2.0,
            pause_s=5.0,
            ring_frames=min(1024, self.buffer_frames),
            path_frames=self.buffer_frames,
            evidence=evidence,
            windows=Windows(0, WINDOW_NS, directions),
            latency=LATENCY,
            latency_rows=_rows(directions[0]),
            placement=self.placement,
        )

    @property
    def traffic_s(self) -> float:
        return sum(duration_s for _, duration_s in self.calls)

    def _own_speed(self, steps: int) -> Floats:
        """Return the SUT's own speed in each step: 1 on average."""
        rng = np.random.default_rng((self.seed, len(self.calls), OWN_NS))
        each = OWN_NS // STEP_NS
        speeds = rng.normal(1.0, self.noise.own_spread, -(-steps // each))
        return np.repeat(speeds, each)[:steps]

    def _shared_core(
        self, rng: np.random.Generator, steps: int
    ) -> tuple[Floats, ContentionSamples]:
        """Return the speed of the SUT's core in each step, and the contention samples."""
        noise = self.noise
        shared = shared_steps(rng, noise.shared, noise.shared_ns, steps)
        at_ns = np.arange(-SAMPLE_NS, steps * STEP_NS + 2 * SAMPLE_NS, SAMPLE_NS)
        there = np.clip(at_ns // STEP_NS, 0, steps - 1)
        slowness = 1 + rng.uniform(0, 0.05, len(at_ns)) + shared[there] * (1 / noise.speed - 1)
        samples = ContentionSamples(SUT_CPU, True, tuple(at_ns.tolist()), tuple(slowness.tolist()))
        return np.where(shared, noise.speed, 1.0), samples

    def _direction(
        self, name: str, offered: NDArray[np.int64], running: Floats, rng: np.random.Generator
    ) -> DirectionWindows:
        capacity = self.capacity_fps / self.directions * STEP_NS / 1e9
        queued, dropped = fifo(offered, capacity * running, self.buffer_frames)
        lost = rng.binomial(offered, self.loss) + np.diff(np.floor(np.cumsum(dropped)), prepend=0)
        sent = offered.reshape(-1, STEPS).sum(axis=1)
        received = sent - np.minimum(lost, offered).astype(np.int64).reshape(-1, STEPS).sum(axis=1)
        waiting_ns = (queued / np.maximum(capacity, 1e-9) * STEP_NS)[::STEPS]
        latency = BASE_NS + waiting_ns + rng.exponential(1_000.0, len(sent))
        return DirectionWindows(
            name,
            tuple(sent.tolist()),
            (0,) * len(sent),
            tuple(received.tolist()),
            tuple(np.where(received > 0, latency, -1.0).tolist()),
        )


def without_windows(observation: Observation) -> Observation:
    """Return the trial as with frames that carry no time stamp."""
    return replace(observation, windows=None, latency=None, latency_rows=None)


def _late(offered: NDArray[np.int64], due: float) -> list[Disturbance]:
    """Return steps in which the offered frames were not those due."""
    return [
        Disturbance(
            GENERATOR_CPU, int(step) * STEP_NS, STEP_NS, DisturbanceKind.LATE, Source.SCHEDULE,
            "generator",
        )
        for step in np.flatnonzero(np.abs(offered - due) > 0.05 * due + 1)
    ]  # fmt: skip


def _rows(direction: DirectionWindows) -> LatencyRows:
    """Return a histogram of one bucket for each window: the latency as it began."""
    rows = tuple(
        ((int(latency), received),) if received else ()
        for latency, received in zip(direction.latency_ns, direction.received, strict=True)
    )
    return LatencyRows(0, WINDOW_NS, rows)
