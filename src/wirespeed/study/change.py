# SPDX-License-Identifier: Apache-2.0
"""Build the study that tries a change: a point without and with the change, repeated in pairs.

Pairs begin with either in turn, so that a machine that drifts favours none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from wirespeed.model.errors import BadInput
from wirespeed.model.input.fault import Fault, show
from wirespeed.model.result.explanation import KeyChange
from wirespeed.model.study.spec import Workload
from wirespeed.model.study.study import Point, Study
from wirespeed.study.errors import StudyError
from wirespeed.study.expand import parameters, point_id, set_key
from wirespeed.study.validate import validate_point

AS_IT_WAS, CHANGED = "as it was", "changed"
MAX_PAIRS = 100


def study_of_change(
    name: str, measured: dict[str, Any], keys: Sequence[KeyChange], pairs: int, title: str
) -> Study:
    """Return the study of a change.

    measured: parameters of the point, as a run stores them. Raises BadInput if they are no longer
    those of a study, or if the change is not possible.
    """
    if not 1 <= pairs <= MAX_PAIRS:
        raise BadInput(f"--pairs {pairs}: must be 1 to {MAX_PAIRS}", "Six that count give 95%.")
    changed = deepcopy(measured)
    for change in keys:
        value = list(change.value) if isinstance(change.value, tuple) else change.value
        set_key(changed, change.key, value)
    before, after = _checked(measured, AS_IT_WAS), _checked(changed, CHANGED)
    points = [
        _point(workload, label, number)
        for number in range(1, pairs + 1)
        for workload, label in _in_turn(number, (before, AS_IT_WAS), (after, CHANGED))
    ]
    if points[0].parameters == points[1].parameters:
        raise BadInput(f"{_words(keys)} changes nothing at this point", "There is nothing to try.")
    description = f"{pairs} pairs, each {AS_IT_WAS} and with {_words(keys)}, in turn."
    resolved = {"title": title, "description": description, **measured,
                "case": [{}, {change.key: change.value for change in keys}]}  # fmt: skip
    return Study(name, title, description, tuple(points), resolved)


def _words(keys: Sequence[KeyChange]) -> str:
    return ", ".join(f"{change.key} = {show(change.value)}" for change in keys)


def _checked(raw: dict[str, Any], label: str) -> Workload:
    workload, faults = validate_point(raw)
    if workload is None or faults:
        raise StudyError(f"the point {label}", faults or [Fault("point", label, "is no point")])
    return workload


def _in_turn(
    number: int, first: tuple[Workload, str], second: tuple[Workload, str]
) -> tuple[tuple[Workload, str], tuple[Workload, str]]:
    return (first, second) if number % 2 else (second, first)


def _point(workload: Workload, label: str, number: int) -> Point:
    """Return a point with an ID of its own, because all pairs have the same parameters."""
    plain = parameters(workload)
    own = hashlib.sha256(f"{point_id(plain)} {number}".encode()).hexdigest()[:12]
    return Point(own, f"{label}, pair {number}", workload, plain)
