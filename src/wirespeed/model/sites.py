# SPDX-License-Identifier: Apache-2.0
"""What did the speed-test servers of one site see?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Day:
    """A day's tests (UTC) in one direction: how many, and their median rate in bit/s."""

    day: str
    tests: int
    median_bps: float


@dataclass(frozen=True, slots=True)
class Site:
    """download, upload: as clients see it, by day. limits: what limited a direction, and how often.

    first, last: when the first and the last stored test was, ISO 8601; None where there is none.
    """

    name: str
    tests: int
    aborted: int
    first: str | None
    last: str | None
    download: tuple[Day, ...]
    upload: tuple[Day, ...]
    limits: Mapping[str, int]
