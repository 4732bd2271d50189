# SPDX-License-Identifier: Apache-2.0
"""Represent a set of CPUs as an integer, for fast comparisons."""

from __future__ import annotations

from collections.abc import Iterable


def mask_of(cpus: Iterable[int]) -> int:
    """Return an integer with one bit per CPU."""
    mask = 0
    for cpu in cpus:
        mask |= 1 << cpu
    return mask
