# SPDX-License-Identifier: Apache-2.0
"""What stands beside a paper's figures: small charts, a table, sentences that agree or do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from wirespeed.published.tables import Source
from wirespeed.report.charts.shapes import Chart


class Agreement(StrEnum):
    """Whether what was measured shows what the paper says."""

    AGREES = "agrees"
    DIFFERS = "differs"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence and what it says of the agreement. why: what here explains a difference."""

    agreement: Agreement
    sentence: str
    why: str = ""

    @property
    def text(self) -> str:
        return f"{self.sentence}. {self.why}." if self.why else f"{self.sentence}."


@dataclass(frozen=True, slots=True)
class Table:
    """title and headings; the first `keys` cells of each row are its name."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int = 1


@dataclass(frozen=True, slots=True)
class Beside:
    """source: of the published figures. panels: small multiples, ours and theirs in each. without:
    rows of the paper that the study has no point for, and why."""

    source: Source
    said: tuple[Said, ...]
    tables: tuple[Table, ...]
    panels: tuple[Chart, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)
