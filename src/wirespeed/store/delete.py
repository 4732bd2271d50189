# SPDX-License-Identifier: Apache-2.0
"""Delete a run with all its rows."""

from __future__ import annotations

from sqlalchemy import delete, func, select

from wirespeed.store.errors import NoSuchRun
from wirespeed.store.in_use import held
from wirespeed.store.store import Store
from wirespeed.store.tables import IMPORTS, PAIR_TESTS, POINTS, RUNS, SERIES, TRIALS

# Referring tables come before those that they refer to.
_OF_RUN = {
    "series": SERIES.c.run_id,
    "trials": TRIALS.c.run_id,
    "points": POINTS.c.run_id,
    "imports": IMPORTS.c.run_id,
    "pair tests": PAIR_TESTS.c.run_id,
    "runs": RUNS.c.id,
}


def belongings(store: Store, run_id: str) -> dict[str, int]:
    """Count the rows of each kind that a run has. Raises NoSuchRun."""
    with store.transaction() as connection:
        found = {
            name: connection.execute(
                select(func.count()).select_from(column.table).where(column == run_id)
            ).scalar_one()
            for name, column in _OF_RUN.items()
        }
    if not found["runs"]:
        raise NoSuchRun(
            f"run {run_id!r}: not in {store.url}",
            "`wirespeed runs` lists them, with the same --store.",
        )
    return found


def delete_run(store: Store, run_id: str) -> None:
    """Delete the run, its points, trials and series, its import and its pair test.

    Leases stay, because their tokens must not decrease. Raises NoSuchRun, RunInUse where a process
    measures it, StoreError.
    """
    belongings(store, run_id)
    with held(store, run_id), store.transaction() as connection:
        for column in _OF_RUN.values():
            connection.execute(delete(column.table).where(column == run_id))
