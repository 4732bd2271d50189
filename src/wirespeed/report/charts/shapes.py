# SPDX-License-Identifier: Apache-2.0
"""What is on a chart, before anybody decides how to draw it?

interactive.py draws it for the screen, svg.py for paper; both show the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.report.trial_words import Outcome


class Line(StrEnum):
    """A dashed line belongs to the solid one of its colour, and the legend leaves it out."""

    SOLID = "solid"
    DASHED = "dashed"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Series:
    """A line through points. x is an index into the chart's categories. hover: one text a point."""

    name: str
    line: Line
    colour: int
    points: tuple[tuple[float, float], ...]
    hover: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """What is known to lie between two values only, at one x; high None: at least `low`."""

    name: str
    colour: int
    x: float
    low: float
    high: float | None
    hover: str


@dataclass(frozen=True, slots=True)
class Chart:
    """y starts at 0, or is logarithmic. categories: the labels of x = 0, 1, 2...

    legend: what solid, dashed and bars mean.
    """

    key: str
    title: str
    x_label: str
    y_label: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    log_y: bool = False
    legend: str = ""
    ranges: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialMark:
    """One trial of a search: from when to when (seconds spent on trials), its load and outcome.

    Each outcome has a shape of its own, so that colour is not needed.
    """

    start_s: float
    end_s: float
    load_mpps: float
    outcome: Outcome
    hover: str


@dataclass(frozen=True, slots=True)
class SearchChart:
    """Every trial of a search, load against time, and the loads it settled on."""

    key: str
    title: str
    trials: tuple[TrialMark, ...]
    levels: tuple[tuple[str, float], ...]
