# SPDX-License-Identifier: Apache-2.0
"""Read quantities of Kubernetes: 2Gi, 500m, 4."""

from __future__ import annotations

import re

_UNITS = {
    "": 1000, "m": 1, "k": 10**6, "M": 10**9, "G": 10**12, "T": 10**15,
    "Ki": 1000 << 10, "Mi": 1000 << 20, "Gi": 1000 << 30, "Ti": 1000 << 40,
}  # fmt: skip


def milli(value: object) -> int:
    """Return a quantity in 1/1000: "500m" is 500, "2" is 2000. Raises ValueError."""
    found = re.fullmatch(r"(\d{1,15})(|m|k|M|G|T|Ki|Mi|Gi|Ti)", str(value))
    if not found:
        raise ValueError(f"{value!r} is no quantity of Kubernetes, as 2Gi, 500m or 4")
    return int(found[1]) * _UNITS[found[2]]


def whole(value: object) -> int:
    """Return a quantity rounded down to a whole number, e.g. bytes. Raises ValueError."""
    return milli(value) // 1000
