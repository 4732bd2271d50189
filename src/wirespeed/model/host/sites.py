# SPDX-License-Identifier: Apache-2.0
"""Define the results that the speed-test servers of one site recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Day:
    """Tests of one day (UTC) in one direction."""

    day: str
    tests: int
    """Number of tests."""
    median_bps: float
    """Median rate in bit/s."""


@dataclass(frozen=True, slots=True)
class Site:
    """Results of one site."""

    name: str
    tests: int
    aborted: int
    first: str | None
    """Time of the first stored test, ISO 8601; None without a test."""
    last: str | None
    """Time of the last stored test, ISO 8601; None without a test."""
    download: tuple[Day, ...]
    """Days in the direction towards the client."""
    upload: tuple[Day, ...]
    """Days in the direction from the client."""
    limits: Mapping[str, int]
    """Number of tests by the cause that limited a direction."""
