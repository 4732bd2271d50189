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
    """Which combinations of the factors are measured, how often and in which order."""

    combine: tuple[Combine, ...] = (Combine.FACTORIAL,)
    """Any of: cumulative: the base, then each factor on top of those before it; one-at-a-time: the
    base, then each factor alone; factorial: every combination; fraction: those that `generators`
    leave of them."""
    generators: tuple[Line, ...] = ()
    """fraction only: which factors are decided by others, by letter in the order of the factors:
    "D = ABC", or "D = -ABC" for the other half. D is on where the product of the signs of A, B and
    C (+ on, - off) is +."""
    repeats: Annotated[int, Ge(1), Le(100)] = 1
    """How often each point is measured. Each time has a bench and a result of its own."""
    order: Order = Order.WRITTEN
    """written: as in the file, all of it once before any of it again; random: at random; blocks:
    all of it once before any of it again, each time at random, so that what drifts on a shared
    machine falls on all points alike."""
    seed: Annotated[int, Ge(0)] = 1
    """What the random order follows from."""


@dataclass(frozen=True, slots=True)
class Quick:
    """The study's short form, which wirespeed run --quick measures."""

    leave_out: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """By key, the levels whose points are not measured, e.g. { "topology.vnfs" = [3, 5] }."""
    set: Mapping[str, Any] = field(default_factory=dict)
    """By key, values that are set as --set does, e.g. { "search.time_limit_s" = 8 }."""
    on: bool = False
    """Whether this is the short form; --quick says so."""


@dataclass(frozen=True, slots=True)
class Published:
    """The published table that the report shows beside what was measured."""

    table: Word = ""
    """Which table: s1, s2, s3 or s4."""
    without: Mapping[Line, Line] = field(default_factory=dict)
    """By name, the rows of it that the study has no point for, and why."""


@dataclass(frozen=True, slots=True)
class StudyForm:
    """The parts of a study file that are not values of its points."""

    factors: tuple[Factor, ...] = ()
    design: Design = field(default_factory=Design)
    quick: Quick = field(default_factory=Quick)
    published: Published | None = None
