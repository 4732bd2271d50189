# SPDX-License-Identifier: Apache-2.0
"""Keep a recorder going while its store is busy, full or away: a bounded buffer and a thread.

What does not fit is dropped, oldest first, and the gap becomes a mark once the store is back.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wirespeed.model.result.recording import Chunk, Mark, MarkKind, RecordedSeries
from wirespeed.store.errors import RecordingDeleted, StoreError
from wirespeed.store.recording_writer import RecordingWriter

# Numbers that wait at most: about 100 s of 500 series at 10 Hz.
_MOST_NUMBERS = 500_000
_RETRY_S = 1.0


@dataclass(slots=True)
class Batch:
    """Series, chunks and marks that wait for the store."""

    series: list[RecordedSeries] = field(default_factory=list)
    chunks: deque[Chunk] = field(default_factory=deque)
    marks: list[Mark] = field(default_factory=list)
    dropped: dict[str, tuple[int, int]] = field(default_factory=dict)
    """First and last moment of what each source lost."""

    def __bool__(self) -> bool:
        return bool(self.series or self.chunks or self.marks)

    def then(self, later: Batch) -> Batch:
        """Return both as one, without the oldest chunks that are too much."""
        both = Batch(
            [*self.series, *later.series], self.chunks + later.chunks,
            [*self.marks, *later.marks], dict(self.dropped),
        )  # fmt: skip
        for source, (first, last) in later.dropped.items():
            both.dropped[source] = both.dropped.get(source, (first, last))[0], last
        excess = sum(map(_size, both.chunks)) - _MOST_NUMBERS
        while excess > 0 and len(both.chunks) > 1:
            gone = both.chunks.popleft()
            excess -= _size(gone)
            first, _ = both.dropped.get(gone.source, (gone.begin_ns[0], 0))
            both.dropped[gone.source] = first, gone.begin_ns[-1]
        return both

    def gaps(self) -> list[Mark]:
        return [
            Mark(
                last, MarkKind.NOTE,
                f"{source}: gap of {(last - first) / 1e9:.1f} s: the store took nothing",
            )
            for source, (first, last) in self.dropped.items()
        ]  # fmt: skip


@dataclass(slots=True)
class RecordingQueue:
    """Chunks that wait for the store. `say` prints one line for each change of its state."""

    writer: RecordingWriter
    say: Callable[[str], None]
    deleted: RecordingDeleted | None = None
    """Set where the recording was deleted: nothing is stored any more."""
    _waiting: Batch = field(default_factory=Batch)
    _more: threading.Condition = field(default_factory=threading.Condition)
    _ending: bool = False
    _failing: bool = False
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def put(
        self, series: Sequence[RecordedSeries], chunks: Sequence[Chunk], marks: Sequence[Mark]
    ) -> None:
        """Take what is to be stored; never waits for the store."""
        with self._more:
            self._waiting = self._waiting.then(Batch([*series], deque(chunks), [*marks]))
            self._more.notify()

    def end(self, wait_s: float) -> bool:
        """Store what waits, for up to that long; return whether the store is done with it."""
        with self._more:
            self._ending = True
            self._more.notify()
        assert self._thread is not None
        self._thread.join(wait_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while True:
            with self._more:
                self._more.wait_for(lambda: self._ending or self._waiting)
                batch, self._waiting = self._waiting, Batch()
            if not batch:
                return
            stored = self._store(batch)
            if self.deleted is not None:
                return
            if not stored:
                with self._more:
                    self._waiting = batch.then(self._waiting)
                time.sleep(_RETRY_S)

    def _store(self, batch: Batch) -> bool:
        try:
            self.writer.add(batch.series, batch.chunks, [*batch.marks, *batch.gaps()])
        except RecordingDeleted as fault:
            self.deleted = fault
            return False
        except StoreError as fault:
            if not self._failing:
                self.say(f"{fault.what}; reads wait in memory, and it is tried again")
            self._failing = True
            return False
        if self._failing:
            self.say(f"store {self.writer.store.url}: is back")
        self._failing = False
        return True


def _size(chunk: Chunk) -> int:
    return len(chunk.begin_ns) * (len(chunk.series) + 2)
