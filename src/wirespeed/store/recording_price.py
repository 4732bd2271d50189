# SPDX-License-Identifier: Apache-2.0
"""Read what the price of a recording is made of, and the price that was stored."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, select

from wirespeed.model.result.recording import MarkKind
from wirespeed.store.chunk_codec import Integers, unpacked
from wirespeed.store.errors import UNREADABLE
from wirespeed.store.recordings import damaged
from wirespeed.store.store import Store
from wirespeed.store.tables import CHUNKS, MARKS, RECORDINGS


def read_times(store: Store, recording_id: str) -> dict[str, tuple[Integers, Integers]]:
    """Return begin and duration of every read in ns, by source, in the order of time.

    Raises Damaged, StoreError.
    """
    query = (
        select(CHUNKS.c.source, CHUNKS.c.reads, CHUNKS.c.moments, CHUNKS.c.took)
        .where(CHUNKS.c.recording_id == recording_id)
        .order_by(CHUNKS.c.source, CHUNKS.c.begin_ns)
    )
    parts: dict[str, list[tuple[Integers, Integers]]] = {}
    with store.transaction() as connection:
        rows = connection.execute(query).all()
    try:
        for source, reads, moments, took in rows:
            begins, durations = (unpacked(blob, reads).reshape(-1) for blob in (moments, took))
            parts.setdefault(source, []).append((begins, durations))
    except UNREADABLE as fault:
        raise damaged(store, recording_id, fault) from fault
    return {
        source: (np.concatenate([a for a, _ in own]), np.concatenate([b for _, b in own]))
        for source, own in parts.items()
    }


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
