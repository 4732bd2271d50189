# SPDX-License-Identifier: Apache-2.0
"""Write a recording: each second as it ends, and one chunk a minute in place of its seconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field

import numpy as np
from sqlalchemy import Connection, Table, and_, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from wirespeed.model.input.moment import utc_now
from wirespeed.model.result.recording import Chunk, Mark, RecordedSeries, RecordingClock
from wirespeed.model.result.series import SeriesKind
from wirespeed.store.chunk_codec import MAX_NUMBERS, Reads, as_reads, joined, packed
from wirespeed.store.errors import RecordingDeleted, StoreError, as_store_errors
from wirespeed.store.extremes import before, packed_extremes, stored_extremes, whole_octets
from wirespeed.store.run_writer import RUN_ID_TRIES
from wirespeed.store.store import Store
from wirespeed.store.tables import CHUNKS, EXTREMES, MARKS, RECORDED_SERIES, RECORDINGS

MERGED_NS = 60_000_000_000
PREFIX = "kpi-"
_KEY = ("recording_id", "source", "number")


@dataclass(slots=True)
class _Minute:
    """Stored chunks of a source that join each other and are not merged yet."""

    numbers: list[int]
    reads: list[Reads]

    def takes(self, now: Reads) -> bool:
        first = self.reads[0]
        numbers = sum(each.values.size for each in self.reads) + now.values.size
        near = now.begin_ns[0] - first.begin_ns[0] < MERGED_NS
        return first.joins(now) and bool(near) and numbers <= MAX_NUMBERS


@dataclass(slots=True)
class RecordingWriter:
    """Writes one recording. Every method raises StoreError, and may then be called again.

    After RecordingDeleted no call helps.
    """

    store: Store
    id: str
    _next: dict[str, int] = field(default_factory=dict)
    _minutes: dict[str, _Minute] = field(default_factory=dict)
    _ended: dict[str, Reads] = field(default_factory=dict)
    """Last read of each source's merged chunk."""
    _counters: list[bool] = field(default_factory=list)
    """True for the series that are counters, by number."""

    @classmethod
    def start(
        cls, store: Store, host: str, clock: RecordingClock, rate_hz: float, *,
        sparse: bool, run_id: str | None = None, started_at: str | None = None,
    ) -> RecordingWriter:  # fmt: skip
        """Create a recording, of now if started_at is None. Its id is PREFIX and a number."""
        for _ in range(RUN_ID_TRIES):
            with as_store_errors(store.url), suppress(IntegrityError), store.begin() as connection:
                recording_id = f"{PREFIX}{_next_number(connection)}"
                row = {
                    "id": recording_id, "host": host, "run_id": run_id,
                    "started_at": started_at or utc_now(), "rate_hz": rate_hz, "sparse": sparse,
                    "clock": asdict(clock),
                }  # fmt: skip
                connection.execute(insert(RECORDINGS).values(row))
                return cls(store, recording_id)
        raise StoreError(
            f"store {store.url}: other processes keep taking the next recording's number",
            "Run it again.",
        )

    def add(
        self, series: Sequence[RecordedSeries], chunks: Iterable[Chunk], marks: Sequence[Mark]
    ) -> None:
        """Store new series, chunks and marks in one transaction; then merge full minutes."""
        self.add_reads(series, [as_reads(chunk) for chunk in chunks], marks)

    def add_reads(
        self, series: Sequence[RecordedSeries], chunks: Iterable[Reads], marks: Sequence[Mark]
    ) -> None:
        """Store as `add` does."""
        known, numbers = len(self._counters), dict(self._next)
        numbered = []
        for chunk in chunks:
            number = numbers.get(chunk.source, 0)
            numbers[chunk.source] = number + 1
            numbered.append((number, chunk))
        with self.store.transaction() as connection:
            self._check_there(connection)
            _insert(connection, RECORDED_SERIES, [
                self._series_row(number, each) for number, each in enumerate(series, known)
            ])  # fmt: skip
            _insert(connection, CHUNKS, [self._row(number, each) for number, each in numbered])
            add_marks(connection, self.id, marks)
        self._counters += [each.kind is SeriesKind.COUNTER for each in series]
        self._next = numbers
        for number, reads in numbered:
            waiting = self._minutes.get(reads.source)
            if waiting is not None and waiting.takes(reads):
                waiting.numbers.append(number)
                waiting.reads.append(reads)
            else:
                # Seconds that cannot be merged stay as they are; they are stored already.
                with suppress(StoreError):
                    self._merge(waiting)
                self._minutes[reads.source] = _Minute([number], [reads])

    def finish(self) -> None:
        """Merge what is left, and mark the recording as finished."""
        for waiting in self._minutes.values():
            self._merge(waiting)
        self._minutes.clear()
        done = update(RECORDINGS).where(RECORDINGS.c.id == self.id).values(finished_at=utc_now())
        with self.store.transaction() as connection:
            connection.execute(done)

    def _check_there(self, connection: Connection) -> None:
        query = select(RECORDINGS.c.id).where(RECORDINGS.c.id == self.id)
        if connection.execute(query).one_or_none() is None:
            raise RecordingDeleted(
                f"recording {self.id}: it was deleted from {self.store.url} while it was written",
                "Start another one.",
            )

    def _merge(self, waiting: _Minute | None) -> None:
        if waiting is None:
            return
        whole = joined(waiting.reads)
        seconds = and_(
            CHUNKS.c.recording_id == self.id,
            CHUNKS.c.source == whole.source,
            CHUNKS.c.number.in_(waiting.numbers),
        )
        with self.store.transaction() as connection:
            if len(waiting.reads) > 1:
                connection.execute(delete(CHUNKS).where(seconds))
                _insert(connection, CHUNKS, [self._row(waiting.numbers[0], whole)])
            row = self._extremes_row(waiting.numbers[0], whole)
            same = [EXTREMES.c[name] == row[name] for name in _KEY]
            connection.execute(delete(EXTREMES).where(*same))
            _insert(connection, EXTREMES, [row])
        self._ended[whole.source] = whole.last()

    def _extremes_row(self, number: int, reads: Reads) -> dict[str, object]:
        earlier = self._ended.get(reads.source)
        counters = np.array(self._counters, dtype=np.bool_)[reads.series]
        found = stored_extremes(reads, before(reads, earlier), counters)
        return {
            "recording_id": self.id, "source": reads.source, "number": number,
            "begin_ns": int(reads.begin_ns[0]), "end_ns": reads.end_ns,
            "buckets": len(found.least), "columns": len(reads.series),
            "series": packed(reads.series[np.newaxis]), "whole": whole_octets(found),
            "edges": packed(found.edges_ns), "fine": packed_extremes(found),
        }  # fmt: skip

    def _row(self, number: int, reads: Reads) -> dict[str, object]:
        return {
            "recording_id": self.id, "source": reads.source, "number": number,
            "epoch": reads.epoch, "begin_ns": int(reads.begin_ns[0]), "end_ns": reads.end_ns,
            "reads": len(reads.begin_ns), "columns": len(reads.series),
            "series": packed(reads.series[np.newaxis]),
            "moments": packed(reads.begin_ns), "took": packed(reads.took_ns),
            "values": packed(reads.values),
        }  # fmt: skip

    def _series_row(self, number: int, series: RecordedSeries) -> dict[str, object]:
        return {
            "recording_id": self.id, "number": number, "source": series.source, "key": series.key,
            "labels": dict(series.labels), "unit": series.unit, "kind": series.kind.value,
        }  # fmt: skip


def add_marks(connection: Connection, recording_id: str, marks: Sequence[Mark]) -> None:
    """Add marks to a recording, whichever process writes it."""
    highest = select(func.max(MARKS.c.number)).where(MARKS.c.recording_id == recording_id)
    first = (connection.execute(highest).scalar_one() or 0) + 1
    _insert(connection, MARKS, [
        {"recording_id": recording_id, "number": number, "at_ns": mark.at_ns,
         "kind": mark.kind.value, "text": mark.text}
        for number, mark in enumerate(marks, first)
    ])  # fmt: skip


def _insert(connection: Connection, table: Table, rows: Sequence[dict[str, object]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _next_number(connection: Connection) -> int:
    ids = connection.execute(select(RECORDINGS.c.id)).scalars()
    return max((int(number) for each in ids if (number := each.removeprefix(PREFIX)).isdigit()),
               default=0) + 1  # fmt: skip
