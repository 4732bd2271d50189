# SPDX-License-Identifier: Apache-2.0
"""How is a set of CPUs written as one number, so that sets are compared fast?"""

from __future__ import annotations

from collections.abc import Iterable


def mask_of(cpus: Iterable[int]) -> int:
    """One bit for each CPU."""
    mask = 0
    for cpu in cpus:
        mask |= 1 << cpu
    return mask
