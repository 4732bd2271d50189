# SPDX-License-Identifier: Apache-2.0
"""What is on a chart, before it is drawn (svg.py)?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.explain.trial import Outcome


class LineStyle(StrEnum):
    """A dashed line belongs to the solid one of its name, and the legend has one entry for both."""

    SOLID = "solid"
    DASHED = "dashed"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points. x is an index into the chart's categories. hover: one text a point."""

    name: str
    line: LineStyle
    colour: int
    points: tuple[tuple[float, float], ...]
    hover: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """A figure of which only bounds are known, at one x. high: None where it is not bounded."""

    name: str
    colour: int
    x: float
    low: float
    high: float | None
    hover: str


@dataclass(frozen=True, slots=True)
class Move:
    """A point whose polling CPUs moved while it was measured: its rates at one x."""

    x: float
    start: float
    end: float
    hover: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over categories, which are the labels of x = 0, 1, 2... y starts at 0, or is
    logarithmic.

    legend: the meaning of solid, dashed and bars; "; " separates its parts.
    """

    key: str
    title: str
    x_label: str
    y_label: str
    categories: tuple[str, ...]
    curves: tuple[Curve, ...]
    log_y: bool = False
    legend: str = ""
    ranges: tuple[Range, ...] = ()
    moves: tuple[Move, ...] = ()


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
