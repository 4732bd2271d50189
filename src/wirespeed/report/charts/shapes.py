# SPDX-License-Identifier: Apache-2.0
"""Describe the content of a chart before it is drawn (svg.py)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.explain.trial import Outcome


class LineStyle(StrEnum):
    """Style of a line.

    A dashed line belongs to the solid one of its name; they share one legend entry.
    """

    SOLID = "solid"
    DASHED = "dashed"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points. x is an index into the chart's categories."""

    name: str
    line: LineStyle
    colour: int
    points: tuple[tuple[float, float], ...]
    hover: tuple[str, ...]
    """One text a point."""


@dataclass(frozen=True, slots=True)
class Range:
    """A rate of which only bounds are known, at one x."""

    name: str
    colour: int
    x: float
    low: float
    high: float | None
    """None where it has no upper bound."""
    hover: str


@dataclass(frozen=True, slots=True)
class Move:
    """Rates at one x of a point whose polling CPUs moved while it was measured."""

    x: float
    start: float
    end: float
    hover: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over categories, which are the labels of x = 0, 1, 2...

    y starts at 0, or is logarithmic.
    """

    key: str
    title: str
    x_label: str
    y_label: str
    categories: tuple[str, ...]
    curves: tuple[Curve, ...]
    log_y: bool = False
    legend: str = ""
    """Meaning of solid, dashed and bars; "; " separates its parts."""
    ranges: tuple[Range, ...] = ()
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialMark:
    """One trial of a search: its begin and end in seconds spent on trials, load and outcome.

    Each outcome has its own shape, so that colour is not needed.
    """

    start_s: float
    end_s: float
    load_mpps: float
    outcome: Outcome
    hover: str


@dataclass(frozen=True, slots=True)
class SearchChart:
    """Every trial of a search, load against time."""

    key: str
    title: str
    trials: tuple[TrialMark, ...]
    levels: tuple[tuple[str, float], ...]
    """Loads that the search found, by name."""
