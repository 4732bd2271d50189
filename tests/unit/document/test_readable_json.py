# SPDX-License-Identifier: Apache-2.0
"""Check that JSON for people holds the same value as any, on lines that people can read."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wirespeed.document.readable_json import readable_json

WIDTH = 120
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=60,
)


@given(VALUES)
def test_readable_json_is_the_value(value: Any) -> None:
    assert json.loads(readable_json(value)) == value


@given(st.lists(st.integers(0, 8191), max_size=400))
def test_readable_json_list_of_numbers_fills_its_lines(cpus: list[int]) -> None:
    lines = readable_json({"cpus": cpus}).splitlines()
    assert max(map(len, lines)) <= WIDTH
    for line, following in pairwise(lines[2:-2]):
        first, *_ = following.split()
        assert len(f"{line} {first}") >= WIDTH


def test_readable_json_breaks_only_what_does_not_fit() -> None:
    text = readable_json({"short": [1, 2], "pages": [{"node": 0}, {"node": 1}], "long": "x" * 130})
    assert text.splitlines() == [
        "{",
        '  "short": [1, 2],',
        '  "pages": [{"node": 0}, {"node": 1}],',
        f'  "long": "{"x" * 130}"',
        "}",
    ]
