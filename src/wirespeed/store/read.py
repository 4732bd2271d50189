# SPDX-License-Identifier: Apache-2.0
"""Read a run from the store, by its id or as the latest."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, select
from sqlalchemy.exc import DBAPIError

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import AuditReport
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.explanation import Explanation
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.sut import SutDescription
from wirespeed.store.codec import decode
from wirespeed.store.errors import (
    RECOVER,
    UNREADABLE,
    Damaged,
    NoSuchRun,
    as_store_errors,
    damage,
)
from wirespeed.store.forms import decode_form
from wirespeed.store.records import (
    PointRecord,
    PointState,
    RunRecord,
    RunSummary,
    StoredTrial,
)
from wirespeed.store.results import decode_result
from wirespeed.store.series import PackedSeries
from wirespeed.store.store import Store
from wirespeed.store.stored_price import price_of_run
from wirespeed.store.survey import survey
from wirespeed.store.sut import describe_old_sut
from wirespeed.store.tables import POINTS, RUNS, SERIES, TRIALS
from wirespeed.store.trials import decode_trial
from wirespeed.store.workloads import decode_workload

LATEST = "latest"
_LOG = logging.getLogger(__name__)
T = TypeVar("T")


def list_runs(store: Store) -> tuple[RunSummary, ...]:
    """Return all runs that can be read, newest first."""
    return survey(store).runs


def read_run(store: Store, named: str, *, series: bool = False) -> RunRecord:
    """Return the run with that id or name, or the newest for "latest".

    series: also read the trials' series, which are most of a run's bytes. Raises NoSuchRun,
    Damaged.
    """
    run_id = run_id_of(store, named)
    with as_store_errors(store.url), intact(store.url, run_id), store.begin() as connection:
        run = connection.execute(select(RUNS).where(RUNS.c.id == run_id)).first()
        if run is not None:
            return _run(connection, run, series=series)
    raise _unknown(store, named)  # It was deleted meanwhile.


def run_id_of(store: Store, named: str) -> str:
    """Return the id of the run with that id or name, or of the newest for "latest".

    Raises NoSuchRun.
    """
    if named == LATEST:
        return _newest(store)
    with as_store_errors(store.url), intact(store.url, named), store.begin() as connection:
        for column in (RUNS.c.id, RUNS.c.name):
            found = connection.execute(select(RUNS.c.id).where(column == named)).scalar()
            if found is not None:
                return str(found)
    raise _unknown(store, named)


@contextmanager
def intact(url: str, run_id: str) -> Iterator[None]:
    """Turn read errors in the body into Damaged, which names the run."""
    try:
        yield
    except (DBAPIError, *UNREADABLE) as error:
        if (why := damage(error)) is None:
            raise
        raise Damaged(f"run {run_id} in store {url}: it is damaged: {why}", RECOVER) from error


def _newest(store: Store) -> str:
    found = survey(store)
    for run_id in found.damaged:
        _LOG.warning("wirespeed: run %s is damaged and cannot be the latest", run_id)
    if not found.runs:
        raise NoSuchRun(f"no run yet in {store.url}", "Measure one: `wirespeed run wire`.")
    return found.runs[0].id


def _unknown(store: Store, named: str) -> NoSuchRun:
    runs = list_runs(store)
    ids = [summary.id for summary in runs]
    names = [summary.name for summary in runs if summary.name is not None]
    near = difflib.get_close_matches(named, [*ids, *names], n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return NoSuchRun(
        f"run {named!r}: not among the {len(ids)} runs in {store.url}",
        f"{hint}`wirespeed runs` lists them, with the same --store.",
    )


def _run(connection: Connection, run: Row[Any], *, series: bool) -> RunRecord:
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
        price=price_of_run(connection, run.id),
    )


def _series(connection: Connection, run_id: str) -> dict[tuple[int, int, int], list[PackedSeries]]:
    """Return the packed series of each trial, by its ordinal, attempt and number."""
    by_trial: dict[tuple[int, int, int], list[PackedSeries]] = {}
    query = select(SERIES).where(SERIES.c.run_id == run_id).order_by(SERIES.c.name)
    for row in connection.execute(query).mappings():
        packed = PackedSeries(**{field.name: row[field.name] for field in fields(PackedSeries)})
        by_trial.setdefault((row["ordinal"], row["attempt"], row["number"]), []).append(packed)
    return by_trial


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
        result=_result(row.result, trials),
        trials=trials,
        sut=sut,
        explanations=_optional(tuple[Explanation, ...], row.explanations),
        key=row.point_id,
        repeat=design["repeat"],
        factors=tuple(design["factors"]),
    )


def _result(data: Any, trials: tuple[StoredTrial, ...]) -> SearchResult | None:
    return None if data is None else decode_result(data, (stored.trial for stored in trials))


def _optional(kind: type[T], data: Any) -> T | None:
    return None if data is None else decode(kind, data)
