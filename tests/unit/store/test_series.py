# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.result.series import Series, SeriesKind
from wirespeed.store.series import pack

VALUES = st.one_of(
    st.lists(st.integers(-(2**52), 2**52).map(float), max_size=40),
    st.lists(st.floats(allow_nan=False), max_size=40),
)


@given(VALUES, st.data())
def test_a_series_is_unpacked_as_it_was(values: list[float], data: st.DataObject) -> None:
    moment = st.integers(-(2**60), 2**60)
    moments = data.draw(st.lists(moment, min_size=len(values), max_size=len(values)))
    kind = data.draw(st.sampled_from(SeriesKind))
    series = Series("offered", "frames", kind, "here", tuple(sorted(moments)), tuple(values))
    assert pack(series).unpack() == series


def test_counts_of_a_steady_load_take_little_room() -> None:
    rng = random.Random(7)
    at_ns = tuple(range(0, 2_000_000_000, 1_000_000))
    values = tuple(float(8000 + rng.randint(-32, 32)) for _ in at_ns)
    packed = pack(Series("offered", "frames", SeriesKind.COUNT, "here", at_ns, values))
    assert len(packed.at_ns) < 50
    assert len(packed.values) < 2 * len(values)
