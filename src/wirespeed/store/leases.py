# SPDX-License-Identifier: Apache-2.0
"""Who may use a host, a link or a generator? Leases in PostgreSQL, by the database's own clock.

A lease covers all its resources or none. It ends when it is given back, or when its time is up
because nobody renews it. Its token is higher than that of any lease before it on any of its
resources: a target that has seen a token refuses a lower one (remote/fence.py), so that a
controller that was held up for longer than its lease cannot change anything any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from wirespeed.model.errors import BadInput
from wirespeed.store.errors import StoreError
from wirespeed.store.store import Store
from wirespeed.store.tables import LEASES
from wirespeed.store.url import shown_url, store_url


class LeaseLost(StoreError):
    """The lease's time was up: somebody else may use its resources by now."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Resources that `holder` may use alone, and the token that targets are shown."""

    holder: str
    token: int
    resources: tuple[str, ...]


def acquire(
    connection: Connection, resources: Iterable[str], holder: str, seconds: float
) -> Lease | None:
    """All of them for that long, or None where one is taken. Waits for nobody.

    It holds once the connection's transaction is committed.
    """
    wanted = tuple(sorted(set(resources)))
    missing = insert(LEASES).values([{"resource": name, "token": 0} for name in wanted])
    connection.execute(missing.on_conflict_do_nothing())
    # clock_timestamp(), not now(): a transaction may have begun before another lease expired.
    free = (
        select(LEASES.c.resource, LEASES.c.token)
        .where(
            LEASES.c.resource.in_(wanted),
            LEASES.c.holder.is_(None) | (LEASES.c.expires_at <= func.clock_timestamp()),
        )
        .order_by(LEASES.c.resource)
        .with_for_update(skip_locked=True)
    )
    rows = connection.execute(free).all()
    if len(rows) < len(wanted):
        return None
    token = max(row.token for row in rows) + 1
    connection.execute(
        update(LEASES)
        .where(LEASES.c.resource.in_(wanted))
        .values(token=token, holder=holder, expires_at=_in(seconds))
    )
    return Lease(holder, token, wanted)


def renew(store: Store, lease: Lease, seconds: float) -> None:
    """Have it for that long from now on. Raises LeaseLost, StoreError."""
    with store.transaction() as connection:
        _check(
            lease,
            connection.execute(
                update(LEASES)
                .where(_mine(lease), LEASES.c.expires_at > func.clock_timestamp())
                .values(expires_at=_in(seconds))
            ).rowcount,
        )


def hold(connection: Connection, lease: Lease) -> None:
    """Keep the lease from expiring until the transaction ends. Raises LeaseLost."""
    rows = connection.execute(
        select(LEASES.c.resource)
        .where(_mine(lease), LEASES.c.expires_at > func.clock_timestamp())
        .with_for_update()
    ).all()
    _check(lease, len(rows))


def release(connection: Connection, lease: Lease) -> None:
    """Give it back; what somebody else has by now is left alone."""
    connection.execute(update(LEASES).where(_mine(lease)).values(holder=None, expires_at=None))


def check_can_lease(named: str | None) -> None:
    """Raises BadInput for a store that several controllers cannot share; it is not opened."""
    url = store_url(named)
    if url.get_backend_name() != "postgresql":
        raise BadInput(
            f"store {shown_url(url)}: leases need PostgreSQL, which several controllers can share",
            "Name one with --store postgresql://user@host/database.",
        )


def _mine(lease: Lease) -> ColumnElement[bool]:
    return (
        LEASES.c.resource.in_(lease.resources)
        & (LEASES.c.holder == lease.holder)
        & (LEASES.c.token == lease.token)
    )


def _in(seconds: float) -> ColumnElement[Any]:
    return func.clock_timestamp() + text(f"interval '{float(seconds):.3f} seconds'")


def _check(lease: Lease, rows: int) -> None:
    if rows < len(lease.resources):
        raise LeaseLost(
            f"lease {lease.token} of {lease.holder} on {', '.join(lease.resources)} has expired",
            "What it was for is measured again; nothing of this attempt counts.",
        )
