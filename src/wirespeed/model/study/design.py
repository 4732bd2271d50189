# SPDX-License-Identifier: Apache-2.0
"""Define the design of a study: combinations of factors, order of points, short form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from annotated_types import Ge, Le

from wirespeed.model.input.text import Line, Word


class Combine(StrEnum):
    """Combinations of factors that a study measures."""

    CUMULATIVE = "cumulative"
    ONE_AT_A_TIME = "one-at-a-time"
    FACTORIAL = "factorial"
    FRACTION = "fraction"


class Order(StrEnum):
    """Order in which points are measured."""

    WRITTEN = "written"
    RANDOM = "random"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class Factor:
    """A two-level factor of a study."""

    name: Line
    """Name for people."""
    sets: Mapping[str, Any]
    """Its high level, by dotted key. The low level is the study's own value."""


@dataclass(frozen=True, slots=True)
class Design:
    """Combinations of the factors, number of repeats, and order of measurement."""

    combine: tuple[Combine, ...] = (Combine.FACTORIAL,)
    """Any of these. cumulative: the base, then each factor in addition to the earlier ones.
    one-at-a-time: the base, then each factor alone. factorial: every combination. fraction: the
    combinations that `generators` selects."""
    generators: tuple[Line, ...] = ()
    """fraction only: factors that follow from others. Letters are in the order of the factors: "D =
    ABC", or "D = -ABC" for the other half. D is on if the product of the signs of A, B and C (+ on,
    - off) is +."""
    repeats: Annotated[int, Ge(1), Le(100)] = 1
    """Number of measurements of each point. Each has its own bench and result."""
    order: Order = Order.WRITTEN
    """written: in file order, all points before the first repeat. random: random order. blocks: all
    points before the first repeat, each time in random order. Drift of a shared machine then
    affects all points alike."""
    seed: Annotated[int, Ge(0)] = 1
    """Seed of the random order."""


@dataclass(frozen=True, slots=True)
class Quick:
    """Short form of the study, for wirespeed run --quick."""

    leave_out: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Levels to exclude, by key, e.g. { "topology.vnfs" = [3, 5] }."""
    set: Mapping[str, Any] = field(default_factory=dict)
    """Values to set as --set does, by key, e.g. { "search.time_limit_s" = 8 }."""
    on: bool = False
    """This is the short form; --quick sets it."""


@dataclass(frozen=True, slots=True)
class Published:
    """Published table that the report prints next to the measured rates."""

    table: Word = ""
    """Name of the table: s1, s2, s3 or s4."""
    without: Mapping[Line, Line] = field(default_factory=dict)
    """Rows of the table without a point in the study, by name, each with the reason."""


@dataclass(frozen=True, slots=True)
class StudyForm:
    """Settings of a study file that are not values of its points."""

    factors: tuple[Factor, ...] = ()
    design: Design = field(default_factory=Design)
    quick: Quick = field(default_factory=Quick)
    published: Published | None = None
