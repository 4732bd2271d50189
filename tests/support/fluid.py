# SPDX-License-Identifier: Apache-2.0
"""Simulate queues, pauses and a shared core in steps of a quarter of a window.

The parts that tests/support/noisy_host.py and tests/unit/measure/windows_sim.py have in common.
Frames are a fluid here: amounts are fractions of frames until `whole_frames`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Moments = list[tuple[int, int]]

WINDOW_NS = 1_000_000
STEP_NS = 250_000
STEPS = WINDOW_NS // STEP_NS
SAMPLE_NS = 4_000_000
"""Interval of the contention samples."""


def moments(rng: np.random.Generator, per_s: float, mean_ns: float, steps: int) -> Moments:
    """Return (begin, length) in ns, at random moments; lengths from half the mean on."""
    begins = np.sort(rng.integers(0, steps * STEP_NS, rng.poisson(per_s * steps * STEP_NS / 1e9)))
    lengths = mean_ns / 2 + rng.exponential(mean_ns / 2, len(begins))
    return list(zip(begins.tolist(), lengths.astype(np.int64).tolist(), strict=True))


def covered(of: Sequence[tuple[int, int]], steps: int) -> Floats:
    """Return the share of each step that the moments cover."""
    shares = np.zeros(steps)
    for begin, length in of:
        for step in range(begin // STEP_NS, min(steps, (begin + length) // STEP_NS + 1)):
            overlap = min(begin + length, (step + 1) * STEP_NS) - max(begin, step * STEP_NS)
            shares[step] += overlap / STEP_NS
    return np.minimum(shares, 1.0)


def paced(due: float, most: float, pauses: Sequence[tuple[int, int]], steps: int) -> Floats:
    """Return the amount offered in each step, of `due` each; after a pause, at most `most`."""
    offered, owed = np.full(steps, due), 0.0
    if pauses:
        able = most * (1 - covered(pauses, steps))
        unable, allowed, step = able < due, able.tolist(), 0
        # Steps are taken one by one only where something is owed.
        while (step := _next(unable, step)) < steps:
            while step < steps:
                owed += due
                now = min(owed, allowed[step])
                offered[step] = now
                owed -= now
                step += 1
                if not owed:
                    break
    return offered


def _next(there: NDArray[np.bool_], step: int) -> int:
    """Return the first such step from this one on; the number of steps where there is none."""
    found = int(there[step:].argmax()) if step < len(there) else 0
    return step + found if step < len(there) and there[step + found] else len(there)


def shared_steps(
    rng: np.random.Generator, share: float, mean_ns: float, steps: int
) -> NDArray[np.bool_]:
    """Return the steps in which another program uses the core: stretches of that mean length."""
    shared = np.zeros(steps, dtype=np.bool_)
    at, now = 0, bool(rng.random() < share)
    while share > 0.001 and at < steps:
        stretch_ns = mean_ns if now else mean_ns * (1 - share) / share
        length = int(max(2 * SAMPLE_NS, rng.exponential(stretch_ns)) / STEP_NS)
        shared[at : at + length] = now
        at, now = at + length, not now or share == 1.0
    return shared


def fifo(
    arriving: Floats | NDArray[np.int64], service: Floats, buffer_frames: float
) -> tuple[Floats, Floats]:
    """Return frames queued as each step begins, and frames lost in it."""
    change = arriving - service
    queued, lost, now = np.zeros(len(change)), np.zeros(len(change)), 0.0
    grows, shrinks, changes, step = change > 0, change < 0, change.tolist(), 0
    # Steps are taken one by one only between empty and full.
    while (step := _next(grows, step)) < len(changes):
        while step < len(changes):
            queued[step] = now
            now = max(now + changes[step], 0.0)
            step += 1
            if now > buffer_frames:
                lost[step - 1] = now - buffer_frames
                now = buffer_frames
                until = _next(shrinks, step)
                queued[step:until] = now
                lost[step:until] = (now + change[step:until]) - now
                step = until
            elif not now:
                break
    return queued, lost


def whole_frames(amounts: Floats) -> NDArray[np.int64]:
    """Return whole frames for each step, with the same sums."""
    return np.diff(np.floor(np.cumsum(amounts) + 1e-6), prepend=0).astype(np.int64)
