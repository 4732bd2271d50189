# SPDX-License-Identifier: Apache-2.0
"""Read what is published of the Internet's routing tables: sizes and prefix lengths.

The mean lengths and the shares of more specific prefixes are published (data/routing-tables.csv).
No source at hand publishes the share of each length for the same table, so the shares in
data/prefix-lengths.csv are ours: chosen to meet the published mean, with the lengths that are known
to be frequent (IPv4: 24, 22, 23; IPv6: 48, 32, 44).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from wirespeed.published.tables import text


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A routing table as its source describes it."""

    date: str
    """Year, month and, where known, day."""
    prefixes: int
    mean_length: float
    """Mean prefix length in bits."""
    more_specific: float
    """Share of prefixes that lie inside a shorter prefix of the table."""
    source: str


@cache
def published_table(version: int) -> PublishedTable:
    """Return the table of IP version 4 or 6."""
    [row] = [row for row in _rows("routing-tables") if int(row["version"]) == version]
    return PublishedTable(
        row["date"], int(row["prefixes"]), float(row["mean_length"]),
        float(row["more_specific_percent"]) / 100, row["source"],
    )  # fmt: skip


@cache
def prefix_lengths(version: int) -> Mapping[int, float]:
    """Return the share of each prefix length of IP version 4 or 6; the shares add up to 1."""
    return {
        int(row["length"]): float(row["share_percent"]) / 100
        for row in _rows("prefix-lengths")
        if int(row["version"]) == version
    }


def _rows(name: str) -> tuple[dict[str, str], ...]:
    return tuple(csv.DictReader(io.StringIO(text(name))))
