# SPDX-License-Identifier: Apache-2.0
"""Test whether losses fall into a recorder's reads more often than by chance.

The losses of a trial are rotated against its reads, as measure/placebo.py rotates gates: a rotation
keeps the lengths of losses and reads, and only changes which of them coincide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
# Losses that are closer to each other are one burst: a stop fills queues that drain in steps.
JOINED_NS = 1_000_000
ROTATIONS = 1000
# A chance is small only below 5% divided by the number of sources: where the first rotations leave
# that open, it is computed from 20 times as many as that takes.
_UNLIKELY = 0.05
_FINER, _ROTATIONS_MOST = 20, 40_000
# Bursts of one trial that are tested, evenly chosen: an overload loses frames all the time.
_BURSTS_MOST = 200


@dataclass(frozen=True, slots=True)
class LostWindows:
    """Windows in which one trial lost frames, on CLOCK_MONOTONIC of the recorded host."""

    begin_ns: int
    window_ns: int
    lost: NDArray[np.bool_]
    """True for each window that lost frames."""
    error_ns: int = 0
    """Largest error of begin_ns."""


@dataclass(frozen=True, slots=True)
class ReadLosses:
    """Loss bursts of all trials against the reads of one source."""

    bursts: int
    inside: int
    """Bursts that a read overlaps."""
    expected: float
    """Bursts that would be inside by chance: the mean over the rotations."""
    chance: float
    """Share of rotations with as many bursts inside, or more; the trials as they were are one."""
    reads: int
    """Reads while frames flowed."""


def losses_in_reads(
    trials: Sequence[LostWindows],
    reads: Mapping[str, tuple[Integers, Integers]],
    rotations: int = ROTATIONS,
    seed: int = 0,
) -> dict[str, ReadLosses]:
    """Return the result for each source. reads: begins, ascending, and durations in ns."""
    rng = np.random.default_rng(seed)
    bursts = [_bursts(trial) for trial in trials]
    fine = min(_ROTATIONS_MOST, math.ceil(_FINER * len(reads) / _UNLIKELY))
    found = {}
    for source, (begins, took) in reads.items():
        masks = [_read_windows(trial, begins, took) for trial in trials]
        number = sum(within for _, within in masks)
        tested = [
            (mask, first, end)
            for (mask, within), (first, end) in zip(masks, bursts, strict=True)
            if within and len(first)
        ]
        inside, expected, chance = _tested(tested, rng, rotations)
        if chance <= _UNLIKELY and fine > rotations:
            # New rotations: those that made it a suspect are no evidence.
            inside, expected, chance = _tested(tested, rng, fine)
        total = sum(len(first) for first, _ in bursts)
        found[source] = ReadLosses(total, inside, expected, chance, number)
    return found


def _tested(
    trials: Sequence[tuple[NDArray[np.bool_], Integers, Integers]],
    rng: np.random.Generator,
    rotations: int,
) -> tuple[int, float, float]:
    """Return the bursts inside, those expected, and the chance of that many."""
    zero = np.zeros(1, dtype=np.int64)
    inside = sum(int(_inside(*trial, zero)[0]) for trial in trials)
    total = as_many = 0
    for done in range(0, rotations, ROTATIONS):  # in pieces: each takes memory
        count = min(ROTATIONS, rotations - done)
        found = np.zeros(count, dtype=np.int64)
        for trial in trials:
            found += _inside(*trial, rng.integers(0, len(trial[0]), count))
        total += int(found.sum())
        as_many += int((found >= inside).sum())
    return inside, total / rotations, (as_many + 1) / (rotations + 1)


def _bursts(trial: LostWindows) -> tuple[Integers, Integers]:
    """Return the first window of each burst, and the one after its last."""
    places = np.flatnonzero(trial.lost)
    if not len(places):
        return places, places
    apart = np.flatnonzero(np.diff(places) > max(1, JOINED_NS // trial.window_ns))
    first = places[np.concatenate(([0], apart + 1))]
    end = places[np.concatenate((apart, [len(places) - 1]))] + 1
    if len(first) > _BURSTS_MOST:
        chosen = np.linspace(0, len(first) - 1, _BURSTS_MOST).astype(np.int64)
        first, end = first[chosen], end[chosen]
    return first, end


def _read_windows(
    trial: LostWindows, begins: Integers, took: Integers
) -> tuple[NDArray[np.bool_], int]:
    """Return which windows a read overlaps, and the number of reads in the trial."""
    count = len(trial.lost)
    since = begins - trial.begin_ns
    first = (since - trial.error_ns) // trial.window_ns
    last = (since + took + trial.error_ns) // trial.window_ns
    within = (last >= 0) & (first < count)
    mask = np.zeros(count, dtype=np.bool_)
    for low, high in zip(first[within].tolist(), last[within].tolist(), strict=True):
        mask[max(0, low) : high + 1] = True
    return mask, int(within.sum())


def _inside(mask: NDArray[np.bool_], first: Integers, end: Integers, offsets: Integers) -> Integers:
    """Return, for each rotation, how many bursts overlap the mask."""
    count = len(mask)
    # The sum over any stretch that begins in the trial, around its end too.
    until = np.concatenate(([0], np.cumsum(np.concatenate((mask, mask)).astype(np.int64))))
    start = (first[:, np.newaxis] + offsets) % count
    inside: Integers = (until[start + (end - first)[:, np.newaxis]] > until[start]).sum(axis=0)
    return inside
