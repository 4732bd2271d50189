# SPDX-License-Identifier: Apache-2.0
"""Write a run to the store: each trial as it ends, each point when it is complete.

The result and the state of a point change in one transaction, so that an incomplete point is
measured again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import AuditReport
from wirespeed.model.input.moment import utc_now
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.explanation import Explanation
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.study import Point, Study
from wirespeed.model.study.sut import SutDescription
from wirespeed.store.codec import encode
from wirespeed.store.errors import StoreError, as_store_errors
from wirespeed.store.records import SETTLED, PointState
from wirespeed.store.results import decode_result
from wirespeed.store.series import pack
from wirespeed.store.store import Store
from wirespeed.store.tables import POINTS, RUNS, SERIES, TRIALS
from wirespeed.store.trials import encode_trial

# A try fails only when another process starts a run of the same study at the same moment.
RUN_ID_TRIES = 20


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a run."""

    command: Sequence[str]
    """Command line."""
    versions: Mapping[str, str]
    """Versions of the programs that it ran."""
    host: HostFacts
    """Host on which it ran."""
    audits: tuple[AuditReport, ...] = ()
    """Audit of that host."""


@dataclass(frozen=True, slots=True)
class RunWriter:
    """Writes one run. Every method is one transaction and raises StoreError. key: Point.key."""

    store: Store
    run_id: str

    @classmethod
    def start(cls, store: Store, study: Study, origin: Origin) -> RunWriter:
        """Create a run with all its points pending. Its id is the study's name and a number."""
        name = re.sub(r"[^A-Za-z0-9_.]+", "-", study.name).strip("-")[:64] or "study"
        for _ in range(RUN_ID_TRIES):
            with as_store_errors(store.url), suppress(IntegrityError), store.begin() as connection:
                run_id = f"{name}-{next_number(connection, name)}"
                connection.execute(insert(RUNS).values(_run_row(run_id, study, origin)))
                for ordinal, point in enumerate(study.points):
                    connection.execute(insert(POINTS).values(_point_row(run_id, ordinal, point)))
                return cls(store, run_id)
        raise StoreError(
            f"store {store.url}: other processes keep taking the next number of {name!r}",
            "Run it again.",
        )

    def add_point(self, point: Point) -> None:
        """Add a pending point to a run that chooses its points by what it has measured."""
        count = select(func.count()).where(POINTS.c.run_id == self.run_id)
        with self.store.transaction() as connection:
            ordinal = connection.execute(count).scalar_one()
            connection.execute(insert(POINTS).values(_point_row(self.run_id, ordinal, point)))

    def complete_points(self) -> frozenset[str]:
        """Return the keys of the points that need not be measured again."""
        query = select(POINTS.c.point_id).where(
            POINTS.c.run_id == self.run_id, POINTS.c.state == PointState.COMPLETE
        )
        with self.store.transaction() as connection:
            return frozenset(connection.execute(query).scalars())

    def placements(self) -> Mapping[str, tuple[PlacementKind, ...]]:
        """Return the CPU placements in the results of complete points, by the points' keys."""
        query = select(POINTS.c.point_id, POINTS.c.result).where(
            POINTS.c.run_id == self.run_id, POINTS.c.state == PointState.COMPLETE
        )
        with self.store.transaction() as connection:
            rows = connection.execute(query).all()
        return {row.point_id: decode_result(row.result).placements for row in rows}

    def begin_point(self, key: str, plan: Plan, sut: SutDescription) -> None:
        """Start a new attempt; trials of earlier attempts no longer count."""
        self._set(
            key,
            state=PointState.RUNNING,
            attempt=POINTS.c.attempt + 1,
            started_at=utc_now(),
            plan=encode(plan),
            sut=encode(sut),
            error=None,
        )

    def add_bench(self, key: str, bench: Mapping[str, object]) -> None:
        """Store the bench's versions, configuration and commands."""
        self._set(key, bench=encode(dict(bench)))

    def add_trial(self, key: str, trial: Trial) -> None:
        """Store a trial of the point's running attempt, and its series."""
        with self.store.transaction() as connection:
            point = connection.execute(
                select(POINTS.c.run_id, POINTS.c.ordinal, POINTS.c.attempt).where(
                    POINTS.c.run_id == self.run_id, POINTS.c.point_id == key
                )
            ).one()
            number = connection.execute(
                select(func.count()).where(
                    TRIALS.c.run_id == point.run_id,
                    TRIALS.c.ordinal == point.ordinal,
                    TRIALS.c.attempt == point.attempt,
                )
            ).scalar_one()
            where = {**point._mapping, "number": number}
            row = {"ended_at": utc_now(), "trial": encode_trial(trial)}
            connection.execute(insert(TRIALS).values({**where, **row}))
            if trial.series:
                packed = [{**where, **asdict(pack(series))} for series in trial.series]
                connection.execute(insert(SERIES), packed)

    def complete_point(
        self, key: str, result: SearchResult, explanations: Sequence[Explanation]
    ) -> None:
        """Store the result and its explanations; its trials are stored already."""
        self._set(
            key,
            state=PointState.COMPLETE,
            finished_at=utc_now(),
            result=encode(replace(result, trials=())),
            explanations=[encode(explanation) for explanation in explanations],
        )

    def fail_point(self, key: str, error: str) -> None:
        """Store the reason of a failed attempt; resume measures the point again."""
        self._set(key, state=PointState.FAILED, finished_at=utc_now(), error=error)

    def leave_out(self, key: str, why: str) -> None:
        """Store what the host lacks for the point."""
        self._set(key, state=PointState.NOT_RUN, finished_at=utc_now(), error=why)

    def discard_empty(self) -> bool:
        """Remove a run that has no trial and no settled point; return whether it was one."""
        has_trial = select(TRIALS.c.run_id).where(TRIALS.c.run_id == self.run_id).exists()
        settled = (POINTS.c.run_id == self.run_id) & POINTS.c.state.in_(SETTLED)
        has_point = select(POINTS.c.run_id).where(settled).exists()
        with self.store.transaction() as connection:
            if connection.execute(select(has_trial | has_point)).scalar_one():
                return False
            connection.execute(delete(POINTS).where(POINTS.c.run_id == self.run_id))
            connection.execute(delete(RUNS).where(RUNS.c.id == self.run_id))
        return True

    def finish(self) -> None:
        """Mark the run as finished: every point is complete or excluded."""
        with self.store.transaction() as connection:
            connection.execute(
                update(RUNS).where(RUNS.c.id == self.run_id).values(finished_at=utc_now())
            )

    def _set(self, key: str, **values: Any) -> None:
        where = (POINTS.c.run_id == self.run_id) & (POINTS.c.point_id == key)
        with self.store.transaction() as connection:
            connection.execute(update(POINTS).where(where).values(**values))


