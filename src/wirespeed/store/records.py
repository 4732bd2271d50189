# SPDX-License-Identifier: Apache-2.0
"""What does the store hand out: a run with its points and trials, as they were measured?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wirespeed.model.facts import HostFacts
from wirespeed.model.plan import Plan
from wirespeed.model.result import SearchResult
from wirespeed.model.series import Series
from wirespeed.model.spec import PointSpec
from wirespeed.model.trial import Trial
from wirespeed.store.series import PackedSeries


class PointState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """A trial and when it ended (ISO 8601, UTC). `packed` is empty unless it was asked for."""

    ended_at: str
    trial: Trial
    packed: tuple[PackedSeries, ...] = ()

    @property
    def series(self) -> tuple[Series, ...]:
        """What was counted and sampled over time, unpacked each time."""
        return tuple(series.unpack() for series in self.packed)


@dataclass(frozen=True, slots=True)
class PointRecord:
    """A point of a run. Only a complete point has a result; `trials` are its last attempt's."""

    id: str
    label: str
    spec: PointSpec
    parameters: dict[str, Any]
    state: PointState
    started_at: str | None
    finished_at: str | None
    error: str | None
    plan: Plan | None
    bench: dict[str, Any]
    result: SearchResult | None
    trials: tuple[StoredTrial, ...]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run: what was asked for, on which host, with what, and what came out."""

    id: str
    study: str
    title: str
    description: str
    resolved: dict[str, Any]
    command: tuple[str, ...]
    versions: dict[str, str]
    host: HostFacts
    started_at: str
    finished_at: str | None
    points: tuple[PointRecord, ...]

    @property
    def complete(self) -> bool:
        return all(point.state is PointState.COMPLETE for point in self.points)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of `wirespeed runs`."""

    id: str
    study: str
    title: str
    host: str
    started_at: str
    points: int
    complete: int
