# SPDX-License-Identifier: Apache-2.0
"""What will a study measure: which points, in which order, and how do they differ?"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from wirespeed.model.design import StudyForm
from wirespeed.model.spec import Workload
from wirespeed.model.text import Line, Prose


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of parameters.

    id: the same for the same parameters in any study and run. label: the parameters that differ
    within the study, in words, e.g. "pvp, 64 B". parameters: `workload` as nested tables of plain
    values, spelled as in a study file. needs: what the host must have, as the study says.
    factors: the names of those that are on. repeat: from 1, where points are measured again.
    """

    id: str
    label: str
    workload: Workload
    parameters: dict[str, Any]
    needs: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    repeat: int = 1

    @property
    def key(self) -> str:
        """What tells the point apart within a run: its id; of a repeat one of its own."""
        return self.id if self.repeat == 1 else short_hash(f"{self.id} {self.repeat}")


def short_hash(text: str) -> str:
    """12 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def flat(parameters: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables of parameters by dotted key, e.g. "sut.impair.rate_fps"."""
    leaves: dict[str, Any] = {}
    for key, value in parameters.items():
        if isinstance(value, dict):
            leaves |= flat(value, f"{prefix}{key}.")
        else:
            leaves[f"{prefix}{key}"] = value
    return leaves


@dataclass(frozen=True, slots=True)
class Study:
    """A study after validation. `resolved` is the file with every --set applied, as TOML data.

    points: as written, repeats beside each other. order: the keys of the points in the order of
    measuring. left_out: how many points its quick form does without.
    """

    name: Line
    title: Line
    description: Prose
    points: tuple[Point, ...]
    resolved: dict[str, Any]
    form: StudyForm = field(default_factory=StudyForm)
    order: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def in_order(self) -> tuple[Point, ...]:
        """The points in the order of measuring."""
        by_key = {point.key: point for point in self.points}
        return tuple(by_key[key] for key in self.order) if self.order else self.points
