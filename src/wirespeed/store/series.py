# SPDX-License-Identifier: Apache-2.0
"""Compress a series for the store.

Moments and values are eight bytes each, little-endian. All first bytes come before all second bytes
and so on, which compresses well: counts of a steady load take about two bytes per window.

Numpy is imported where arrays are needed: a list of runs needs none.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from wirespeed.model.result.series import Series, SeriesKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BYTES = 8
# The first byte of packed numbers is their type.
_INTEGERS, _REALS = "q", "d"
# Whole numbers up to here are exact as a float.
_EXACT = 2**53
# Limit when unpacked: 100 times the windows of the longest trial. A hostile file may unpack to
# more.
_MAX_OCTETS = 64 << 20


@dataclass(frozen=True, slots=True)
class PackedSeries:
    """A series in its stored form."""

    name: str
    unit: str
    kind: str
    epoch: str
    at_ns: bytes
    values: bytes

    def unpack(self) -> Series:
        moments = accumulate(int(step) for step in _unpacked(self.at_ns))
        values = tuple(float(value) for value in _unpacked(self.values))
        return Series(
            self.name, self.unit, SeriesKind(self.kind), self.epoch, tuple(moments), values
        )


def moments_and_values(packed: PackedSeries) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return moments in ns and values as arrays: much faster than unpack() for a whole run.

    Raises ValueError where it is cut.
    """
    import numpy as np

    steps, values = (
        np.frombuffer(_octets(each), dtype=np.uint8).reshape(_BYTES, -1).T.copy()
        for each in (packed.at_ns, packed.values)
    )
    kind = "<i8" if packed.values[:1].decode() == _INTEGERS else "<f8"
    moments = np.cumsum(steps.view("<i8").reshape(-1), dtype=np.int64)
    return moments, values.view(kind).reshape(-1).astype(np.float64)


def pack(series: Series) -> PackedSeries:
    """Pack a series. Moments become differences, which are equal for windows.

    Raises OverflowError where a moment has more than 64 bits.
    """
    import numpy as np

    values = np.array(series.values, dtype=np.float64)
    whole = bool(np.all((np.abs(values) < _EXACT) & (np.floor(values) == values)))
    return PackedSeries(
        series.name, series.unit, str(series.kind), series.epoch,
        _packed_moments(series.at_ns), _packed(values.astype(np.int64) if whole else values),
    )  # fmt: skip


# All series of a trial's windows have the same moments.
@lru_cache(maxsize=1)
def _packed_moments(at_ns: tuple[int, ...]) -> bytes:
    import numpy as np

    moments = np.array(at_ns, dtype=np.int64)
    return _packed(np.concatenate((moments[:1], moments[1:] - moments[:-1])))


def _packed(numbers: NDArray[np.int64] | NDArray[np.float64]) -> bytes:
    kind = _INTEGERS if numbers.dtype.kind == "i" else _REALS
    raw = numbers.astype(f"<{numbers.dtype.kind}{_BYTES}").view("u1")
    ranks = raw.reshape(len(numbers), _BYTES).T.tobytes()
    return kind.encode() + zlib.compress(ranks)


def _unpacked(packed: bytes) -> tuple[float, ...]:
    kind = packed[:1].decode()
    ranks = _octets(packed)
    count = len(ranks) // _BYTES
    raw = bytearray(len(ranks))
    for rank in range(_BYTES):
        raw[rank::_BYTES] = ranks[rank * count : (rank + 1) * count]
    return struct.unpack(f"<{count}{kind}", raw)


def _octets(packed: bytes) -> bytes:
    """Return the octets of packed numbers, rank by rank. Raises ValueError where they are cut."""
    stream = zlib.decompressobj()
    ranks = stream.decompress(packed[1:], _MAX_OCTETS)
    if not stream.eof:
        raise ValueError(f"a series is cut, or has more than {_MAX_OCTETS} octets")
    return ranks
