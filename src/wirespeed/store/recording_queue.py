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
from wirespeed.store.errors import StoreError
from wirespeed.store.recording_writer import RecordingWriter

# Numbers that wait at most: about 100 s of 500 series at 10 Hz.
_MOST_NUMBERS = 500_000
_RETRY_S = 1.0


@dataclass(slots=True)
class RecordingQueue:
    """Chunks that wait for the store. `say` prints one line for each change of its state."""

    writer: RecordingWriter
    say: Callable[[str], None]
    _series: list[RecordedSeries] = field(default_factory=list)
    _chunks: deque[Chunk] = field(default_factory=deque)
    _marks: list[Mark] = field(default_factory=list)
    _numbers: int = 0
    _dropped: dict[str, tuple[int, int]] = field(default_factory=dict)
    """First and last moment of what each source lost."""
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
            self._series += series
            self._marks += marks
            for chunk in chunks:
                self._chunks.append(chunk)
                self._numbers += _size(chunk)
            while self._numbers > _MOST_NUMBERS and len(self._chunks) > 1:
                self._drop(self._chunks.popleft())
            self._more.notify()

    def end(self, wait_s: float) -> bool:
        """Store what waits, for up to that long; return whether all of it is stored."""
        with self._more:
            self._ending = True
            self._more.notify()
        assert self._thread is not None
        self._thread.join(wait_s)
        return not self._thread.is_alive()

    def _drop(self, chunk: Chunk) -> None:
        self._numbers -= _size(chunk)
        first, _ = self._dropped.get(chunk.source, (chunk.begin_ns[0], 0))
        self._dropped[chunk.source] = first, chunk.begin_ns[-1]

    def _work(self) -> None:
        while True:
            with self._more:
                self._more.wait_for(self._has_work)
                if self._ending and not (self._series or self._chunks or self._marks):
                    return
                series, chunks = tuple(self._series), tuple(self._chunks)
                marks = (*self._marks, *self._gaps())
            if not self._store(series, chunks, marks):
                time.sleep(_RETRY_S)
                continue
            with self._more:
                del self._series[: len(series)]
                del self._marks[: len(marks) - len(self._dropped)]
                self._dropped.clear()
                for chunk in chunks:
                    if self._chunks and self._chunks[0] is chunk:
                        self._chunks.popleft()
                        self._numbers -= _size(chunk)

    def _has_work(self) -> bool:
        return bool(self._ending or self._series or self._chunks or self._marks)

    def _gaps(self) -> tuple[Mark, ...]:
        return tuple(
            Mark(
                last, MarkKind.NOTE,
                f"{source}: gap of {(last - first) / 1e9:.1f} s: the store took nothing",
            )
            for source, (first, last) in self._dropped.items()
        )  # fmt: skip

    def _store(
        self, series: Sequence[RecordedSeries], chunks: Sequence[Chunk], marks: Sequence[Mark]
    ) -> bool:
        try:
            self.writer.add(series, chunks, marks)
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
