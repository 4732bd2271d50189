# SPDX-License-Identifier: Apache-2.0
"""What will a study measure: which points, in which order, and how do they differ?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wirespeed.model.spec import Workload


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of parameters.

    id: the same for the same parameters in any study and run. label: the parameters that differ
    within the study, in words, e.g. "pvp, 64 B". parameters: `workload` as nested tables of plain
    values, spelled as in a study file. needs: what the host must have, as the study says.
    """

    id: str
    label: str
    workload: Workload
    parameters: dict[str, Any]
    needs: tuple[str, ...] = ()


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
    """A study after validation. `resolved` is the file with every --set applied, as TOML data."""

    name: str
    title: str
    description: str
    points: tuple[Point, ...]
    resolved: dict[str, Any]
