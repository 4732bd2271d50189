# SPDX-License-Identifier: Apache-2.0
"""Represent a stored run, with its points and trials."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import AuditReport
from wirespeed.model.plan.plan import Plan
from wirespeed.model.plan.prediction import Prediction
from wirespeed.model.result.explanation import Explanation
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.series import Series
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.design import StudyForm
from wirespeed.model.study.spec import Frames, Workload
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.words import EMULATED
from wirespeed.store.series import PackedSeries


class PointState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    NOT_RUN = "not_run"


# States of points that need no further work.
SETTLED = (PointState.COMPLETE, PointState.NOT_RUN)


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """A stored trial."""

    ended_at: str
    """When it ended (ISO 8601, UTC)."""
    trial: Trial
    packed: tuple[PackedSeries, ...] = ()
    """Empty unless it was requested."""

    @property
    def series(self) -> tuple[Series, ...]:
        """Counts and samples over time, unpacked at each call."""
        return tuple(series.unpack() for series in self.packed)


@dataclass(frozen=True, slots=True)
class PointRecord:
    """A point of a run."""

    id: str
    label: str
    workload: Workload
    parameters: dict[str, Any]
    state: PointState
    started_at: str | None
    finished_at: str | None
    error: str | None
    plan: Plan | None
    bench: dict[str, Any]
    result: SearchResult | None
    """None unless the point is complete."""
    trials: tuple[StoredTrial, ...]
    """Trials of its last attempt."""
    sut: SutDescription | None = None
    """None until the point began."""
    explanations: tuple[Explanation, ...] | None = None
    """Limits of the point; None where it is incomplete, or an older version measured it."""
    predicted: Prediction | None = None
    """Expected rate, for a report that shows it; not stored."""
    key: str = ""
    """See Point, also for `factors` and `repeat`."""
    factors: tuple[str, ...] = ()
    repeat: int = 1

    @property
    def caption(self) -> str:
        """Label, with the remark that must stand next to every rate of the point."""
        return f"{self.label} ({EMULATED})" if self.emulated else self.label

    @property
    def emulated(self) -> bool:
        """True if its rates do not show the speed of hardware."""
        return self.result is not None and self.result.emulated is not None

    @property
    def has_vswitch(self) -> bool:
        """True if its plan has a vSwitch; False before there is a plan."""
        return self.plan is not None and any(host.vswitch for host in self.plan.hosts)

    @property
    def frames(self) -> Frames:
        """Workload of a point that offers frames. Raises TypeError for another workload."""
        if (frames := self.workload.frames) is None:
            raise TypeError(f"point {self.label} has {self.workload.subject}, not frames")
        return frames

    @property
    def offers_frames(self) -> bool:
        return self.workload.frames is not None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run: the request, the host and software, and the results."""

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
    audits: tuple[AuditReport, ...] | None = None
    """Audit of each host at the start of the run; None where an older version ran."""
    form: StudyForm = field(default_factory=StudyForm)
    """Design of the study's factors, with the mark of its short form."""
    price: tuple[str, ...] = ()
    """Cost of the recording next to the run, in sentences; empty where there was none."""

    @property
    def complete(self) -> bool:
        """True if every point has a result, or a reason why this host cannot have one."""
        return all(point.state in SETTLED for point in self.points)


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
    name: str | None = None
    tags: tuple[str, ...] = ()
    note: str | None = None
