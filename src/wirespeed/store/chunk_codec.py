# SPDX-License-Identifier: Apache-2.0
"""Pack the reads of a chunk for the store.

Each series becomes the differences of its values, small ones of either sign near zero (zigzag).
All lowest bytes come before all second bytes and so on, series by series, and zlib compresses that.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wirespeed.model.result.recording import Chunk

Integers = npt.NDArray[np.int64]
_BYTES = 8
# A minute at 50 Hz of 5,000 series; a hostile file may claim more, or unpack to more.
MAX_NUMBERS = 16 << 20


@dataclass(frozen=True, slots=True)
class Reads:
    """Reads of one source as arrays. shapes: (series,), (reads,), (reads,), (reads, series)."""

    source: str
    epoch: str
    series: Integers
    begin_ns: Integers
    took_ns: Integers
    values: Integers

    @property
    def end_ns(self) -> int:
        """End of the last read."""
        return int(self.begin_ns[-1] + self.took_ns[-1])

    def last(self) -> Reads:
        """Return the last read alone, without the memory of the others."""
        row, begin, took = self.values[-1:].copy(), self.begin_ns[-1:].copy(), self.took_ns[-1:]
        return Reads(self.source, self.epoch, self.series, begin, took.copy(), row)

    def joins(self, after: Reads) -> bool:
        """Return whether both have the same series in one epoch."""
        return self.epoch == after.epoch and np.array_equal(self.series, after.series)


def as_reads(chunk: Chunk) -> Reads:
    """Return a chunk's arrays."""
    return Reads(
        chunk.source,
        chunk.epoch,
        *(
            np.array(numbers, dtype=np.int64)
            for numbers in (chunk.series, chunk.begin_ns, chunk.took_ns, chunk.values)
        ),
    )


def joined(reads: list[Reads]) -> Reads:
    """Return one of several that join each other."""
    first = reads[0]
    begin, took, values = (
        np.concatenate([getattr(each, name) for each in reads])
        for name in ("begin_ns", "took_ns", "values")
    )
    return Reads(first.source, first.epoch, first.series, begin, took, values)


def packed(rows: Integers) -> bytes:
    """Pack numbers, one row a moment; of one dimension, one number a moment."""
    table = rows.reshape(len(rows), -1).T
    steps = np.diff(table, axis=1, prepend=np.int64(0))
    zigzag = (steps << 1) ^ (steps >> 63)
    octets = np.ascontiguousarray(zigzag).view(np.uint8).reshape(-1, _BYTES)
    return zlib.compress(np.ascontiguousarray(octets.T).tobytes(), 6)


def unpacked(blob: bytes, moments: int, series: int = 1) -> Integers:
    """Return the rows again: shape (moments, series). Raises ValueError for any other size."""
    if moments < 1 or not 0 <= moments * series <= MAX_NUMBERS:
        raise ValueError(f"a chunk claims {moments} reads of {series} series")
    wanted = _BYTES * moments * series
    stream = zlib.decompressobj()
    planes = stream.decompress(blob, wanted + 1)
    if len(planes) != wanted or not stream.eof or stream.unused_data:
        raise ValueError(f"a chunk of {moments} reads of {series} series has another size")
    octets = np.frombuffer(planes, dtype=np.uint8).reshape(_BYTES, -1).T
    zigzag = np.ascontiguousarray(octets).view(np.uint64).reshape(-1, moments)
    steps = (zigzag >> np.uint64(1)).astype(np.int64) ^ -(zigzag & np.uint64(1)).astype(np.int64)
    rows: Integers = np.cumsum(steps, axis=1, dtype=np.int64).T.reshape(moments, series)
    return rows
