# SPDX-License-Identifier: Apache-2.0
"""Simulate systems with known capacity and noise, as a bench would observe them.

Queues are FIFO and fluid, in steps of a quarter of a window. Nothing here is ever shown as a
measurement: it exists to test how trials are judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from wirespeed.measure.gate import Mask, gate
from wirespeed.measure.verdict import Verdict, verdict
from wirespeed.measure.windows import drained, gated, geometry_of
from wirespeed.model.result.evidence import (
    ContentionSamples,
    DirectionWindows,
    Disturbance,
    DisturbanceKind,
    Evidence,
    Source,
    Windows,
)
from wirespeed.model.result.observation import DirectionCount, Observation, PollingThread
from wirespeed.model.result.trial import Gated

MS = 1_000_000
GENERATOR_CPU, SUT_CPU = 0, 1
WIDTH, PDR_LOSS = 0.005, 0.005


@dataclass(frozen=True)
class Sut:
    """Capacity and queues of one direction; directions share nothing."""

    capacity_fps: float
    buffer_frames: int = 1024
    spread: float = 0.0
    """Relative spread of the capacity, drawn anew in each window."""
    shares: tuple[float, ...] = (1.0,)
    """Share of the load for each queue; queues have equal parts of capacity and buffer."""
    rare_loss: float = 0.0
    """Share of windows that lose loss_frames each, at any load."""
    loss_frames: int = 20
    stalls_per_s: float = 0.0
    """Stops of the SUT itself, without any evidence."""
    stall_ns: float = 400_000.0
    base_ns: float = 8_000.0
    jitter_ns: float = 1_000.0
    """Jitter of the latency that windows show, exponential."""


@dataclass(frozen=True)
class Noise:
    """Noise of a trial, with evidence. Lengths are means, in ns.

    A generator that paused catches up at twice the load.
    """

    stops_per_s: float = 0.0
    stop_ns: float = 500_000.0
    slow_share: float = 0.0
    """Share of time in which the SUT's core is shared and forwards slow_speed of its capacity."""
    slow_ns: float = 30_000_000.0
    slow_speed: float = 0.6
    pauses_per_s: float = 0.0
    pause_ns: float = 300_000.0


QUIET = Noise()
LOUD = Noise(stops_per_s=15, slow_share=0.4, pauses_per_s=15)


@dataclass(frozen=True)
class Judged:
    """One simulated trial and what the modules under test made of it."""

    observation: Observation
    mask: Mask
    gated: Gated


def simulate(
    sut: Sut,
    load_fps: float,
    duration_s: float = 1.0,
    noise: Noise = QUIET,
    seed: int = 0,
    *,
    directions: int = 1,
) -> Observation:
    """Simulate one trial; load_fps is summed over directions."""
    rng = np.random.default_rng(seed)
    count = round(duration_s * 1e9 / WINDOW_NS)
    steps = count * STEPS
    stops = moments(rng, noise.stops_per_s, noise.stop_ns, steps)
    stalls = moments(rng, sut.stalls_per_s, sut.stall_ns, steps)
    pauses = moments(rng, noise.pauses_per_s, noise.pause_ns, steps)
    speed, samples = _shared_core(rng, noise, steps)
    running = speed * (1 - covered([*stops, *stalls], steps))
    offered, late = _offered(load_fps / directions, pauses, steps)
    directions = tuple(
        _direction(f"{i}", sut, offered, running, speed, rng=rng) for i in range(directions)
    )
    return Observation(
        intended_load_fps=load_fps,
        duration_s=duration_s,
        directions=tuple(_count(direction) for direction in directions),
        drops=(),
        threads=(
            PollingThread("gen", "generator", GENERATOR_CPU, 0, 0),
            PollingThread("pmd", "sut", SUT_CPU, 0, 0),
        ),
        steal_ns=0,
        overhead_s=0.0,
        ring_frames=min(1024, sut.buffer_frames),
        path_frames=sut.buffer_frames,
        evidence=Evidence(
            (
                *(_stopped(SUT_CPU, "sut", stop) for stop in stops),
                *(_stopped(GENERATOR_CPU, "generator", pause) for pause in pauses),
                *late,
            ),
            (samples,),
        ),
        windows=Windows(0, WINDOW_NS, directions),
    )


def judge(observation: Observation, width: float = WIDTH) -> Judged:
    """Judge a trial as a prober does."""
    geometry = geometry_of(observation, width)
    mask = gate(observation.evidence, geometry, drained(observation, geometry))
    return Judged(observation, mask, gated(observation, mask, geometry))


