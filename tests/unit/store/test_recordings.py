# SPDX-License-Identifier: Apache-2.0
"""Check what recordings keep: all samples, also merged ones and those of a killed recorder."""

from __future__ import annotations

import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from wirespeed.model.result.recording import (
    Chunk,
    Mark,
    MarkKind,
    RecordedSeries,
    RecordingClock,
)
from wirespeed.model.result.series import SeriesKind
from wirespeed.store import recording_queue, recordings
from wirespeed.store.errors import Damaged, StoreError
from wirespeed.store.recording_queue import Batch, RecordingQueue
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.store import Store

CLOCK = RecordingClock("boot", 1000, 5_000_000_000_000_000_000)
SERIES = [
    RecordedSeries("cpu", "cpu_user_seconds", (("cpu", str(n)),), "ns", SeriesKind.COUNTER)
    for n in range(3)
]
S = 1_000_000_000


def started(store: Store) -> RecordingWriter:
    return RecordingWriter.start(store, "host", CLOCK, 10.0, sparse=False)


def second(number: int, epoch: str = "boot") -> Chunk:
    begins = tuple(number * S + read * S // 10 for read in range(10))
    rows = tuple(tuple(begin * (series + 1) for series in range(3)) for begin in begins)
    return Chunk("cpu", epoch, (0, 1, 2), begins, (70,) * 10, rows)


def samples(store: Store, recording_id: str) -> list[tuple[str, int, tuple[int, ...]]]:
    return [
        (reads.epoch, begin, tuple(row))
        for reads in recordings.reads_of(store, recording_id, "cpu")
        for begin, row in zip(reads.begin_ns.tolist(), reads.values.tolist(), strict=True)
    ]


def expected(chunks: Sequence[Chunk]) -> list[tuple[str, int, tuple[int, ...]]]:
    return [
        (each.epoch, begin, row)
        for each in chunks
        for begin, row in zip(each.begin_ns, each.values, strict=True)
    ]


def test_recording_is_read_back_equal_and_a_minute_is_one_chunk(store_name: str) -> None:
    chunks = [*(second(n) for n in range(125)), *(second(n, "again") for n in range(125, 130))]
    mark = Mark(7, MarkKind.USER, "changed txqs")
    with Store(store_name) as store:
        writer = started(store)
        writer.add(SERIES, chunks[:1], [mark])
        for chunk in chunks[1:]:
            writer.add([], [chunk], [])
        assert samples(store, writer.id) == expected(chunks)
        writer.finish()
        assert samples(store, writer.id) == expected(chunks)
        assert recordings.series_of(store, writer.id) == tuple(SERIES)
        assert recordings.marks_of(store, writer.id) == (mark,)
        found = recordings.recording_of(store, writer.id)
        with store.transaction() as connection:
            rows = connection.execute(
                text("SELECT count(*) FROM chunks WHERE recording_id = :id"), {"id": writer.id}
            ).scalar_one()
        recordings.delete_recording(store, writer.id)
    assert rows == 4
    assert (found.series, found.reads, found.samples) == (3, 1300, 3900)
    assert found.finished_at is not None


def test_killed_recorder_leaves_all_seconds_that_it_had_stored(store_name: str) -> None:
    with Store(store_name) as store:
        writer = started(store)
        writer.add(SERIES, [second(n) for n in range(3)], [])
    with Store(store_name) as store:
        assert samples(store, writer.id) == expected([second(n) for n in range(3)])
        assert recordings.recording_of(store, writer.id).finished_at is None
        recordings.delete_recording(store, writer.id)


def test_damaged_chunk_is_named_and_deleted_by_the_hint(tmp_path: Path) -> None:
    with Store(str(tmp_path / "s.sqlite")) as store:
        writer = started(store)
        writer.add(SERIES, [second(0)], [])
        with store.transaction() as connection:
            connection.execute(text("UPDATE chunks SET series = moments"))
        with pytest.raises(Damaged, match=f"recording {writer.id} is damaged"):
            samples(store, writer.id)


def test_unknown_recording_is_refused(tmp_path: Path) -> None:
    with (
        Store(str(tmp_path / "s.sqlite")) as store,
        pytest.raises(recordings.NoSuchRecording, match="'kpi-7': not in"),
    ):
        recordings.recording_of(store, "kpi-7")


class Away:
    """A writer whose store is away until `back` is set."""

    def __init__(self, writer: RecordingWriter) -> None:
        self.store, self._writer = writer.store, writer
        self.back, self.tried = threading.Event(), threading.Event()

    def add(self, *what: Sequence[object]) -> None:
        if not self.back.is_set():
            self.tried.set()
            raise StoreError("store x: the disk is full")
        self._writer.add(*what)  # type: ignore[arg-type]


@contextmanager
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Store, Away, str]]:
    monkeypatch.setattr(recording_queue, "_RETRY_S", 0.01)
    with Store(str(tmp_path / "s.sqlite")) as store:
        writer = started(store)
        yield store, Away(writer), writer.id


def test_queue_keeps_reads_while_the_store_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with away(tmp_path, monkeypatch) as (store, writer, recording_id):
        queue = RecordingQueue(writer, said.append)  # type: ignore[arg-type]
        queue.start()
        queue.put(SERIES, [second(0)], [])
        assert writer.tried.wait(30)
        queue.put([], [second(1)], [])
        writer.back.set()
        assert queue.end(30)
        assert samples(store, recording_id) == expected([second(0), second(1)])
    assert len(said) == 2
    assert said[0].startswith("store x: the disk is full; reads wait in memory")


def test_batch_beyond_its_bound_drops_the_oldest_and_marks_the_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recording_queue, "_MOST_NUMBERS", 120)
    batch = Batch([*SERIES], deque([second(0)]))
    for number in range(1, 10):
        batch = batch.then(Batch(chunks=deque([second(number)])))
    assert batch.series == SERIES
    assert list(batch.chunks) == [second(8), second(9)]
    [mark] = batch.gaps()
    assert mark.kind is MarkKind.NOTE
    assert mark.text == "cpu: gap of 7.9 s: the store took nothing"


def test_recording_that_was_deleted_takes_no_more_reads(tmp_path: Path) -> None:
    said: list[str] = []
    with Store(str(tmp_path / "s.sqlite")) as store:
        writer = started(store)
        queue = RecordingQueue(writer, said.append)
        queue.start()
        recordings.delete_recording(store, writer.id)
        queue.put(SERIES, [second(0)], [])
        assert queue.end(30)
        assert queue.deleted is not None
        assert f"recording {writer.id}: it was deleted" in queue.deleted.what
        assert recordings.list_recordings(store) == ()
    assert said == []


@pytest.mark.root
def test_full_disk_is_reported_and_earlier_seconds_stay(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_queue, "_RETRY_S", 0.01)
    said: list[str] = []
    full = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        full.set()

    with Store(str(small_disk / "s.sqlite")) as store:
        writer = started(store)
        queue = RecordingQueue(writer, say)
        queue.start()
        queue.put(SERIES, [second(0)], [])
        number = 1
        while not full.is_set():
            queue.put([], [second(number)], [])
            number += 1
        grown = ["mount", "-o", "remount,size=64m", str(small_disk)]
        subprocess.run(grown, check=True)
        assert queue.end(60)
        kept = samples(store, writer.id)
    assert "the disk is full" in said[0]
    assert kept[-10:] == expected([second(number - 1)])
    assert [at for _, at, _ in kept] == sorted(at for _, at, _ in kept)
