# SPDX-License-Identifier: Apache-2.0
"""Read durations and sizes that people type: 10m, 30d, 20G."""

from __future__ import annotations

import re

from wirespeed.model.errors import BadInput

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_OCTETS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([A-Za-z]?)")


def duration_s(option: str, text: str) -> float:
    """Return a duration in s, e.g. 10 for "10s". Raises BadInput."""
    return _read(option, text, {**_SECONDS, "": 1}, "a duration above 0, e.g. 30s, 10m, 2h or 7d")


def size_octets(option: str, text: str) -> float:
    """Return a size in octets, e.g. of "20G". Raises BadInput."""
    return _read(option, text, _OCTETS, "a size above 0, e.g. 500M or 20G")


def _read(option: str, text: str, units: dict[str, int], wanted: str) -> float:
    found = _AMOUNT.fullmatch(text)
    if found is None or found[2] not in units or float(found[1]) <= 0:
        raise BadInput(f"{option} {text}: not {wanted}", f"Give {option} with a number and a unit.")
    return float(found[1]) * units[found[2]]
