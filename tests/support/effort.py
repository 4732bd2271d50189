# SPDX-License-Identifier: Apache-2.0
"""Choose how many cases a test tries: some with `make test`, many more with `make test-all`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypeVar

Case = TypeVar("Case")

EXHAUSTIVE = bool(os.environ.get("WIRESPEED_EXHAUSTIVE"))


def effort(short: int, exhaustive: int) -> int:
    return exhaustive if EXHAUSTIVE else short


def cases(every: Mapping[str, Case], *repeated: str) -> dict[str, Case]:
    """Return all cases in the exhaustive form, else those whose path no other case takes."""
    assert every.keys() >= set(repeated), repeated
    return {name: every[name] for name in every if EXHAUSTIVE or name not in repeated}
