# SPDX-License-Identifier: Apache-2.0
"""Define a column of results, once for the terminal, the report and CSV files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wirespeed.model.words import NONE
from wirespeed.report.views.figures import PointFigures

CLEAN, ALL_TIME = "Clean time", "All time"


@dataclass(frozen=True, slots=True)
class Column:
    """One value of each point, at one CPU placement or of one direction."""

    name: str = ""
    """Field of a CSV file, with its unit."""
    csv: Callable[[PointFigures], object] | None = None
    """Value in a CSV file; None for a column of tables alone."""
    cell: Callable[[PointFigures], str | None] | None = None
    """Text in tables; None where the point has no such value."""
    terminal: str = ""
    """Heading in the terminal."""
    page: str = ""
    """Heading in the report, with line breaks."""
    group: str = ""
    """Heading in the report over neighbouring columns."""
    style: str = "n"
    """Class of its cells in the report: n for numbers, range, grade or search; empty for words,
    which are aligned left."""
    rated: bool = True
    """A point without any rate has no such value."""
    drop: int = 0
    """Order in which it is hidden where a terminal is too narrow; 0: never."""
    about: str = ""
    """Explanation of the heading in the report, where it needs one."""


GRADE = Column("grade", lambda f: f.grade,
               lambda f: None if f.point.result is None else str(f.grade or NONE), "grade",
               "Grade", CLEAN, "grade")  # fmt: skip
