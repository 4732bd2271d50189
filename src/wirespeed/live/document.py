# SPDX-License-Identifier: Apache-2.0
"""Write what the page reads: JSON about a recording, its chunks, and the picture of a time.

Moments are ns since the recording's base, so that they are exact as JavaScript numbers. The base
itself, and all stored values, are 64-bit integers: texts or packed.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wirespeed.live.lanes import lanes_of
from wirespeed.live.state import state_of
from wirespeed.model.result.recording import Mark, RecordedSeries
from wirespeed.store.chunk_codec import Integers
from wirespeed.store.recording_range import PackedChunk, Strip
from wirespeed.store.recordings import RecordingSummary

VERSION = 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording's head: what the page needs before it reads any sample."""

    summary: RecordingSummary
    series: tuple[RecordedSeries, ...]
    marks: tuple[Mark, ...]
    sources: tuple[str, ...]
    ends: Mapping[str, int]
    """End of the last read of each source."""

    @property
    def base_ns(self) -> int:
        return self.summary.clock.monotonic_ns


def about(recorded: Recorded) -> dict[str, Any]:
    """Return the JSON document about a recording, without its samples."""
    found, base = recorded.summary, recorded.base_ns
    numbers = {name: number for number, name in enumerate(recorded.sources)}
    lanes = lanes_of(recorded.series)
    return {
        "version": VERSION,
        "id": found.id,
        "host": found.host,
        "run": found.run_id,
        "started_at": found.started_at,
        "finished_at": found.finished_at,
        "rate_hz": found.rate_hz,
        "sparse": found.sparse,
        "boot": found.clock.boot,
        "base_ns": str(base),
        "real_ns": str(found.clock.realtime_ns),
        "begin": min(0, found.begin_ns - base) if found.reads else 0,
        "end": max(0, found.end_ns - base) if found.reads else 0,
        "sources": list(recorded.sources),
        "ends": [recorded.ends.get(name, base) - base for name in recorded.sources],
        "series": [
            [numbers[each.source], each.key, each.labels, each.unit, each.kind.value]
            for each in recorded.series
        ],
        "marks": marks(recorded.marks, base),
        "lanes": [asdict(lane) for lane in lanes],
        "state": asdict(state_of(recorded.series, lanes)),
    }


def marks(found: Iterable[Mark], base_ns: int) -> list[list[object]]:
    """Return marks as [ns since the base, kind, text]."""
    return [[each.at_ns - base_ns, each.kind.value, each.text] for each in found]


def chunk(found: PackedChunk, sources: Sequence[str]) -> dict[str, Any]:
    """Return a packed chunk; its moments are those of the clock, not since the base."""
    head = found.head
    return {
        "source": sources.index(head.source),
        "epoch": head.epoch,
        "reads": head.reads,
        "columns": head.columns,
        **{
            name: b64encode(getattr(found, name)).decode()
            for name in ("series", "moments", "took", "values")
        },
    }


def picture(strips: Iterable[Strip], shown: Integers, recorded: Recorded) -> bytes:
    """Return least and most of the shown series: a line of JSON, then little-endian numbers.

    The line has the layouts (numbers of the columns' series), the epochs, and for each strip its
    source, epoch, layout and buckets. Each strip has buckets + 1 edges in ns since the base (float
    64), then least and most of each bucket and column (float 32).
    """
    layouts: dict[bytes, tuple[int, Integers]] = {}
    epochs: dict[str, int] = {}
    heads: list[tuple[int, int, int, int]] = []
    body: list[bytes] = []
    for strip in strips:
        key = strip.series.tobytes()
        if key not in layouts:
            layouts[key] = len(layouts), np.flatnonzero(np.isin(strip.series, shown))
        layout, places = layouts[key]
        if not len(places) or strip.source not in recorded.sources:
            continue
        found = strip.found.of(places)
        epoch = epochs.setdefault(strip.epoch, len(epochs))
        source = recorded.sources.index(strip.source)
        heads.append((source, epoch, layout, len(found.least)))
        body.append((found.edges_ns - recorded.base_ns).astype("<f8").tobytes())
        body += (each.astype("<f4").tobytes() for each in (found.least, found.most))
    head = {
        "layouts": [
            np.frombuffer(key, dtype=np.int64)[places].tolist()
            for key, (_, places) in layouts.items()
        ],
        "epochs": list(epochs),
        "strips": heads,
    }
    return b"".join([json.dumps(head).encode(), b"\n", *body])
