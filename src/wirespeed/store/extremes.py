# SPDX-License-Identifier: Apache-2.0
"""Reduce reads to the least and most of what is shown, so that a day opens without reading it all.

A counter is shown as its rate between two reads, a gauge as its level at both. A bucket covers the
time from the read before its first to its last. No rate is computed across epochs.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wirespeed.model.result.recording import NO_VALUE
from wirespeed.store.chunk_codec import MAX_NUMBERS, Integers, Reads

Floats = npt.NDArray[np.float32]
Booleans = npt.NDArray[np.bool_]
# Reads of a stored bucket: 3.2 s at 10 Hz.
FINE_READS = 32
# A gauge that was not read for longer is not known in between.
HELD_NS = 2_500_000_000
_FLOAT_OCTETS = 4


@dataclass(frozen=True, slots=True)
class Extremes:
    """Buckets of one source in one epoch. shapes: (buckets + 1,), (buckets, series) twice."""

    edges_ns: Integers
    """Begin of each bucket, and the end of the last, by CLOCK_MONOTONIC."""
    least: Floats
    """Rate a second of a counter, level of a gauge; NaN where there is none."""
    most: Floats

    def merged(self, buckets: int) -> Extremes:
        """Return at most that number of buckets, each of consecutive ones."""
        have = len(self.least)
        starts = bucket_starts(have, buckets)
        return Extremes(
            np.append(self.edges_ns[starts], self.edges_ns[-1]),
            np.fmin.reduceat(self.least, starts, axis=0),
            np.fmax.reduceat(self.most, starts, axis=0),
        )

    def of(self, columns: Integers) -> Extremes:
        """Return those series alone. columns: their places."""
        return Extremes(self.edges_ns, self.least[:, columns], self.most[:, columns])


@dataclass(frozen=True, slots=True)
class Before:
    """Read before the first one of a chunk: its begin, and its value of each column."""

    begin_ns: int
    row: Integers


def before(reads: Reads, earlier: Reads | None) -> Before | None:
    """Return the last read of the chunk before; None where that is of another epoch."""
    if earlier is None or earlier.epoch != reads.epoch or earlier.begin_ns[-1] > reads.begin_ns[0]:
        return None
    last = earlier.values[-1]
    if np.array_equal(earlier.series, reads.series):
        return Before(int(earlier.begin_ns[-1]), last)
    known = dict(zip(earlier.series.tolist(), last.tolist(), strict=True))
    row = [known.get(number, NO_VALUE) for number in reads.series.tolist()]
    return Before(int(earlier.begin_ns[-1]), np.array(row, dtype=np.int64))


def bucket_starts(reads: int, buckets: int) -> Integers:
    """Return the first read of each bucket; buckets: at most, and none is empty."""
    wanted = max(1, min(reads, buckets))
    return np.arange(wanted, dtype=np.int64) * reads // wanted


def extremes(
    reads: Reads, earlier: Before | None, counters: Booleans, starts: Integers
) -> Extremes:
    """Return least and most of each bucket. counters: whether each column is one."""
    first = Before(int(reads.begin_ns[0]), np.full(len(reads.series), NO_VALUE, dtype=np.int64))
    prior = earlier or first
    begins = np.concatenate([[prior.begin_ns], reads.begin_ns])
    values = np.concatenate([prior.row[np.newaxis], reads.values])
    took_ns = np.diff(begins).astype(np.float64)[:, np.newaxis]
    unknown = values == NO_VALUE
    least = np.empty(reads.values.shape, dtype=np.float32)
    most = np.empty_like(least)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        rate = np.diff(values[:, counters], axis=0).astype(np.float64) * 1e9 / took_ns
    missing = (unknown[1:] | unknown[:-1])[:, counters] | (took_ns <= 0)
    rate[missing] = np.nan
    least[:, counters] = most[:, counters] = rate
    gauges = ~counters
    levels = np.where(unknown[:, gauges], np.nan, values[:, gauges])
    held = np.where(took_ns <= HELD_NS, levels[:-1], np.nan)
    least[:, gauges] = np.fmin(held, levels[1:])
    most[:, gauges] = np.fmax(held, levels[1:])
    edges = np.append(begins[starts], begins[-1])
    return Extremes(
        edges, np.fmin.reduceat(least, starts, axis=0), np.fmax.reduceat(most, starts, axis=0)
    )


def stored_extremes(reads: Reads, earlier: Before | None, counters: Booleans) -> Extremes:
    """Return the buckets that are stored with a merged chunk."""
    starts = np.arange(0, len(reads.begin_ns), FINE_READS, dtype=np.int64)
    return extremes(reads, earlier, counters, starts)


def packed_extremes(found: Extremes) -> bytes:
    """Pack least and most: all first octets of the numbers before all second ones, then zlib."""
    both = np.ascontiguousarray(np.stack([found.least, found.most]), dtype="<f4")
    planes = both.view(np.uint8).reshape(-1, _FLOAT_OCTETS).T
    return zlib.compress(np.ascontiguousarray(planes).tobytes(), 1)


def unpacked_extremes(blob: bytes, edges_ns: Integers, columns: int) -> Extremes:
    """Return the buckets again. Raises ValueError for another size."""
    buckets = len(edges_ns) - 1
    if buckets < 1 or not 0 <= buckets * columns <= MAX_NUMBERS:
        raise ValueError(f"{buckets} buckets of {columns} series are not possible")
    wanted = 2 * buckets * columns * _FLOAT_OCTETS
    stream = zlib.decompressobj()
    planes = stream.decompress(blob, wanted + 1)
    if len(planes) != wanted or not stream.eof or stream.unused_data:
        raise ValueError(f"{buckets} buckets of {columns} series have another size")
    octets = np.frombuffer(planes, dtype=np.uint8).reshape(_FLOAT_OCTETS, -1).T
    both = np.ascontiguousarray(octets).view("<f4").reshape(2, buckets, columns)
    return Extremes(edges_ns, both[0], both[1])


def whole_octets(found: Extremes) -> bytes:
    """Return least and most over all buckets, without compression: a day reads many of them."""
    one = found.merged(1)
    return np.concatenate([one.least[0], one.most[0]]).astype("<f4").tobytes()


def whole_extremes(blob: bytes, edges_ns: Sequence[int], columns: int) -> Extremes:
    """Return the bucket of whole_octets. Raises ValueError for another size."""
    if len(blob) != 2 * columns * _FLOAT_OCTETS:
        raise ValueError(f"least and most of {columns} series have another size")
    both = np.frombuffer(blob, dtype="<f4").reshape(2, 1, columns)
    return Extremes(np.array(edges_ns, dtype=np.int64), both[0], both[1])
