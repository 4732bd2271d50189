# SPDX-License-Identifier: Apache-2.0
"""Answer the page's questions about one recording of a store."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wirespeed.live import document
from wirespeed.live.document import Recorded
from wirespeed.live.lanes import lanes_of, members
from wirespeed.model.result.series import SeriesKind
from wirespeed.store import recordings
from wirespeed.store.errors import Damaged
from wirespeed.store.recording_range import PackedChunk, RecordingRange
from wirespeed.store.store import Store

# Chunks of one answer: about 20 s of 10 sources.
CHUNKS_MAX = 200
# A page asks for no more pixels.
PIXELS_MAX = 4_000
# A request for new reads waits this long before it is answered with none.
WAIT_S = 10.0
_LOOK_S = 0.5
# Longest time of one answer with chunks.
_SPAN_NS = 600_000_000_000


@dataclass(slots=True)
class StoredRecording:
    """One recording for any number of pages. It keeps nothing of a page. Raises StoreError."""

    store: Store
    id: str
    closing: threading.Event = field(default_factory=threading.Event)
    """Set at the end of the server: no request waits any longer."""
    _range: RecordingRange = field(init=False)
    _known: Recorded = field(init=False)

    def __post_init__(self) -> None:
        self._range = RecordingRange(self.store, self.id)
        self._known = self.recorded()

    def recorded(self) -> Recorded:
        """Read the head of the recording."""
        series = recordings.series_of(self.store, self.id)
        self._known = Recorded(
            recordings.recording_of(self.store, self.id),
            series,
            recordings.marks_of(self.store, self.id),
            # In the order of their first series, which never changes.
            tuple(dict.fromkeys(each.source for each in series)),
            self._range.ends(),
        )
        return self._known

    def about(self) -> dict[str, Any]:
        return document.about(self.recorded())

    def picture(self, begin: int, end: int, pixels: int) -> bytes:
        """Return least and most by pixel columns. begin, end: ns since the base."""
        try:
            return self._picture(self._known, begin, end, pixels)
        except Damaged:  # or there are series that were not known yet
            return self._picture(self.recorded(), begin, end, pixels)

    def _picture(self, known: Recorded, begin: int, end: int, pixels: int) -> bytes:
        base = known.base_ns
        counters = np.array(
            [each.kind is SeriesKind.COUNTER for each in known.series], dtype=np.bool_
        )
        shown = np.array(members(lanes_of(known.series)), dtype=np.int64)
        strips = self._range.strips(base + begin, base + end, min(pixels, PIXELS_MAX), counters)
        return document.picture(strips, shown, known)

    def chunks(self, begin: int, end: int, source: int | None) -> bytes:
        """Return the chunks of a time, and the one before it of each source.

        A chunk is at most a minute of one source, so a page asks for a minute or two.
        """
        base, sources = self._known.base_ns, self._known.sources
        name = sources[source] if source is not None and source < len(sources) else None
        found = self._range.chunks(base + begin, base + min(end, begin + _SPAN_NS), name)
        return json.dumps({"chunks": _documents(found, self._known)}).encode()

    def follow(self, ends: Mapping[int, int], series: int, marks: int) -> bytes:
        """Return what is new since the page's last answer; wait for it, up to WAIT_S.

        ends: end of the last read that the page has, by source. series, marks: numbers it knows.
        """
        until = time.monotonic() + WAIT_S
        base, sources = self._known.base_ns, self._known.sources
        have = {sources[n]: base + end for n, end in ends.items() if 0 <= n < len(sources)}
        while True:
            # The state is read first: reads that came before the end are not missed.
            now_series, now_marks, finished = self._range.state()
            found = self._range.after(have, CHUNKS_MAX)
            grown = (now_series, now_marks) != (series, marks)
            done = found or grown or finished or time.monotonic() >= until
            if done or self.closing.wait(_LOOK_S):
                break
        known = self.recorded() if grown else self._known
        answer: dict[str, Any] = {
            "chunks": _documents(found, known),
            "finished": finished and len(found) < CHUNKS_MAX,
        }
        if grown:
            answer["about"] = document.about(known)
        return json.dumps(answer).encode()


def _documents(found: list[PackedChunk], known: Recorded) -> list[dict[str, Any]]:
    """Return the documents of chunks; a source that is not known yet comes with the next answer."""
    names = known.sources
    return [document.chunk(each, names) for each in found if each.head.source in names]
