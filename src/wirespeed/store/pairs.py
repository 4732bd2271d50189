# SPDX-License-Identifier: Apache-2.0
"""Which measurements need several hosts at once, who measures which, and which are done?

Every change is one transaction that also takes or checks the lease, so that a test is complete
once, by the attempt that still held its hosts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, func, select, update
from sqlalchemy.dialects.postgresql import insert

from wirespeed.model.moment import utc_now
from wirespeed.store.leases import Lease, acquire, hold, release
from wirespeed.store.store import Store
from wirespeed.store.tables import PAIR_TESTS

# After so many attempts that failed, a test is left to a person.
MAX_ATTEMPTS = 5


class PairState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PairTest:
    """study: a shipped study's name or a file's path; lab: the text of its lab file. resources:
    the hosts, links and generators that it needs alone."""

    name: str
    study: str
    lab: str
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairRecord:
    test: PairTest
    state: PairState
    attempts: int
    run_id: str | None
    error: str | None


def add_pairs(store: Store, tests: Iterable[PairTest]) -> int:
    """Have them measured; returns how many are new. One of the same name stays as it is."""
    added = 0
    with store.transaction() as connection:
        for test in tests:
            row = {
                "name": test.name, "study": test.study, "lab": test.lab,
                "resources": list(test.resources), "state": PairState.PENDING, "attempts": 0,
                "token": 0,
            }  # fmt: skip
            # An insert's row count is not known to every driver.
            new = insert(PAIR_TESTS).values(row).on_conflict_do_nothing()
            added += len(connection.execute(new.returning(PAIR_TESTS.c.name)).all())
    return added


def list_pairs(store: Store) -> tuple[PairRecord, ...]:
    """All of them, by name."""
    with store.transaction() as connection:
        rows = connection.execute(select(PAIR_TESTS).order_by(PAIR_TESTS.c.name)).all()
    return tuple(
        PairRecord(_test(row), PairState(row.state), row.attempts, row.run_id, row.error)
        for row in rows
    )


def claim(store: Store, holder: str, seconds: float) -> tuple[PairTest, Lease] | None:
    """The next test of which every resource is free, and the lease on them; None where none is.

    A test that a dead controller was measuring is free once its lease has expired.
    """
    with store.transaction() as connection:
        query = (
            select(PAIR_TESTS)
            .where(PAIR_TESTS.c.state.in_((PairState.PENDING, PairState.RUNNING)))
            .order_by(PAIR_TESTS.c.attempts, PAIR_TESTS.c.name)
            .with_for_update(skip_locked=True)
        )
        for row in connection.execute(query).all():
            test = _test(row)
            # Rolled back, it frees the rows that others may want meanwhile.
            with connection.begin_nested() as attempt:
                lease = acquire(connection, test.resources, holder, seconds)
                if lease is None:
                    attempt.rollback()
                    continue
            connection.execute(
                update(PAIR_TESTS)
                .where(PAIR_TESTS.c.name == test.name)
                .values(
                    state=PairState.RUNNING, attempts=row.attempts + 1, token=lease.token,
                    error=None,
                )
            )  # fmt: skip
            return test, lease
    return None


def complete(store: Store, test: PairTest, lease: Lease, run_id: str) -> None:
    """The run is the test's result, and its hosts are free. Raises LeaseLost."""
    _settle(store, test, lease, state=PairState.COMPLETE, run_id=run_id, finished_at=utc_now())


def give_up(store: Store, test: PairTest, lease: Lease, error: str) -> None:
    """This attempt failed: somebody else may try, unless there were too many. Raises LeaseLost."""
    with store.transaction() as connection:
        attempts = connection.execute(
            select(PAIR_TESTS.c.attempts).where(PAIR_TESTS.c.name == test.name)
        ).scalar_one()
    state = PairState.FAILED if attempts >= MAX_ATTEMPTS else PairState.PENDING
    _settle(store, test, lease, state=state, error=error)


def try_again(store: Store, names: Sequence[str] = ()) -> int:
    """Have failed tests measured again, all or those named; returns how many."""
    where = PAIR_TESTS.c.state == PairState.FAILED
    if names:
        where &= PAIR_TESTS.c.name.in_(names)
    with store.transaction() as connection:
        done = connection.execute(
            update(PAIR_TESTS).where(where).values(state=PairState.PENDING, attempts=0)
        )
    return done.rowcount


def unsettled(store: Store) -> int:
    """How many are still to be measured, by us or by others."""
    query = select(func.count()).where(
        PAIR_TESTS.c.state.in_((PairState.PENDING, PairState.RUNNING))
    )
    with store.transaction() as connection:
        return int(connection.execute(query).scalar_one())


def _settle(store: Store, test: PairTest, lease: Lease, **values: Any) -> None:
    with store.transaction() as connection:
        hold(connection, lease)
        connection.execute(
            update(PAIR_TESTS)
            .where(PAIR_TESTS.c.name == test.name, PAIR_TESTS.c.token == lease.token)
            .values(**values)
        )
        release(connection, lease)


def _test(row: Row[Any]) -> PairTest:
    return PairTest(row.name, row.study, row.lab, tuple(row.resources))
