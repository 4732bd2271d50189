# SPDX-License-Identifier: Apache-2.0
"""What is a stored run, with its points and trials?"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from wirespeed.model.design import StudyForm
from wirespeed.model.explanation import Explanation
from wirespeed.model.facts import HostFacts
from wirespeed.model.finding import AuditReport
from wirespeed.model.plan import Plan
from wirespeed.model.prediction import Prediction
from wirespeed.model.result import SearchResult
from wirespeed.model.series import Series
from wirespeed.model.spec import Frames, TcpStreams, Workload
from wirespeed.model.sut import SutDescription
from wirespeed.model.tcp import Tcp
from wirespeed.model.trial import Trial
from wirespeed.model.words import EMULATED
from wirespeed.store.series import PackedSeries


class PointState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    NOT_RUN = "not_run"


# Those of points that there is nothing left to do for.
SETTLED = (PointState.COMPLETE, PointState.NOT_RUN)


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
    """A point of a run. Only a complete point has a result; `trials` are its last attempt's.

    sut: None until the point began. explanations: what limits it, as it was told when the point
    was complete; None where it is not, and where an older version measured it.
    predicted: what was expected, where a report is asked to say; it is not stored.
    key, factors, repeat: see Point.
    """

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
    trials: tuple[StoredTrial, ...]
    sut: SutDescription | None = None
    explanations: tuple[Explanation, ...] | None = None
    predicted: Prediction | None = None
    key: str = ""
    factors: tuple[str, ...] = ()
    repeat: int = 1

    @property
    def caption(self) -> str:
        """The label, with what must be read beside every rate of the point."""
        return f"{self.label} ({EMULATED})" if self.emulated else self.label

    @property
    def emulated(self) -> bool:
        """Whether its rates say nothing about speed."""
        return self.result is not None and self.result.emulated is not None

    @property
    def has_vswitch(self) -> bool:
        """Whether its plan has one; no before there is a plan."""
        return self.plan is not None and any(host.vswitch for host in self.plan.hosts)

    @property
    def frames(self) -> Frames:
        """Of a point that offers frames."""
        if not isinstance(self.workload, Frames):
            raise TypeError(f"point {self.label} has TCP traffic, not frames")
        return self.workload

    @property
    def tcp(self) -> Tcp | None:
        """Of a point with TCP traffic."""
        return self.workload.tcp if isinstance(self.workload, TcpStreams) else None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run: what was asked for, on which host, with what, and what came out.

    audits: what the audit said of each host as the run began; None where an older version ran.
    form: how the study varies its factors, and whether this is its short form.
    """

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
    form: StudyForm = field(default_factory=StudyForm)

    @property
    def complete(self) -> bool:
        """Whether every point has a result, or a reason why this host cannot have one."""
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
