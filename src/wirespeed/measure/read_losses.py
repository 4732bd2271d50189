# SPDX-License-Identifier: Apache-2.0
"""Test whether losses fall into a recorder's reads more often than by chance.

The losses of a trial are rotated against its reads, as measure/placebo.py rotates gates: a rotation
keeps the lengths of losses and reads, and only changes which of them coincide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
# Losses that are closer to each other are one burst: a stop fills queues that drain in steps.
JOINED_NS = 1_000_000
ROTATIONS = 1000
# Bursts of one trial that are tested, evenly chosen: an overload loses frames all the time.
_BURSTS_MOST = 200


@dataclass(frozen=True, slots=True)
class LostWindows:
    """Where one trial lost frames, on CLOCK_MONOTONIC of the recorded host."""

    begin_ns: int
    window_ns: int
    lost: NDArray[np.bool_]
    """Whether frames of a window were lost."""
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
    """Share of rotations with as many bursts inside, or more."""
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
    # The trial as it was comes first, then its rotations.
    offsets = [np.append(0, rng.integers(0, len(trial.lost), rotations)) for trial in trials]
    found = {}
    for source, (begins, took) in reads.items():
        inside = np.zeros(rotations + 1, dtype=np.int64)
        number = 0
        for trial, (first, end), shift in zip(trials, bursts, offsets, strict=True):
            mask, within = _read_windows(trial, begins, took)
            number += within
            if within and len(first):
                inside += _inside(mask, first, end, shift)
        found[source] = ReadLosses(
            sum(len(first) for first, _ in bursts), int(inside[0]), float(inside[1:].mean()),
            float((inside[1:] >= inside[0]).mean()), number,
        )  # fmt: skip
    return found


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
