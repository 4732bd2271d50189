# SPDX-License-Identifier: Apache-2.0
"""How is a run read from the store, by its id or as the latest?"""

from __future__ import annotations

import difflib
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, select

from wirespeed.model.explanation import Explanation
from wirespeed.model.facts import HostFacts
from wirespeed.model.finding import AuditReport
from wirespeed.model.plan import Plan
from wirespeed.model.sut import SutDescription
from wirespeed.store.codec import decode
from wirespeed.store.errors import NoSuchRun
from wirespeed.store.forms import decode_form
from wirespeed.store.records import (
    SETTLED,
    PointRecord,
    PointState,
    RunRecord,
    RunSummary,
    StoredTrial,
)
from wirespeed.store.results import decode_result
from wirespeed.store.series import PackedSeries
from wirespeed.store.store import Store
from wirespeed.store.sut import describe_old_sut
from wirespeed.store.tables import POINTS, RUNS, SERIES, TRIALS
from wirespeed.store.trials import decode_trial
from wirespeed.store.workloads import decode_workload

LATEST = "latest"
T = TypeVar("T")


def list_runs(store: Store) -> tuple[RunSummary, ...]:
    """All runs, newest first."""
    with store.transaction() as connection:
        states: dict[str, list[str]] = {}
        for run_id, state in connection.execute(select(POINTS.c.run_id, POINTS.c.state)):
            states.setdefault(run_id, []).append(state)
        runs = connection.execute(select(RUNS).order_by(RUNS.c.started_at.desc())).all()
    return tuple(
        RunSummary(
            run.id, run.study, run.title, run.host["host"], run.started_at,
            len(states.get(run.id, [])), sum(state in SETTLED for state in states.get(run.id, [])),
        )
        for run in runs
    )  # fmt: skip


def read_run(store: Store, named: str, *, series: bool = False) -> RunRecord:
    """The run with that id, or the newest for "latest". Raises NoSuchRun.

    series: also read the trials' series, which are most of a run's bytes.
    """
    with store.transaction() as connection:
        run = _find(connection, store.url, named)
        points = connection.execute(
            select(POINTS).where(POINTS.c.run_id == run.id).order_by(POINTS.c.ordinal)
        ).all()
        trials = connection.execute(
            select(TRIALS).where(TRIALS.c.run_id == run.id).order_by(TRIALS.c.number)
        ).all()
        packed = _series(connection, run.id) if series else {}
    by_attempt: dict[tuple[int, int], list[StoredTrial]] = {}
    for row in trials:
        found = tuple(packed.get((row.ordinal, row.attempt, row.number), ()))
        by_attempt.setdefault((row.ordinal, row.attempt), []).append(
            StoredTrial(row.ended_at, decode_trial(row.trial), found)
        )
    return RunRecord(
        id=run.id,
        study=run.study,
        title=run.title,
        description=run.description,
        resolved=run.resolved,
        command=tuple(run.command),
        versions=run.versions,
        host=decode(HostFacts, run.host),
        started_at=run.started_at,
        finished_at=run.finished_at,
        points=tuple(_point(p, tuple(by_attempt.get((p.ordinal, p.attempt), []))) for p in points),
        audits=_optional(tuple[AuditReport, ...], run.audits),
        form=decode_form(run.resolved),
    )


def _series(connection: Connection, run_id: str) -> dict[tuple[int, int, int], list[PackedSeries]]:
    """The packed series of each trial, by its ordinal, attempt and number."""
    by_trial: dict[tuple[int, int, int], list[PackedSeries]] = {}
    query = select(SERIES).where(SERIES.c.run_id == run_id).order_by(SERIES.c.name)
    for row in connection.execute(query).mappings():
        packed = PackedSeries(**{field.name: row[field.name] for field in fields(PackedSeries)})
        by_trial.setdefault((row["ordinal"], row["attempt"], row["number"]), []).append(packed)
    return by_trial


def _find(connection: Connection, url: str, named: str) -> Row[Any]:
    newest = select(RUNS).order_by(RUNS.c.started_at.desc(), RUNS.c.id.desc()).limit(1)
    query = newest if named == LATEST else select(RUNS).where(RUNS.c.id == named)
    run = connection.execute(query).first()
    if run is not None:
        return run
    if named == LATEST:
        raise NoSuchRun(f"no run yet in {url}", "Measure one: `wirespeed run wire`.")
    ids = list(connection.execute(select(RUNS.c.id)).scalars())
    near = difflib.get_close_matches(named, ids, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise NoSuchRun(
        f"run {named!r}: not among the {len(ids)} runs in {url}",
        f"{hint}`wirespeed runs` lists them.",
    )


def _point(row: Row[Any], trials: tuple[StoredTrial, ...]) -> PointRecord:
    plan = _optional(Plan, row.plan)
    sut = _optional(SutDescription, row.sut)
    if sut is None and plan is not None:
        sut = describe_old_sut(row.parameters, plan)
    design = row.design or {"id": row.point_id, "repeat": 1, "factors": []}
    return PointRecord(
        id=design["id"],
        label=row.label,
        workload=decode_workload(row.spec),
        parameters=row.parameters,
        state=PointState(row.state),
        started_at=row.started_at,
        finished_at=row.finished_at,
        error=row.error,
        plan=plan,
        bench=row.bench or {},
        result=None if row.result is None else decode_result(row.result),
        trials=trials,
        sut=sut,
        explanations=_optional(tuple[Explanation, ...], row.explanations),
        key=row.point_id,
        repeat=design["repeat"],
        factors=tuple(design["factors"]),
    )


def _optional(kind: type[T], data: Any) -> T | None:
    return None if data is None else decode(kind, data)
