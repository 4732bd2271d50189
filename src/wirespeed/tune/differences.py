# SPDX-License-Identifier: Apache-2.0
"""List the keys in which two points differ, and those that cannot be tried alone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wirespeed.experiment.combinations import Combination
from wirespeed.model.errors import WirespeedError
from wirespeed.model.input.fault import show
from wirespeed.model.study.spec import Workload
from wirespeed.model.study.study import flat
from wirespeed.tune.factor import NotTried
from wirespeed.tune.trials import Setting, workload_with


@dataclass(frozen=True, slots=True)
class Difference:
    """A key with its values in both points."""

    key: str
    a: Any
    b: Any

    def __str__(self) -> str:
        return f"{self.key}: {show(self.a)} in A, {show(self.b)} in B"


def differences(
    a: Mapping[str, Any], b: Mapping[str, Any], plan: Callable[[Workload], object]
) -> tuple[tuple[Difference, ...], tuple[NotTried, ...]]:
    """Return the differences that can be tried one by one on top of A, and the others.

    plan: raises WirespeedError where the host cannot run a workload.
    """
    ours, theirs = flat(dict(a)), flat(dict(b))
    tried: list[Difference] = []
    left: list[NotTried] = []
    for key in dict.fromkeys((*ours, *theirs)):
        if ours.get(key) == theirs.get(key):
            continue
        each = Difference(key, ours.get(key), theirs.get(key))
        if (why := _impossible(a, each, plan)) is None:
            tried.append(each)
        else:
            left.append(NotTried(str(each), why))
    return tuple(tried), tuple(left)


def _impossible(
    a: Mapping[str, Any], each: Difference, plan: Callable[[Workload], object]
) -> str | None:
    if each.b is None:
        return "B leaves it to its default or to the plan, which A cannot be set to"
    try:
        plan(workload_with(a, {each.key: each.b}, each.key))
    except WirespeedError as error:
        return " ".join(error.what.split())
    return None


def setting_with(a: Mapping[str, Any], of: tuple[Difference, ...], on: Combination) -> Setting:
    """Return A with these differences."""
    changed = [of[at] for at in sorted(on)]
    workload = workload_with(a, {each.key: each.b for each in changed}, "differences")
    names = tuple(each.key for each in changed)
    return Setting(f"A with {', '.join(names)}" if names else "A", workload, names)
