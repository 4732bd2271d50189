# SPDX-License-Identifier: Apache-2.0
"""List the differences between two sides that can be tried one by one, and the others. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wirespeed.experiment.combinations import Combination
from wirespeed.model.errors import WirespeedError
from wirespeed.model.input.fault import show
from wirespeed.model.study.spec import Workload
from wirespeed.model.study.study import flat
from wirespeed.study.expand import parameters
from wirespeed.tune.factor import NotTried
from wirespeed.tune.trials import Setting, workload_with

Planned = Callable[[Workload], object]
"""Raises WirespeedError where the host cannot run a workload."""


@dataclass(frozen=True, slots=True)
class Level:
    """Value of one side, as it is tried here."""

    sets: Mapping[str, Any] = field(default_factory=dict)
    """Values by key of a study."""
    host: Mapping[str, str] = field(default_factory=dict)
    """Contents by file of the host."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A key, setting or decision with its values on both sides."""

    key: str
    a: Any
    b: Any
    level_a: Level = Level()
    level_b: Level = Level()

    def __str__(self) -> str:
        return f"{self.key}: {show(self.a)} in A, {show(self.b)} in B"


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences of two sides."""

    a: Mapping[str, Any]
    """Parameters of the point with A's values."""
    tried: tuple[Difference, ...]
    left: tuple[NotTried, ...]
    """Differences that cannot be tried here, each with the reason."""

    def setting(self, on: Combination) -> Setting:
        """Return A with these differences."""
        changed = [self.tried[at] for at in sorted(on)]
        sets = {key: value for each in changed for key, value in each.level_b.sets.items()}
        host: dict[str, str] = {}
        for at, each in enumerate(self.tried):
            host |= each.level_b.host if at in on else each.level_a.host
        names = tuple(each.key for each in changed)
        label = f"A with {', '.join(names)}" if names else "A"
        return Setting(label, workload_with(self.a, sets, "differences"), names, host)


def between_points(a: Mapping[str, Any], b: Mapping[str, Any], plan: Planned) -> Differences:
    """Return the differences of two points, each of which is tried on top of A."""
    ours, theirs = flat(dict(a)), flat(dict(b))
    tried: list[Difference] = []
    left: list[NotTried] = []
    for key in dict.fromkeys((*ours, *theirs)):
        if ours.get(key) == theirs.get(key):
            continue
        each = Difference(
            key, ours.get(key), theirs.get(key), level_b=Level({key: theirs.get(key)})
        )
        if each.b is None:
            why: str | None = "B leaves it to its default or to the plan, which A cannot be set to"
        else:
            why = _impossible(a, each.level_b, key, plan)
        if why is None:
            tried.append(each)
        else:
            left.append(NotTried(str(each), why))
    return Differences(a, tuple(tried), tuple(left))


def at_point(
    base: Mapping[str, Any], found: Sequence[Difference], left: Sequence[NotTried], plan: Planned
) -> Differences:
    """Return differences of two plans or hosts, as they can be tried at a point.

    base: parameters of the point. The first side has A's value of each difference.
    """
    tried: list[Difference] = []
    others = list(left)
    sets: dict[str, Any] = {}
    for each in found:
        levels = (each.level_a, each.level_b)
        whys = [_impossible(base, level, each.key, plan) for level in levels]
        if why := next((why for why in whys if why is not None), None):
            others.append(NotTried(str(each), why))
        else:
            tried.append(each)
            sets |= each.level_a.sets
    a = workload_with(base, sets, "A")
    return Differences(parameters(a), tuple(tried), tuple(others))


def _impossible(base: Mapping[str, Any], level: Level, key: str, plan: Planned) -> str | None:
    try:
        plan(workload_with(base, level.sets, key))
    except WirespeedError as error:
        return " ".join(error.what.split())
    return None
