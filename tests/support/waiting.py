# SPDX-License-Identifier: Apache-2.0
"""Wait for a condition of another process."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 30


def until(done: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    end = time.monotonic() + patience_s
    while not done():
        assert time.monotonic() < end, f"not in {patience_s} s: {what}"
        time.sleep(0.05)
