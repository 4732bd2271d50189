# SPDX-License-Identifier: Apache-2.0
"""Measure settings one after the other, each as a point of one stored run.

Points are added as a search asks for them. A run that was cut short goes on by replaying its
complete points in their order: the search asks for the same again until it asks for a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from wirespeed.experiment.turns import Rates
from wirespeed.model.errors import BadInput
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Workload
from wirespeed.model.study.study import Point, short_hash
from wirespeed.store.read import read_run
from wirespeed.store.records import PointRecord
from wirespeed.store.run_writer import RunWriter
from wirespeed.study.errors import StudyError
from wirespeed.study.expand import parameters, point_id, set_key
from wirespeed.study.interface import Rig, Watcher
from wirespeed.study.run import measure_point
from wirespeed.study.validate import validate_point
from wirespeed.tune.goal import Goal, values_of


@dataclass(frozen=True, slots=True)
class Setting:
    """Workload and host files of one measurement."""

    label: str
    workload: Workload
    factors: tuple[str, ...] = ()
    """Names of the factors that are at their other level."""
    host: Mapping[str, str] = field(default_factory=dict)
    """Files of the host to set for the measurement."""


def workload_with(base: Mapping[str, Any], sets: Mapping[str, Any], source: str) -> Workload:
    """Return the point with these keys. Raises StudyError with all that is wrong."""
    raw = deepcopy(dict(base))
    try:
        for key, value in sets.items():
            set_key(raw, key, value)
    except TypeError as error:
        raise StudyError(source, [Fault(str(error), "", "must be a table")]) from error
    workload, faults = validate_point(raw)
    if workload is None or faults:
        raise StudyError(source, faults)
    return workload


@dataclass(slots=True)
class Trials:
    """Measurements of one run, in order."""

    writer: RunWriter
    rig: Rig
    watcher: Watcher
    goal: Goal
    host_set: Callable[[Mapping[str, str]], AbstractContextManager[object]] = lambda _files: (
        nullcontext()
    )
    """Sets files of the host for a measurement, and puts them back."""
    _begun: list[PointRecord] = field(default_factory=list)
    _number: int = 0

    def replay(self) -> int:
        """Load what an interrupted run has measured; return the number of measurements."""
        self._begun = list(read_run(self.writer.store, self.writer.run_id).points)
        return sum(point.result is not None for point in self._begun)

    @property
    def next_number(self) -> int:
        """Number of the next measurement, from 1."""
        return self._number + 1

    @property
    def next_is_known(self) -> bool:
        """Return whether the next measurement is complete, and is replayed."""
        begun = self._begun[self._number :]
        return bool(begun) and begun[0].result is not None

    def measure(self, setting: Setting) -> Rates:
        """Return the values of the setting by CPU placement; empty where it has none."""
        self._number += 1
        plain = parameters(setting.workload)
        label = f"{self._number}: {setting.label}"
        own = short_hash(f"{point_id(plain)} {self._number} {sorted(setting.host.items())}")
        point = Point(own, label, setting.workload, plain, factors=setting.factors)
        if self._number > len(self._begun):
            self.writer.add_point(point)
        else:
            begun = self._begun[self._number - 1]
            if begun.key != own:
                raise BadInput(
                    f"run {self.writer.run_id}: measurement {self._number} was of {begun.label}",
                    "Start a new search without --resume.",
                )
            if begun.result is not None:
                return values_of(self.goal, begun.result)
        with self.host_set(setting.host):
            result = measure_point(point, self.writer, self.rig, self.watcher)
        return values_of(self.goal, result)
