# SPDX-License-Identifier: Apache-2.0
"""Queue the measurements that need several hosts at once: who measures which, and which are done.

Every change is one transaction that also takes or checks the lease. A test is therefore completed
once, by the attempt that still held its hosts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, func, select, update
from sqlalchemy.dialects.postgresql import insert

from wirespeed.model.input.moment import utc_now
from wirespeed.store.leases import Lease, acquire, hold, release
from wirespeed.store.store import Store
from wirespeed.store.tables import PAIR_TESTS

# After this number of failed attempts, a test is left to a person.
MAX_ATTEMPTS = 5


class PairState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PairTest:
    """A test that needs several hosts."""

    name: str
    study: str
    """Name of a shipped study, or path of a study file."""
    lab: str
    """Text of its testbed file."""
    resources: tuple[str, ...]
    """Hosts, links and generators that it needs alone."""


@dataclass(frozen=True, slots=True)
class PairRecord:
    test: PairTest
    state: PairState
    attempts: int
    run_id: str | None
    error: str | None


def add_pairs(store: Store, tests: Iterable[PairTest]) -> int:
    """Queue tests; return the number of new ones. An existing name stays unchanged."""
    added = 0
    with store.transaction() as connection:
        for test in tests:
            row = {
                "name": test.name, "study": test.study, "lab": test.lab,
                "resources": list(test.resources), "state": PairState.PENDING, "attempts": 0,
                "token": 0,
            }  # fmt: skip
            # Not every driver knows the row count of an insert.
            new = insert(PAIR_TESTS).values(row).on_conflict_do_nothing()
            added += len(connection.execute(new.returning(PAIR_TESTS.c.name)).all())
    return added


def list_pairs(store: Store) -> tuple[PairRecord, ...]:
    """Return all tests, by name."""
    with store.transaction() as connection:
        rows = connection.execute(select(PAIR_TESTS).order_by(PAIR_TESTS.c.name)).all()
    return tuple(
        PairRecord(_test(row), PairState(row.state), row.attempts, row.run_id, row.error)
        for row in rows
    )


def claim(store: Store, holder: str, seconds: float) -> tuple[PairTest, Lease] | None:
    """Claim the next test whose resources are all free, with a lease on them; None without one.

    A test of a dead controller is free once its lease has expired.
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
            # A rollback frees the rows, which others may want meanwhile.
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
    """Record the run as the test's result, and free its hosts. Raises LeaseLost."""
    _settle(store, test, lease, state=PairState.COMPLETE, run_id=run_id, finished_at=utc_now())


def give_up(store: Store, test: PairTest, lease: Lease, error: str) -> None:
    """Record a failed attempt; others may try again up to the limit. Raises LeaseLost."""
    with store.transaction() as connection:
        attempts = connection.execute(
            select(PAIR_TESTS.c.attempts).where(PAIR_TESTS.c.name == test.name)
        ).scalar_one()
    state = PairState.FAILED if attempts >= MAX_ATTEMPTS else PairState.PENDING
    _settle(store, test, lease, state=state, error=error)


def try_again(store: Store, names: Sequence[str] = ()) -> int:
    """Queue failed tests again, all or those named; return their number."""
    where = PAIR_TESTS.c.state == PairState.FAILED
    if names:
        where &= PAIR_TESTS.c.name.in_(names)
    with store.transaction() as connection:
        done = connection.execute(
            update(PAIR_TESTS).where(where).values(state=PairState.PENDING, attempts=0)
        )
    return done.rowcount


def unsettled(store: Store) -> int:
    """Return the number of tests that any controller has still to measure."""
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