def next_number(connection: Connection, name: str) -> int:
    """Return the number of the next run of that name, such that no run is called by it."""
    ids = connection.execute(select(RUNS.c.id)).scalars().all()
    names = connection.execute(select(RUNS.c.name).where(RUNS.c.name.is_not(None))).scalars()
    matches = (re.fullmatch(re.escape(name) + r"-(\d+)", known) for known in (*ids, *names))
    return max((int(match.group(1)) for match in matches if match), default=0) + 1


def _run_row(run_id: str, study: Study, origin: Origin) -> dict[str, Any]:
    return {
        "id": run_id,
        "study": study.name[:64],
        "title": study.title,
        "description": study.description,
        "resolved": study.resolved,
        "command": list(origin.command),
        "versions": dict(origin.versions),
        "host": encode(origin.host),
        "audits": [encode(audit) for audit in origin.audits],
        "started_at": utc_now(),
    }


def _point_row(run_id: str, ordinal: int, point: Point) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "ordinal": ordinal,
        "point_id": point.key,
        "label": point.label,
        "spec": encode(point.workload),
        "parameters": point.parameters,
        "design": {
            "id": point.id,
            "repeat": point.repeat,
            "factors": list(point.factors),
        },
        "state": PointState.PENDING,
        "attempt": 0,
    }
