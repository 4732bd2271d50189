# SPDX-License-Identifier: Apache-2.0
"""Define the comparison with a paper: small charts, tables, and sentences on agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from wirespeed.published.tables import Source
from wirespeed.report.charts.shapes import Chart


class Agreement(StrEnum):
    """Agreement of a measurement with the paper."""

    AGREES = "agrees"
    DIFFERS = "differs"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence on the agreement."""

    agreement: Agreement
    sentence: str
    why: str = ""
    """Reason on this host for a difference."""

    @property
    def text(self) -> str:
        return f"{self.sentence}. {self.why}." if self.why else f"{self.sentence}."


@dataclass(frozen=True, slots=True)
class Table:
    """A table."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int = 1
    """Number of leading cells that name a row."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Comparison of a run with a paper."""

    source: Source
    """Source of the published rates."""
    said: tuple[Said, ...]
    tables: tuple[Table, ...]
    panels: tuple[Chart, ...] = ()
    """Small multiples, ours and theirs in each."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Rows of the paper that the study has no point for, and why."""
