# SPDX-License-Identifier: Apache-2.0
"""Read quantities of Kubernetes: 2Gi, 500m, 4."""

from __future__ import annotations

import re
from decimal import ROUND_DOWN, Decimal

_UNITS = {
    "n": Decimal(10) ** -9, "u": Decimal(10) ** -6, "m": Decimal(10) ** -3,
    "": Decimal(1), "k": Decimal(10) ** 3, "M": Decimal(10) ** 6, "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12, "P": Decimal(10) ** 15, "E": Decimal(10) ** 18,
    "Ki": Decimal(1 << 10), "Mi": Decimal(1 << 20), "Gi": Decimal(1 << 30),
    "Ti": Decimal(1 << 40), "Pi": Decimal(1 << 50), "Ei": Decimal(1 << 60),
}  # fmt: skip
# Source: Kubernetes v1.34.1, apimachinery/pkg/api/resource/quantity.go; none here is below 0.
_FORM = re.compile(
    r"\+?(\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE]([+-]?\d{1,2})|([numkMGTPE]|[KMGTPE]i)?)",
    re.ASCII,
)


def milli(value: object) -> int:
    """Return a quantity in 1/1000, rounded down: "500m" is 500, "2" is 2000. Raises ValueError."""
    return int((_read(value) * 1000).to_integral_value(ROUND_DOWN))


def whole(value: object) -> int:
    """Return a quantity rounded down to a whole number, e.g. bytes. Raises ValueError."""
    return int(_read(value).to_integral_value(ROUND_DOWN))


def _read(value: object) -> Decimal:
    found = _FORM.fullmatch(str(value))
    if not found:
        raise ValueError(f"{value!r} is no quantity of Kubernetes, as 2Gi, 500m or 4")
    number, exponent, unit = found.groups()
    return Decimal(number) * (Decimal(10) ** int(exponent) if exponent else _UNITS[unit or ""])
