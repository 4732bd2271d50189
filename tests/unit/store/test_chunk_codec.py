# SPDX-License-Identifier: Apache-2.0
"""Check that chunks unpack to what was packed, and that hostile ones are refused."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.result.recording import NO_VALUE
from wirespeed.store.chunk_codec import packed, unpacked

NUMBERS = st.integers(min_value=NO_VALUE, max_value=2**63 - 1)


@given(st.integers(1, 6), st.integers(0, 5), st.data())
def test_packed_numbers_of_any_sign_unpack_to_the_same(
    moments: int, series: int, data: st.DataObject
) -> None:
    row = st.lists(NUMBERS, min_size=series, max_size=series)
    rows = np.array([data.draw(row) for _ in range(moments)], dtype=np.int64)
    assert np.array_equal(unpacked(packed(rows), moments, series), rows.reshape(moments, series))


def test_packed_steady_counters_take_at_most_two_octets_a_sample() -> None:
    random = np.random.default_rng(1)
    steps = random.integers(990_000, 1_010_000, size=(600, 100))
    assert len(packed(np.cumsum(steps, axis=0))) / steps.size <= 2.1


def test_unpacked_bomb_and_data_of_another_size_are_refused() -> None:
    bomb = zlib.compress(bytes(64 << 20), 9)
    whole = packed(np.arange(1000, dtype=np.int64))
    for blob, moments in ((bomb, 1), (bomb, 1000), (whole[:-5], 1000), (whole, 7), (whole, 2000)):
        with pytest.raises(ValueError, match="has another size"):
            unpacked(blob, moments)
    for moments, series in ((0, 1), (-1, -1), (1 << 20, 1 << 20), (1, -1)):
        with pytest.raises(ValueError, match="a chunk claims"):
            unpacked(whole, moments, series)
