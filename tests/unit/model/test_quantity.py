# SPDX-License-Identifier: Apache-2.0
"""Read quantities in every form that Kubernetes' API prints."""

from __future__ import annotations

import pytest

from wirespeed.model.plan.quantity import milli, whole


@pytest.mark.parametrize(
    ("text", "thousandths"),
    [
        ("4", 4000), ("500m", 500), ("1.5", 1500), (".5", 500), ("+2", 2000), (3, 3000),
        ("1e3", 1_000_000), ("5E-1", 500), ("1500000u", 1500), ("1n", 0), ("2k", 2_000_000),
        ("1Gi", 1000 << 30), ("1.5Gi", 1500 << 30), ("2Ei", 2000 << 60), ("1E", 10**21),
        ("3P", 3 * 10**18), ("1.", 1000),
    ],
)  # fmt: skip
def test_quantity_is_read_in_thousandths(text: object, thousandths: int) -> None:
    assert milli(text) == thousandths
    assert whole(text) == thousandths // 1000


@pytest.mark.parametrize(
    "text", ["", "-1", "Gi", "1Kim", "1e", "1e999", "0x10", "~", "1,5", "٣", " 1", "9" * 400]
)
def test_text_that_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no quantity"):
        milli(text)
