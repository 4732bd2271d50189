# SPDX-License-Identifier: Apache-2.0
"""Store the snapshots of a fleet's hosts, and read the newest of each host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Row, func, insert, select
from sqlalchemy.exc import IntegrityError

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import AuditReport
from wirespeed.model.host.snapshot import HostSnapshot, Member
from wirespeed.store.codec import decode, encode
from wirespeed.store.errors import as_store_errors
from wirespeed.store.store import Store
from wirespeed.store.tables import SNAPSHOTS


def add_snapshot(store: Store, snapshot: HostSnapshot) -> bool:
    """Store a snapshot; return False where the store has it already. Raises StoreError."""
    row = {
        "name": snapshot.member.name,
        "collected_at": snapshot.collected_at,
        "address": snapshot.member.address,
        "site": snapshot.member.site,
        "hardware": snapshot.hardware,
        "versions": snapshot.versions,
        "facts": encode(snapshot.facts),
        "audit": None if snapshot.audit is None else encode(snapshot.audit),
    }
    with as_store_errors(store.url):
        try:
            with store.begin() as connection:
                connection.execute(insert(SNAPSHOTS).values(row))
        except IntegrityError:
            return False
    return True


def newest_snapshots(store: Store) -> Iterator[HostSnapshot]:
    """Yield the newest snapshot of each host, by name."""
    newest = (
        select(SNAPSHOTS.c.name, func.max(SNAPSHOTS.c.collected_at).label("at"))
        .group_by(SNAPSHOTS.c.name)
        .subquery()
    )
    query = (
        select(SNAPSHOTS)
        .join(
            newest,
            (SNAPSHOTS.c.name == newest.c.name) & (SNAPSHOTS.c.collected_at == newest.c.at),
        )
        .order_by(SNAPSHOTS.c.name)
    )
    with store.transaction() as connection:
        for row in connection.execute(query):
            yield _snapshot(row)


def _snapshot(row: Row[Any]) -> HostSnapshot:
    return HostSnapshot(
        member=Member(row.name, row.address, row.site),
        collected_at=row.collected_at,
        hardware=row.hardware,
        facts=decode(HostFacts, row.facts),
        audit=None if row.audit is None else decode(AuditReport, row.audit),
        versions=row.versions,
    )
