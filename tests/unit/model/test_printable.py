# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from wirespeed.model.input.text import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("12345678", "12345678"), ("123456789", "12345..."), ("\x1b123", "\\x1b123"),
        ("\x1b" * 9, "\\x1b\\..."), ("1" * 8 + "\x1b", "11111..."),
        ("1" * 5 + "\ud800", "11111..."), ("\x1b\x1b", "\\x1b\\x1b"),
    ],
)  # fmt: skip
def test_printable_longer_text_is_cut_after_its_escapes(text: str, shown: str) -> None:
    assert printable(text, 8) == shown
    assert printable(text + "\x00" * 100_000, 8)[:5] == shown[:5]
