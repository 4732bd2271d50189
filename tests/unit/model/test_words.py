# SPDX-License-Identifier: Apache-2.0
"""Check that numbers are formatted for people."""

from __future__ import annotations

import pytest

from wirespeed.model.words import two_digits


@pytest.mark.parametrize(
    ("ratio", "says"),
    [(0.0005, "0.05%"), (0.031, "3.1%"), (0.0996, "10%"), (0.29, "29%"), (1.2, "120%")],
)
def test_two_digits_are_never_an_exponent(ratio: float, says: str) -> None:
    assert two_digits(ratio) == says
