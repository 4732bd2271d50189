# SPDX-License-Identifier: Apache-2.0
"""Check a whole store: SQLite's pages, every run, and rows whose run is gone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from stat import S_IMODE

from sqlalchemy import func, select

from wirespeed.store.errors import Damaged
from wirespeed.store.read import intact, read_run
from wirespeed.store.store import Store
from wirespeed.store.survey import survey
from wirespeed.store.tables import POINTS, RUNS, SERIES, TRIALS

_LINES = 20


@dataclass(frozen=True, slots=True)
class Health:
    """Result of a check."""

    runs: tuple[str, ...]
    """Ids of runs that can be read whole."""
    damaged: dict[str, str]
    """Reason why each other run cannot be read, by its id."""
    pages: tuple[str, ...]
    """Output of SQLite's integrity_check, at most 20 lines; empty without errors."""
    orphans: dict[str, int]
    """Number of rows of each table that belong to no run."""
    mode: int | None
    """Permissions of the file where users other than its owner have some."""

    @property
    def good(self) -> bool:
        """True if the check found nothing that loses results."""
        return not (self.damaged or self.pages or self.orphans)


def check(store: Store) -> Health:
    """Check the store; reads everything once. Raises StoreError where even ids are unreadable."""
    found = survey(store)
    damaged = dict(found.damaged)
    for summary in found.runs:
        try:
            read_whole(store, summary.id)
        except Damaged as fault:
            damaged[summary.id] = fault.what
    intact = tuple(run.id for run in found.runs if run.id not in damaged)
    return Health(intact, damaged, _pages(store), _orphans(store), _mode(store))


def read_whole(store: Store, run_id: str) -> None:
    """Read a run and unpack its series. Raises Damaged."""
    run = read_run(store, run_id, series=True)
    with intact(store.url, run_id):
        for packed in chain.from_iterable(t.packed for point in run.points for t in point.trials):
            packed.unpack()


def _pages(store: Store) -> tuple[str, ...]:
    if store.file is None:
        return ()
    try:
        with store.transaction() as connection:
            said = connection.exec_driver_sql(f"PRAGMA integrity_check({_LINES})").scalars().all()
    except Damaged as fault:
        return (fault.what,)
    return () if said == ["ok"] else tuple(line for text in said for line in text.splitlines())


def _orphans(store: Store) -> dict[str, int]:
    found: dict[str, int] = {}
    for table in (POINTS, TRIALS, SERIES):
        query = select(func.count()).where(table.c.run_id.not_in(select(RUNS.c.id)))
        try:
            with store.transaction() as connection:
                count = connection.execute(query).scalar_one()
        except Damaged:
            continue  # The check of the pages reports it.
        if count:
            found[table.name] = count
    return found


def _mode(store: Store) -> int | None:
    if store.file is None:
        return None
    mode = S_IMODE(store.file.stat().st_mode)
    return mode if mode & 0o077 else None
