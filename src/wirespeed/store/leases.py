# SPDX-License-Identifier: Apache-2.0
"""Lease hosts, links and generators with PostgreSQL, by the database's own clock.

A lease covers all its resources or none. It ends when it is released, or when it expires because
its holder does not renew it. Its token is higher than that of any earlier lease on any of its
resources. A host rejects a token lower than one that it has seen (remote/fence.py). So a controller
that was delayed past its lease can change nothing.
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
    """Raised when the lease has expired: another holder may use its resources by now."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Resources that `holder` may use alone, and the token for their hosts."""

    holder: str
    token: int
    resources: tuple[str, ...]


def acquire(
    connection: Connection, resources: Iterable[str], holder: str, seconds: float
) -> Lease | None:
    """Lease all resources for that time; None where one is taken. Does not wait.

    The lease holds once the connection's transaction is committed.
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
    """Extend the lease to that time from now. Raises LeaseLost, StoreError."""
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
    """Release the lease; resources that have another holder by now are left alone."""
    connection.execute(update(LEASES).where(_mine(lease)).values(holder=None, expires_at=None))


def check_can_lease(named: str | None) -> None:
    """Raise BadInput for a store that several controllers cannot share; it is not opened."""
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
