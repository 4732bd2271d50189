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
class Axis:
    """A horizontal axis of numbers. ticks: x and label."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def share(self, x: float) -> float:
        """Return the place of x as a share of the width."""
        return (x - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Categories:
    """A horizontal axis with one slot a label; x = 0, 1, 2... is the middle of a slot."""

    labels: tuple[str, ...]

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        return tuple((float(x), label) for x, label in enumerate(self.labels))

    def share(self, x: float) -> float:
        """Return the place of x as a share of the width."""
        return (x + 0.5) / len(self.labels)


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points."""

    name: str
    line: LineStyle
    colour: int
    points: tuple[tuple[float, float], ...]
    hover: tuple[str, ...]
    """One text a point; a point with an empty one has no dot."""
    errors: tuple[float | None, ...] = ()
    """Half of each point's 95% interval, in units of y; None where it is unknown."""
    hollow: bool = False
    """True for hollow dots."""


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
class Chart:
    """Curves over one axis. y starts at 0, or is logarithmic."""

    key: str
    title: str
    x_label: str
    y_label: str
    axis: Axis | Categories
    curves: tuple[Curve, ...]
    log_y: bool = False
    legend: str = ""
    """Meaning of solid, dashed and bars; "; " separates its parts."""
    ranges: tuple[Range, ...] = ()


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
