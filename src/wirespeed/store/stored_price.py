# SPDX-License-Identifier: Apache-2.0
"""Read the price of a recording that was stored with its run."""

from __future__ import annotations

from sqlalchemy import Connection, select

from wirespeed.model.result.recording import MarkKind
from wirespeed.store.tables import MARKS, RECORDINGS


def price_of_run(connection: Connection, run_id: str) -> tuple[str, ...]:
    """Return what the recording next to a run cost, in sentences; none where there is no price."""
    newest = (
        select(RECORDINGS.c.id)
        .where(RECORDINGS.c.run_id == run_id)
        .order_by(RECORDINGS.c.started_at.desc(), RECORDINGS.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    query = (
        select(MARKS.c.text)
        .where(MARKS.c.recording_id == newest, MARKS.c.kind == MarkKind.PRICE.value)
        .order_by(MARKS.c.number)
    )
    return tuple(connection.execute(query).scalars())
