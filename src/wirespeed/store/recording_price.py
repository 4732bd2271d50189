# SPDX-License-Identifier: Apache-2.0
"""Read what the price of a recording is made of."""

from __future__ import annotations

import numpy as np
from sqlalchemy import select

from wirespeed.store.chunk_codec import Integers, unpacked
from wirespeed.store.errors import UNREADABLE
from wirespeed.store.recordings import damaged
from wirespeed.store.store import Store
from wirespeed.store.tables import CHUNKS


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
