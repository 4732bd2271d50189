# SPDX-License-Identifier: Apache-2.0
"""Copy runs that another host measured into this store.

Points, trials and series are copied, under a number of this store. A run that was continued on the
host and is copied again replaces its older copy. The host's data is checked first: an unreadable
run would be damage in this store as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Table, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from wirespeed.model.errors import BadInput
from wirespeed.model.input.moment import moment_fault
from wirespeed.store.check import read_whole
from wirespeed.store.errors import UNREADABLE, StoreError, as_store_errors, damage
from wirespeed.store.foreign import FETCH_AGAIN, as_bad_input
from wirespeed.store.labels import NO_LABELS, labels_of
from wirespeed.store.records import SETTLED
from wirespeed.store.run_writer import RUN_ID_TRIES, next_number
from wirespeed.store.store import Store
from wirespeed.store.tables import IMPORTS, POINTS, RUNS, SERIES, TRIALS

# Rows in memory at once; a series has up to about 100 KB.
_ROWS = 100
# RunWriter's form of names, because a report's file is named after its run.
_RUN_ID = re.compile(r"(?=.{3,80}$)[A-Za-z0-9_.][A-Za-z0-9_.-]*-\d+")


def import_runs(store: Store, source: Store, host: str) -> int:
    """Copy every run of `source`, which `host` measured; return the number of new or longer ones.

    Each run is one transaction. Raises StoreError, or BadInput where `source` cannot be read or has
    a run that wirespeed would not write.
    """
    with _reading(source), source.begin() as connection:
        runs = connection.execute(select(RUNS).order_by(RUNS.c.started_at)).all()
    now = datetime.now(UTC)
    for run in runs:
        with _reading(source):
            _check(source, run, now)
    return sum(_import(store, source, run, host) for run in runs)


def _check(source: Store, run: Row[Any], now: datetime) -> None:
    """Check one run.

    Raises BadInput for values that this version would not write, Damaged for unreadable ones.
    """
    where = f"{source.url}: run {run.id[:80]!r}"
    if not _RUN_ID.fullmatch(run.id):
        raise BadInput(f"{where}: is no id of a run", FETCH_AGAIN)
    for text in (run.started_at, run.finished_at):
        if text is not None and (fault := moment_fault(text, now)) is not None:
            raise BadInput(f"{where}: {fault}", FETCH_AGAIN)
    read_whole(source, run.id)


def _import(store: Store, source: Store, run: Row[Any], host: str) -> bool:
    for _ in range(RUN_ID_TRIES):
        with as_store_errors(store.url), suppress(IntegrityError), store.begin() as here:
            return _copy(here, source, run, host)
    raise StoreError(
        f"store {store.url}: other processes keep taking the next number of {run.study!r}",
        "Run it again.",
    )


def _copy(here: Connection, source: Store, run: Row[Any], host: str) -> bool:
    query = select(func.count()).where(POINTS.c.run_id == run.id, POINTS.c.state.in_(SETTLED))
    with _reading(source), source.begin() as there:
        settled = there.execute(query).scalar_one()
    origin = (
        (IMPORTS.c.host == host)
        & (IMPORTS.c.source == run.id)
        & (IMPORTS.c.started_at == run.started_at)
    )
    known = here.execute(select(IMPORTS).where(origin)).first()
    if known is not None and known.settled == settled:
        return False
    if known is None:
        name = re.sub(r"-\d+$", "", run.id)
        run_id, labels = f"{name}-{next_number(here, name)}", NO_LABELS
    else:
        run_id = known.run_id
        labels = labels_of(here, run_id)
        here.execute(delete(IMPORTS).where(origin))
        for table, key in ((SERIES, SERIES.c.run_id), (TRIALS, TRIALS.c.run_id),
                           (POINTS, POINTS.c.run_id), (RUNS, RUNS.c.id)):  # fmt: skip
            here.execute(delete(table).where(key == run_id))
    here.execute(insert(RUNS).values({**run._mapping, "id": run_id, **labels}))
    for table in (POINTS, TRIALS, SERIES):
        for rows in _rows(source, table, run.id):
            here.execute(insert(table), [{**row._mapping, "run_id": run_id} for row in rows])
    here.execute(
        insert(IMPORTS).values(
            host=host, source=run.id, started_at=run.started_at, run_id=run_id, settled=settled
        )
    )
    return True


def _rows(source: Store, table: Table, run_id: str) -> Iterator[Sequence[Row[Any]]]:
    with _reading(source), source.begin() as there:
        yield from there.execute(select(table).where(table.c.run_id == run_id)).partitions(_ROWS)


@contextmanager
def _reading(source: Store) -> Iterator[None]:
    """Turn read errors into BadInput: the file is wrong, not this store."""
    try:
        with as_bad_input(source.url):
            yield
    except UNREADABLE as fault:
        raise BadInput(f"{source.url}: it is damaged: {damage(fault)}", FETCH_AGAIN) from fault
