# SPDX-License-Identifier: Apache-2.0
"""Read a part of a recording: packed chunks, and least and most for a picture of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, and_, func, or_, select

from wirespeed.store.chunk_codec import Integers, Reads, unpacked
from wirespeed.store.errors import UNREADABLE
from wirespeed.store.extremes import (
    Booleans,
    Extremes,
    before,
    bucket_starts,
    extremes,
    unpacked_extremes,
    whole_extremes,
)
from wirespeed.store.recordings import PACKED, damaged, reads_from
from wirespeed.store.store import Store
from wirespeed.store.tables import CHUNKS, EXTREMES, MARKS, RECORDED_SERIES, RECORDINGS

# Numbers that stay unpacked: 128 MiB.
_MOST_NUMBERS = 16 << 20
# A stored bucket may take as many pixels before the reads themselves are reduced.
_WIDEST_PIXELS = 2
# Rows of stored buckets that are read at once.
_FINE_ROWS = 64


@dataclass(frozen=True, slots=True)
class Head:
    """Index entry of a chunk, known without its reads."""

    source: str
    number: int
    epoch: str
    begin_ns: int
    end_ns: int
    reads: int
    columns: int


@dataclass(frozen=True, slots=True)
class PackedChunk:
    """A chunk as it is stored; chunk_codec.py unpacks it."""

    head: Head
    series: bytes
    moments: bytes
    took: bytes
    values: bytes


@dataclass(frozen=True, slots=True)
class Strip:
    """Least and most of a source over consecutive buckets in one epoch."""

    source: str
    epoch: str
    series: Integers
    """Number of each column's series."""
    found: Extremes


