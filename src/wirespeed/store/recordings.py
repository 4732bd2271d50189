# SPDX-License-Identifier: Apache-2.0
"""List, read, mark and delete recordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, delete, func, select

from wirespeed.model.errors import BadInput
from wirespeed.model.input.moment import written
from wirespeed.model.result.recording import Mark, MarkKind, RecordedSeries, RecordingClock
from wirespeed.model.result.series import SeriesKind
from wirespeed.store.chunk_codec import Reads, unpacked
from wirespeed.store.errors import UNREADABLE, Damaged, StoreError
from wirespeed.store.recording_writer import add_marks
from wirespeed.store.store import Store
from wirespeed.store.tables import CHUNKS, EXTREMES, MARKS, RECORDED_SERIES, RECORDINGS

LATEST = "latest"
# Referring tables come before those that they refer to.
_OF_RECORDING = (MARKS, EXTREMES, CHUNKS, RECORDED_SERIES)


class NoSuchRecording(BadInput, StoreError):
    """Raised when the store has no recording of that id."""


PACKED = (CHUNKS.c.series, CHUNKS.c.moments, CHUNKS.c.took, CHUNKS.c["values"])
"""The packed columns of a chunk."""


@dataclass(frozen=True, slots=True)
class RecordingSummary:
    """A recording in a list."""

    id: str
    host: str
    run_id: str | None
    started_at: str
    finished_at: str | None
    """None while it is written, or where its recorder was killed."""
    rate_hz: float
    sparse: bool
    clock: RecordingClock
    series: int
    reads: int
    samples: int
    """Values; absent ones included."""
    octets: int
    """Size of the packed chunks, and of their least and most."""
    begin_ns: int
    end_ns: int
    """First begin and last end of a read by CLOCK_MONOTONIC; 0 where there is none."""


def list_recordings(store: Store) -> tuple[RecordingSummary, ...]:
    """Return all recordings, newest first. Raises StoreError."""
    query = select(RECORDINGS).order_by(RECORDINGS.c.started_at.desc(), RECORDINGS.c.id.desc())
    with store.transaction() as connection:
        rows = connection.execute(query).mappings().all()
        return tuple(_summary(store, connection, row) for row in rows)


def recording_of(store: Store, named: str = LATEST) -> RecordingSummary:
    """Return the recording of that id; "latest" is the newest. Raises NoSuchRecording."""
    found = _newest(store, () if named == LATEST else (RECORDINGS.c.id == named,))
    if found is None:
        raise _no_such(store, named)
    return found


def recording_of_run(store: Store, run_id: str) -> RecordingSummary | None:
    """Return the newest recording that was made next to a run. Raises StoreError."""
    return _newest(store, (RECORDINGS.c.run_id == run_id,))


def _newest(store: Store, chosen: Sequence[ColumnElement[bool]]) -> RecordingSummary | None:
    query = (
        select(RECORDINGS)
        .where(*chosen)
        .order_by(RECORDINGS.c.started_at.desc(), RECORDINGS.c.id.desc())
        .limit(1)
    )
    with store.transaction() as connection:
        row = connection.execute(query).mappings().one_or_none()
        return None if row is None else _summary(store, connection, row)


def series_of(store: Store, recording_id: str) -> tuple[RecordedSeries, ...]:
    """Return the series of a recording by their numbers. Raises Damaged, StoreError."""
    query = (
        select(RECORDED_SERIES)
        .where(RECORDED_SERIES.c.recording_id == recording_id)
        .order_by(RECORDED_SERIES.c.number)
    )
    with store.transaction() as connection:
        rows = connection.execute(query).all()
    try:
        if [row.number for row in rows] != list(range(len(rows))):
            raise ValueError("its series are not numbered from 0 on")
        return tuple(
            RecordedSeries(
                row.source, row.key, tuple((str(k), str(v)) for k, v in row.labels.items()),
                row.unit, SeriesKind(row.kind),
            )
            for row in rows
        )  # fmt: skip
    except UNREADABLE as fault:
        raise damaged(store, recording_id, fault) from fault


def marks_of(store: Store, recording_id: str) -> tuple[Mark, ...]:
    """Return the marks of a recording in the order of time. Raises Damaged, StoreError."""
    query = (
        select(MARKS)
        .where(MARKS.c.recording_id == recording_id)
        .order_by(MARKS.c.at_ns, MARKS.c.number)
    )
    with store.transaction() as connection:
        rows = connection.execute(query).all()
    try:
        return tuple(Mark(row.at_ns, MarkKind(row.kind), row.text) for row in rows)
    except UNREADABLE as fault:
        raise damaged(store, recording_id, fault) from fault


def sources_of(store: Store, recording_id: str) -> tuple[str, ...]:
    """Return the names of the sources of a recording. Raises StoreError."""
    query = (
        select(CHUNKS.c.source)
        .where(CHUNKS.c.recording_id == recording_id)
        .distinct()
        .order_by(CHUNKS.c.source)
    )
    with store.transaction() as connection:
        return tuple(connection.execute(query).scalars())


def reads_of(store: Store, recording_id: str, source: str) -> Iterator[Reads]:
    """Yield the reads of a source in the order of time, one chunk at a time. Raises Damaged."""
    chosen = (CHUNKS.c.recording_id == recording_id) & (CHUNKS.c.source == source)
    with store.transaction() as connection:
        numbers = connection.execute(
            select(CHUNKS.c.number).where(chosen).order_by(CHUNKS.c.begin_ns, CHUNKS.c.number)
        ).scalars().all()  # fmt: skip
    known = len(series_of(store, recording_id))
    for number in numbers:
        with store.transaction() as connection:
            row = connection.execute(
                select(CHUNKS).where(chosen, CHUNKS.c.number == number)
            ).one_or_none()
        if row is None:  # merged meanwhile
            continue
        try:
            yield reads_from(row, known)
        except UNREADABLE as fault:
            raise damaged(store, recording_id, fault) from fault


def mark(store: Store, recording_id: str, made: Mark) -> None:
    """Add a mark to a recording, also while it is written. Raises StoreError."""
    with store.transaction() as connection:
        add_marks(connection, recording_id, [made])


def delete_recording(store: Store, recording_id: str) -> None:
    """Delete a recording, its series, chunks and marks. Raises NoSuchRecording, StoreError."""
    with store.transaction() as connection:
        for table in _OF_RECORDING:
            connection.execute(delete(table).where(table.c.recording_id == recording_id))
        gone = connection.execute(delete(RECORDINGS).where(RECORDINGS.c.id == recording_id))
        if not gone.rowcount:
            raise _no_such(store, recording_id)


def _no_such(store: Store, named: str) -> NoSuchRecording:
    return NoSuchRecording(
        f"no recording in {store.url}"
        if named == LATEST
        else f"recording {named!r}: not in {store.url}",
        "`wirespeed kpi list` lists them, with the same --store; `wirespeed kpi record --for 10s` "
        "makes one.",
    )


def _summary(store: Store, connection: Connection, row: RowMapping) -> RecordingSummary:
    def total(column: ColumnElement[Any], table: Table = CHUNKS) -> int:
        query = select(column).where(table.c.recording_id == row["id"])
        return connection.execute(query).scalar_one() or 0

    series = select(func.count()).where(RECORDED_SERIES.c.recording_id == row["id"])
    octets = sum(total(func.sum(func.length(each))) for each in PACKED)
    also = (EXTREMES.c.series, EXTREMES.c.whole, EXTREMES.c.edges, EXTREMES.c.fine)
    octets += sum(total(func.sum(func.length(each)), EXTREMES) for each in also)
    columns = func.sum(CHUNKS.c.reads * CHUNKS.c.columns)
    try:
        return RecordingSummary(
            row["id"], row["host"], row["run_id"],
            written(datetime.fromisoformat(row["started_at"])), row["finished_at"],
            float(row["rate_hz"]), bool(row["sparse"]), _clock(**row["clock"]),
            connection.execute(series).scalar_one(), total(func.sum(CHUNKS.c.reads)),
            total(columns), octets, total(func.min(CHUNKS.c.begin_ns)),
            total(func.max(CHUNKS.c.end_ns)),
        )  # fmt: skip
    except UNREADABLE as fault:
        raise damaged(store, row["id"], fault) from fault


def _clock(boot: str, monotonic_ns: int, realtime_ns: int) -> RecordingClock:
    return RecordingClock(str(boot), int(monotonic_ns), int(realtime_ns))


def reads_from(row: Any, known: int) -> Reads:
    """Return the reads of a row of CHUNKS. known: number of the recording's series.

    Raises one of UNREADABLE.
    """
    series = unpacked(row.series, 1, row.columns).reshape(-1)
    if len(series) and not 0 <= series.min() <= series.max() < known:
        raise ValueError("a chunk has a series that is not in the list")
    moments, took = (unpacked(blob, row.reads).reshape(-1) for blob in (row.moments, row.took))
    values = unpacked(row._mapping["values"], row.reads, row.columns)
    return Reads(row.source, row.epoch, series, moments, took, values)


def damaged(store: Store, recording_id: str, fault: BaseException) -> Damaged:
    """Return the error for a recording that holds what no version wrote."""
    return Damaged(
        f"store {store.url}: recording {recording_id} is damaged: {str(fault)[:200]}",
        f"Remove it: `wirespeed kpi clean --recording {recording_id}`, with the same --store.",
    )
