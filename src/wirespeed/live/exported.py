# SPDX-License-Identifier: Apache-2.0
"""Write a recording as one HTML file that plays offline, and read such a file.

A file may come from anybody: nothing in it runs here. Its data are JSON and packed integers, each
with a bound, and are written into a store of their own before a page sees them.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wirespeed.live import document
from wirespeed.live.document import Recorded
from wirespeed.live.page import DATA_END, DATA_START, page_end, page_start
from wirespeed.model.errors import BadInput
from wirespeed.model.input.bounded import load_json
from wirespeed.model.input.moment import written
from wirespeed.model.result.recording import Mark, MarkKind, RecordedSeries, RecordingClock
from wirespeed.model.result.series import SeriesKind
from wirespeed.store.chunk_codec import Reads, unpacked
from wirespeed.store.errors import UNREADABLE
from wirespeed.store.recording_range import PackedChunk, RecordingRange
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.store import Store

# Packed octets of a recording that becomes one file; the file is a third longer.
FILE_MAX = 32 << 20
_TEXT_MAX = 500
_SERIES_MAX, _CHUNKS_MAX, _MARKS_MAX = 50_000, 100_000, 100_000
# Numbers of all chunks together: an hour of 5,000 series at 10 Hz takes more than a file may.
_NUMBERS_MAX = 64 << 20
# Numbers that are unpacked at once: 32 MiB.
_BATCH_NUMBERS = 4 << 20
# 73 years; the clock of 1970 has passed less than two of them.
_FAR_NS = 1 << 61

_Text = Field(max_length=_TEXT_MAX)
_Model = TypeVar("_Model", bound=BaseModel)


class _Series(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")
    source: int = Field(ge=0)
    key: str = _Text
    labels: list[tuple[str, str]] = Field(max_length=20)
    unit: str = _Text
    kind: SeriesKind


class _Mark(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")
    at: int = Field(gt=-_FAR_NS, lt=_FAR_NS)
    kind: MarkKind
    text: str = _Text


class _Chunk(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")
    source: int = Field(ge=0)
    epoch: str = _Text
    reads: int = Field(ge=1)
    columns: int = Field(ge=0)
    series: str
    moments: str
    took: str
    values: str


class _Recording(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")
    version: int
    host: str = _Text
    boot: str = _Text
    rate_hz: float = Field(ge=0, le=1e6)
    sparse: bool
    base_ns: str = Field(pattern=r"^\d{1,19}$")
    real_ns: str = Field(pattern=r"^\d{1,19}$")
    sources: list[str] = Field(max_length=_SERIES_MAX)
    series: list[list[Any]] = Field(max_length=_SERIES_MAX)
    marks: list[list[Any]] = Field(max_length=_MARKS_MAX)
    chunks: list[dict[str, Any]] = Field(max_length=_CHUNKS_MAX)


def write_file(store: Store, recorded: Recorded, file: IO[str]) -> None:
    """Write the recording with its page. Raises BadInput where it is too large, StoreError."""
    found = recorded.summary
    packed = RecordingRange(store, found.id).octets()
    if packed > FILE_MAX:
        raise BadInput(
            f"recording {found.id}: {packed >> 20} MiB packed; one file has at most "
            f"{FILE_MAX >> 20} MiB",
            "Open it with `wirespeed live`, or export it with --csv.",
        )
    file.write(page_start(f"{found.id} on {found.host}"))
    file.write(DATA_START)
    head = document.about(recorded)
    file.write(_json(head)[:-1] + ',"chunks":[')
    for number, each in enumerate(_chunks(store, recorded)):
        file.write(("," if number else "") + _json(document.chunk(each, recorded.sources)))
    file.write("]}" + DATA_END)
    file.write(page_end())


def _chunks(store: Store, recorded: Recorded) -> Iterator[PackedChunk]:
    whole = RecordingRange(store, recorded.summary.id)
    found = recorded.summary
    for source in recorded.sources:
        yield from whole.chunks(found.begin_ns, found.end_ns, source)


def _json(value: object) -> str:
    """Return JSON that ends no script element and starts no comment."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def read_file(path: Path, store: Store) -> str:
    """Write the recording of an exported file into a store; return its id. Raises BadInput."""
    try:
        if path.is_fifo():
            raise BadInput(f"{path} is a pipe, not a file", "Write its content to a file first.")
        with path.open("rb") as opened:
            text = opened.read(4 * FILE_MAX + 1)
    except OSError as fault:
        raise BadInput(
            f"{path} cannot be read: {fault.strerror}", "Name a file of `wirespeed kpi export`."
        ) from fault
    try:
        return _stored(_checked(text), store, path.name)
    except UNREADABLE as fault:
        raise BadInput(
            f"{path}: no recording of `wirespeed kpi export --html`: {_why(fault)}",
            "Export it again, or name another file.",
        ) from fault