@dataclass(slots=True)
class RecordingRange:
    """Reads parts of one recording; several threads may call it. Its methods raise StoreError.

    Each query is a transaction of its own, so that a recorder never waits for a picture.
    """

    store: Store
    id: str
    _kept: OrderedDict[Head, Reads] = field(default_factory=OrderedDict)
    _numbers: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def state(self) -> tuple[int, int, bool]:
        """Return the numbers of series and marks, and whether the recording is finished."""
        counts = [
            select(func.count()).where(table.c.recording_id == self.id).scalar_subquery()
            for table in (RECORDED_SERIES, MARKS)
        ]
        query = select(*counts, RECORDINGS.c.finished_at).where(RECORDINGS.c.id == self.id)
        with self.store.transaction() as connection:
            row = connection.execute(query).one_or_none()
        return (0, 0, True) if row is None else (row[0], row[1], row[2] is not None)

    def ends(self) -> dict[str, int]:
        """Return the end of the last read of each source."""
        query = (
            select(CHUNKS.c.source, func.max(CHUNKS.c.end_ns))
            .where(CHUNKS.c.recording_id == self.id)
            .group_by(CHUNKS.c.source)
        )
        with self.store.transaction() as connection:
            return {row[0]: row[1] for row in connection.execute(query).all()}

    def octets(self) -> int:
        """Return the size of all packed chunks."""
        sums = (func.sum(func.length(each)) for each in PACKED)
        query = select(*sums).where(CHUNKS.c.recording_id == self.id)
        with self.store.transaction() as connection:
            return sum(int(each or 0) for each in connection.execute(query).one())

    def chunks(self, begin_ns: int, end_ns: int, source: str | None = None) -> list[PackedChunk]:
        """Return the chunks that overlap this time, and the one before it of each source."""
        with self.store.session() as connection:
            return self._packed(connection, self._heads(connection, begin_ns, end_ns, source))

    def after(self, ends: Mapping[str, int], limit: int) -> list[PackedChunk]:
        """Return chunks that end later than ends says of their source, oldest first."""
        chosen = [
            CHUNKS.c.source.notin_(list(ends)),
            *(and_(CHUNKS.c.source == name, CHUNKS.c.end_ns > end) for name, end in ends.items()),
        ]
        query = _heads_query(self.id).where(or_(*chosen)).order_by(None)
        query = query.order_by(CHUNKS.c.begin_ns, CHUNKS.c.source).limit(limit)
        with self.store.session() as connection:
            heads = [Head(*row) for row in connection.execute(query).all()]
            return self._packed(connection, heads)

    def strips(
        self, begin_ns: int, end_ns: int, pixels: int, counters: Booleans
    ) -> Iterator[Strip]:
        """Yield least and most in buckets of about a pixel. counters: by number of the series.

        Buckets of merged chunks are stored; shorter ones are made of the reads. A chunk before and
        one after this time belong to it: a counter's rate covers the time between two reads.
        Raises Damaged.
        """
        pixel_ns = max(1, (end_ns - begin_ns) // max(1, pixels))
        with self.store.session() as connection:
            heads = self._heads(connection, begin_ns, end_ns, None, following=True)
            stored = self._buckets(connection, heads)
            wholes = self._wholes(connection, heads, pixel_ns)
            connection.commit()
            earlier: Head | None = None
            fine: dict[Head, Any] = {}
            layouts: dict[bytes, Integers] = {}
            for place, head in enumerate(heads):
                if earlier is not None and earlier.source != head.source:
                    earlier = None
                wanted = max(1, -(-(head.end_ns - head.begin_ns) // pixel_ns))
                key = (head.source, head.number)
                try:
                    found: Strip | None = None
                    if key in wholes and wanted <= _WIDEST_PIXELS:
                        found = _whole(head, wholes[key], layouts)
                    elif wanted <= _WIDEST_PIXELS * stored.get(key, 0):
                        if head not in fine:
                            fine = self._fine(connection, heads[place : place + _FINE_ROWS])
                        # None where the recording was deleted.
                        found = _buckets_of(head, fine[head], wanted) if head in fine else None
                    elif head.end_ns >= begin_ns:
                        found = self._of_reads(connection, head, earlier, wanted, counters)
                except UNREADABLE as fault:
                    raise damaged(self.store, self.id, fault) from fault
                if found is not None:
                    yield found
                earlier = head

    def _of_reads(
        self,
        connection: Connection,
        head: Head,
        earlier: Head | None,
        wanted: int,
        counters: Booleans,
    ) -> Strip | None:
        """Return the buckets of a chunk; None where it was merged meanwhile."""
        reads = self._reads(connection, head, len(counters))
        if reads is None:
            return None
        prior = None if earlier is None else self._reads(connection, earlier, len(counters))
        starts = bucket_starts(len(reads.begin_ns), wanted)
        found = extremes(reads, before(reads, prior), counters[reads.series], starts)
        return Strip(head.source, head.epoch, reads.series, found)

    def _reads(self, connection: Connection, head: Head, known: int) -> Reads | None:
        with self._lock:
            if head in self._kept:
                self._kept.move_to_end(head)
                return self._kept[head]
        query = select(CHUNKS).where(*_is(CHUNKS, self.id, head), CHUNKS.c.reads == head.reads)
        row = connection.execute(query).one_or_none()
        connection.commit()
        if row is None:
            return None
        found = reads_from(row, known)
        with self._lock:
            if head not in self._kept:
                self._kept[head] = found
                self._numbers += found.values.size
            while self._numbers > _MOST_NUMBERS and len(self._kept) > 1:
                _, gone = self._kept.popitem(last=False)
                self._numbers -= gone.values.size
        return found

    def _fine(self, connection: Connection, heads: list[Head]) -> dict[Head, Any]:
        """Return the rows of the first head's source."""
        own = {head.number: head for head in heads if head.source == heads[0].source}
        query = select(EXTREMES).where(
            EXTREMES.c.recording_id == self.id,
            EXTREMES.c.source == heads[0].source,
            EXTREMES.c.number.in_(list(own)),
        )
        rows = connection.execute(query).all()
        connection.commit()
        return {own[row.number]: row for row in rows}

    def _heads(
        self,
        connection: Connection,
        begin_ns: int,
        end_ns: int,
        source: str | None,
        *,
        following: bool = False,
    ) -> list[Head]:
        """Return the chunks of a time by source and begin, and the one before of each source."""
        chosen = [CHUNKS.c.recording_id == self.id]
        if source is not None:
            chosen.append(CHUNKS.c.source == source)
        begin = CHUNKS.c.begin_ns
        beside: list[tuple[Any, Any]] = [(func.max(begin), begin < begin_ns)]
        if following:
            beside.append((func.min(begin), begin > end_ns))
        wanted = [and_(begin <= end_ns, CHUNKS.c.end_ns >= begin_ns)]
        for pick, where in beside:
            query = select(CHUNKS.c.source, pick).where(*chosen, where).group_by(CHUNKS.c.source)
            wanted += [
                and_(CHUNKS.c.source == name, begin == at)
                for name, at in connection.execute(query).all()
            ]
        query = _heads_query(self.id).where(*chosen, or_(*wanted))
        return [Head(*row) for row in connection.execute(query).all()]

    def _packed(self, connection: Connection, heads: list[Head]) -> list[PackedChunk]:
        columns = (CHUNKS.c.series, CHUNKS.c.moments, CHUNKS.c.took, CHUNKS.c["values"])
        found = []
        for head in heads:
            query = select(*columns).where(*_is(CHUNKS, self.id, head))
            row = connection.execute(query).one_or_none()
            if row is None:  # merged meanwhile; what follows would leave a gap
                break
            found.append(PackedChunk(head, *row))
        return found

    def _buckets(self, connection: Connection, heads: list[Head]) -> dict[tuple[str, int], int]:
        """Return the number of stored buckets by source and number."""
        if not heads:
            return {}
        columns = (EXTREMES.c.source, EXTREMES.c.number, EXTREMES.c.buckets)
        query = select(*columns).where(*_during(self.id, heads))
        return {
            (source, number): buckets for source, number, buckets in connection.execute(query).all()
        }

    def _wholes(
        self, connection: Connection, heads: list[Head], pixel_ns: int
    ) -> dict[tuple[str, int], Any]:
        """Return the rows of chunks that are one bucket in a picture of such pixels."""
        longest_ns = _WIDEST_PIXELS * pixel_ns
        short = [head for head in heads if head.end_ns - head.begin_ns <= longest_ns]
        if not short:
            return {}
        columns = (
            EXTREMES.c.source, EXTREMES.c.number, EXTREMES.c.columns, EXTREMES.c.series,
            EXTREMES.c.whole,
        )  # fmt: skip
        query = select(*columns).where(*_during(self.id, short))
        return {(row.source, row.number): row for row in connection.execute(query).all()}


def _during(recording_id: str, heads: list[Head]) -> tuple[Any, ...]:
    return (
        EXTREMES.c.recording_id == recording_id,
        EXTREMES.c.end_ns >= min(head.begin_ns for head in heads),
        EXTREMES.c.begin_ns <= max(head.end_ns for head in heads),
    )


def _buckets_of(head: Head, row: Any, wanted: int) -> Strip:
    series = unpacked(row.series, 1, row.columns).reshape(-1)
    edges = unpacked(row.edges, row.buckets + 1).reshape(-1)
    found = unpacked_extremes(row.fine, edges, row.columns).merged(wanted)
    return Strip(head.source, head.epoch, series, found)


def _whole(head: Head, row: Any, layouts: dict[bytes, Integers]) -> Strip:
    """Return the one bucket of a chunk. layouts: series that are unpacked; a day has few."""
    if row.series not in layouts:
        layouts[row.series] = unpacked(row.series, 1, row.columns).reshape(-1)
    series = layouts[row.series]
    edges = (head.begin_ns, max(head.end_ns, head.begin_ns + 1))
    return Strip(head.source, head.epoch, series, whole_extremes(row.whole, edges, row.columns))


def _heads_query(recording_id: str) -> Any:
    columns = (
        CHUNKS.c.source, CHUNKS.c.number, CHUNKS.c.epoch, CHUNKS.c.begin_ns, CHUNKS.c.end_ns,
        CHUNKS.c.reads, CHUNKS.c.columns,
    )  # fmt: skip
    return (
        select(*columns)
        .where(CHUNKS.c.recording_id == recording_id)
        .order_by(CHUNKS.c.source, CHUNKS.c.begin_ns, CHUNKS.c.number)
    )


def _is(table: Any, recording_id: str, head: Head) -> tuple[Any, ...]:
    return (
        table.c.recording_id == recording_id,
        table.c.source == head.source,
        table.c.number == head.number,
    )