def decide(
    sut: Sut,
    load_fps: float,
    noise: Noise = QUIET,
    seed: int = 0,
    *,
    piece_s: float = 1.0,
    most: int = 12,
    directions: int = 1,
) -> Verdict:
    """Extend the trial in pieces until there is enough, as the rules require."""
    pieces: list[Gated] = []
    for i in range(most):
        observation = simulate(
            sut, load_fps, piece_s, noise, 1000 * seed + i, directions=directions
        )
        pieces.append(judge(observation).gated)
        found = verdict(pieces, WIDTH, PDR_LOSS)
        if found.decided:
            break
    return found


def search_ndr(
    sut: Sut,
    low_fps: float,
    high_fps: float,
    noise: Noise = QUIET,
    seed: int = 0,
    *,
    directions: int = 1,
) -> float:
    """Bisect to WIDTH for the highest load that passed. An undecided load does not pass."""
    step = 0
    while high_fps - low_fps > WIDTH * high_fps:
        middle = (low_fps + high_fps) / 2
        found = decide(sut, middle, noise, 100 * seed + step, directions=directions)
        passed = found.decided and found.ndr
        low_fps, high_fps = (middle, high_fps) if passed else (low_fps, middle)
        step += 1
    return low_fps


def whole(observation: Observation) -> float:
    """Return the loss ratio of the whole trial."""
    offered = observation.total("offered")
    return (offered - observation.total("received")) / offered


def _shared_core(
    rng: np.random.Generator, noise: Noise, steps: int
) -> tuple[Floats, ContentionSamples]:
    """Return the speed of the SUT's core in each step, and the contention samples."""
    slow = np.zeros(steps, dtype=np.bool_)
    if noise.slow_share:
        slow = shared_steps(rng, noise.slow_share, noise.slow_ns, steps)
    at_ns = range(-SAMPLE_NS, steps * STEP_NS + 2 * SAMPLE_NS, SAMPLE_NS)
    known = np.clip(np.array(at_ns) // STEP_NS, 0, steps - 1)
    slowness = 1 + rng.uniform(0, 0.05, len(at_ns)) + slow[known] / noise.slow_speed
    samples = ContentionSamples(SUT_CPU, True, tuple(at_ns), tuple(slowness.tolist()))
    return np.where(slow, noise.slow_speed, 1.0), samples


def _offered(
    load_fps: float, pauses: Sequence[tuple[int, int]], steps: int
) -> tuple[NDArray[np.int64], list[Disturbance]]:
    """Return the frames of each step, and when the generator caught up."""
    due = load_fps * STEP_NS / 1e9
    offered = paced(due, 2 * due, pauses, steps)
    late = [
        Disturbance(
            GENERATOR_CPU, int(step) * STEP_NS, STEP_NS, DisturbanceKind.LATE, Source.SCHEDULE,
            "generator",
        )
        for step in np.flatnonzero(np.abs(offered - due) > 0.01 * due)
    ]  # fmt: skip
    return whole_frames(offered), late


def _direction(
    name: str,
    sut: Sut,
    offered: NDArray[np.int64],
    running: Floats,
    speed: Floats,
    *,
    rng: np.random.Generator,
) -> DirectionWindows:
    """Simulate the queues of one direction, from step to step."""
    count = len(offered) // STEPS
    capacity = sut.capacity_fps * np.repeat(rng.normal(1, sut.spread, count), STEPS)
    lost, latency = np.zeros(len(offered)), np.zeros(len(offered))
    queues = len(sut.shares)
    for share in sut.shares:
        service = np.maximum(capacity, 0) * running * STEP_NS / 1e9 / queues
        queued, dropped = fifo(offered * share, service, sut.buffer_frames / queues)
        lost += dropped
        latency += share * queued / (sut.capacity_fps * speed / queues) * 1e9
    lost += np.where(rng.random(len(offered)) < sut.rare_loss / STEPS, sut.loss_frames, 0)
    whole_lost = np.minimum(whole_frames(lost), offered)
    sent = offered.reshape(count, STEPS).sum(axis=1)
    received = sent - whole_lost.reshape(count, STEPS).sum(axis=1)
    shown = sut.base_ns + latency[::STEPS] + rng.exponential(sut.jitter_ns, count)
    return DirectionWindows(
        name,
        tuple(sent.tolist()),
        (0,) * count,
        tuple(received.tolist()),
        tuple(np.where(received > 0, shown, -1.0).tolist()),
    )


def _stopped(cpu: int, role: str, moment: tuple[int, int]) -> Disturbance:
    return Disturbance(cpu, *moment, DisturbanceKind.STOPPED, Source.POLL_GAP, role)


def _count(direction: DirectionWindows) -> DirectionCount:
    offered, received = sum(direction.offered), sum(direction.received)
    return DirectionCount(direction.name, offered, offered, offered, 0, received, 0, 0, 0)