def _checked(text: bytes) -> _Recording:
    if len(text) > 4 * FILE_MAX:
        raise ValueError(f"more than {4 * FILE_MAX >> 20} MiB")
    found = re.search(
        re.escape(DATA_START.encode()) + b"(.*?)" + re.escape(DATA_END.encode()), text, re.DOTALL
    )
    if found is None:
        raise ValueError("it has no element with data")
    recording = _Recording.model_validate(load_json(found[1]))
    if recording.version != document.VERSION:
        whose = "a newer" if recording.version > document.VERSION else "an unknown"
        raise ValueError(f"its version is {recording.version}, of {whose} wirespeed")
    return recording


def _stored(found: _Recording, store: Store, name: str) -> str:
    clock = RecordingClock(found.boot, int(found.base_ns), int(found.real_ns))
    if max(clock.monotonic_ns, clock.realtime_ns) > _FAR_NS * 2:
        raise ValueError("its clock is too far in the future")
    host = f"{found.host} ({name})"
    writer = RecordingWriter.start(
        store, host, clock, found.rate_hz, sparse=found.sparse, started_at=_moment(clock)
    )
    series = [_series(each, found.sources) for each in found.series]
    marks = [
        Mark(clock.monotonic_ns + each.at, each.kind, each.text)
        for each in (_row(_Mark, row) for row in found.marks)
    ]
    writer.add_reads(series, (), marks)
    for batch in _batches(_reads(found, len(series))):
        writer.add_reads((), batch, ())
    writer.finish()
    return writer.id


def _batches(chunks: Iterator[Reads]) -> Iterator[list[Reads]]:
    batch: list[Reads] = []
    numbers = 0
    for chunk in chunks:
        batch.append(chunk)
        numbers += chunk.values.size + 2 * len(chunk.begin_ns)
        if numbers >= _BATCH_NUMBERS:
            yield batch
            batch, numbers = [], 0
    if batch:
        yield batch


def _moment(clock: RecordingClock) -> str:
    """Return the time at which the recording began. Raises ValueError where no calendar has it."""
    try:
        return written(datetime.fromtimestamp(clock.realtime_ns / 1e9, UTC))
    except (OverflowError, OSError) as fault:
        raise ValueError("its clock is too far in the future") from fault


def _series(row: list[Any], sources: list[str]) -> RecordedSeries:
    found = _row(_Series, row)
    labels = tuple((name[:_TEXT_MAX], value[:_TEXT_MAX]) for name, value in found.labels)
    return RecordedSeries(_source(sources, found.source), found.key, labels, found.unit, found.kind)


def _row(model: type[_Model], row: list[Any]) -> _Model:
    """Return a row of values as the model; its fields name them in their order."""
    return model.model_validate_json(json.dumps(dict(zip(model.model_fields, row, strict=True))))


def _reads(found: _Recording, known: int) -> Iterator[Reads]:
    """Unpack every chunk within its own bound and the bound of all. Raises ValueError."""
    left = _NUMBERS_MAX
    ended: dict[int, int] = {}
    for row in found.chunks:
        each = _Chunk.model_validate(row)
        left -= each.reads * (each.columns + 2)
        if left < 0:
            raise ValueError("it unpacks to more than a recording may have")
        series = unpacked(b64decode(each.series), 1, each.columns).reshape(-1)
        if len(series) and not 0 <= series.min() <= series.max() < known:
            raise ValueError("a chunk has a series that is not in the list")
        moments, took = (
            unpacked(b64decode(blob), each.reads).reshape(-1) for blob in (each.moments, each.took)
        )
        spans = (moments, took)
        if any(each.min() < 0 or each.max() > _FAR_NS for each in spans):
            raise ValueError("the moments of a chunk are too far away")
        if (moments[1:] < moments[:-1]).any():
            raise ValueError("the moments of a chunk do not ascend")
        if moments[0] <= ended.get(each.source, -1):
            raise ValueError("the chunks of a source do not ascend")
        ended[each.source] = int(moments[-1])
        values = unpacked(b64decode(each.values), each.reads, each.columns)
        yield Reads(_source(found.sources, each.source), each.epoch, series, moments, took, values)


def _source(sources: list[str], number: int) -> str:
    return sources[number][:120]


def _why(fault: BaseException) -> str:
    if isinstance(fault, ValidationError):
        first = fault.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"[:200]
    return (str(fault).splitlines() or [type(fault).__name__])[0][:200]
