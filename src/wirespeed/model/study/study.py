# SPDX-License-Identifier: Apache-2.0
"""Define a study: its points, their order and their differences."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from wirespeed.model.input.text import Line, Prose
from wirespeed.model.study.design import StudyForm
from wirespeed.model.study.spec import Workload


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of parameters."""

    id: str
    """Same for the same parameters in any study and run."""
    label: str
    """Parameters that differ within the study, in words, e.g. "pvp, 64 B"."""
    workload: Workload
    parameters: dict[str, Any]
    """`workload` as nested tables of plain values, in the spelling of a study file."""
    needs: tuple[str, ...] = ()
    """Requirements on the host, as written in the study."""
    factors: tuple[str, ...] = ()
    """Names of the factors that are on."""
    repeat: int = 1
    """Number of the repeat, from 1."""

    @property
    def key(self) -> str:
        """Unique key of the point within a run: its id, or for a repeat a key of its own."""
        return self.id if self.repeat == 1 else short_hash(f"{self.id} {self.repeat}")


def short_hash(text: str) -> str:
    """Return 12 hexadecimal digits of the text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def flat(parameters: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested tables of parameters by dotted key, e.g. "sut.impair.rate_fps"."""
    leaves: dict[str, Any] = {}
    for key, value in parameters.items():
        if isinstance(value, dict):
            leaves |= flat(value, f"{prefix}{key}.")
        else:
            leaves[f"{prefix}{key}"] = value
    return leaves


@dataclass(frozen=True, slots=True)
class Study:
    """A study after validation."""

    name: Line
    title: Line
    description: Prose
    points: tuple[Point, ...]
    """Points in the order of the file, with repeats next to each other."""
    resolved: dict[str, Any]
    """The file with every --set applied, as TOML data."""
    form: StudyForm = field(default_factory=StudyForm)
    order: tuple[str, ...] = ()
    """Keys of the points in the order of measuring; empty: as written."""
    left_out: int = 0
    """Number of points that the quick form excludes."""

    @property
    def in_order(self) -> tuple[Point, ...]:
        """The points in the order of measuring."""
        by_key = {point.key: point for point in self.points}
        return tuple(by_key[key] for key in self.order) if self.order else self.points
