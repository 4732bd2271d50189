# SPDX-License-Identifier: Apache-2.0
"""List the runs of a store, also of a store with damaged runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select
from sqlalchemy.exc import DBAPIError

from wirespeed.store.errors import UNREADABLE, as_store_errors, damage
from wirespeed.store.records import SETTLED, RunSummary
from wirespeed.store.store import Store
from wirespeed.store.tables import POINTS, RUNS

# By the index of the ids and by the table itself: damage to one leaves the other readable.
_IDS = (
    "SELECT CAST(id AS BLOB) FROM runs INDEXED BY sqlite_autoindex_runs_1",
    "SELECT CAST(id AS BLOB) FROM runs NOT INDEXED",
)


@dataclass(frozen=True, slots=True)
class Survey:
    """Runs of a store."""

    runs: tuple[RunSummary, ...]
    """Readable runs, newest first."""
    damaged: dict[str, str] = field(default_factory=dict)
    """Reason why each other run cannot be read, by its id."""


def survey(store: Store) -> Survey:
    """Return the runs that can be listed. Raises StoreError where none can."""
    try:
        with store.begin() as connection:
            return Survey(tuple(map(_summary, connection.execute(_query()).all())))
    except DBAPIError as error:
        with as_store_errors(store.url):
            if damage(error) is None:
                raise
            return _one_by_one(store)


def _one_by_one(store: Store) -> Survey:
    runs: list[RunSummary] = []
    damaged: dict[str, str] = {}
    for run_id in _ids(store):
        try:
            with store.begin() as connection:
                row = connection.execute(_query().where(RUNS.c.id == run_id)).one_or_none()
        except (DBAPIError, *UNREADABLE) as error:
            if (why := damage(error)) is None:
                raise
            damaged[run_id] = why
            continue
        if row is None:
            damaged[run_id] = "its id is damaged"
        else:
            runs.append(_summary(row))
    runs.sort(key=lambda run: (run.started_at, run.id), reverse=True)
    return Survey(tuple(runs), damaged)


def _ids(store: Store) -> list[str]:
    """Return every id that an SQLite file still has. Raises DBAPIError where there is none."""
    found: dict[str, None] = {}
    last: DBAPIError | None = None
    for query in _IDS:
        try:
            with store.begin() as connection:
                for run_id in _texts(connection, query):
                    found[run_id] = None
        except DBAPIError as error:
            last = error
    if last is not None and not found:
        raise last
    return list(found)


def _texts(connection: Connection, query: str) -> Iterator[str]:
    for (octets,) in connection.exec_driver_sql(query):
        yield bytes(octets or b"").decode(errors="backslashreplace")


def _query() -> Select[Any]:
    """Select the columns of `wirespeed runs` only, since the rest of a run may be large."""
    of_run = select(func.count()).where(POINTS.c.run_id == RUNS.c.id)
    return select(
        RUNS.c.id,
        RUNS.c.study,
        RUNS.c.title,
        RUNS.c.host["host"].as_string().label("host"),
        RUNS.c.started_at,
        RUNS.c.name,
        RUNS.c.tags,
        RUNS.c.note,
        of_run.scalar_subquery().label("points"),
        of_run.where(POINTS.c.state.in_(SETTLED)).scalar_subquery().label("complete"),
    ).order_by(RUNS.c.started_at.desc(), RUNS.c.id.desc())


def _summary(row: Row[Any]) -> RunSummary:
    return RunSummary(
        row.id, row.study, row.title, row.host, row.started_at, row.points, row.complete,
        row.name, tuple(row.tags or ()), row.note,
    )  # fmt: skip
