# SPDX-License-Identifier: Apache-2.0
"""Turn a sampler's frames into chunks: about one second of one source in one epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from wirespeed.kpi.frames import Layout, Sample
from wirespeed.kpi.interface import Metric, Name
from wirespeed.model.result.recording import Chunk, RecordedSeries
from wirespeed.model.result.series import SeriesKind

CHUNK_NS = 1_000_000_000


@dataclass(slots=True)
class _Open:
    """Reads of a source that are not in a chunk yet."""

    series: tuple[int, ...] = ()
    counters: tuple[int, ...] = ()
    """Columns that must not fall."""
    epoch: str = ""
    generation: int = 0
    """Number of falls since the source started."""
    samples: list[Sample] = field(default_factory=list)
    last: tuple[int, ...] = ()


class Assembler:
    """Numbers the series and cuts the chunks of one recording."""

    def __init__(self, metrics: Mapping[str, Metric]) -> None:
        self._metrics = metrics
        self._numbers: dict[tuple[str, Name], int] = {}
        self._open: dict[str, _Open] = {}
        self.new: list[RecordedSeries] = []
        """Series that were added since the last look, in the order of their numbers."""

    def layout(self, frame: Layout) -> Iterator[Chunk]:
        """Take the series of the reads that follow; yield the chunk that this ends."""
        yield from self._cut(frame.source)
        series = tuple(self._number(frame.source, name) for name in frame.names)
        counters = tuple(
            column
            for column, (key, _) in enumerate(frame.names)
            if self._metrics[key].kind is SeriesKind.COUNTER
        )
        before = self._open.get(frame.source, _Open())
        self._open[frame.source] = _Open(series, counters, before.epoch, before.generation)

    def sample(self, frame: Sample) -> Iterator[Chunk]:
        """Take a read; yield the chunk that it ends.

        A counter that fell begins an epoch: it was cleared, or its port was made anew.
        """
        now = self._open[frame.source]
        fell = now.last and any(frame.values[c] < now.last[c] for c in now.counters)
        if frame.epoch != now.epoch:
            yield from self._cut(frame.source)
            now.epoch, now.generation = frame.epoch, 0
        elif fell:
            yield from self._cut(frame.source)
            now.generation += 1
        elif now.samples and frame.begin_ns - now.samples[0].begin_ns >= CHUNK_NS:
            yield from self._cut(frame.source)
        now.samples.append(frame)
        now.last = frame.values

    def flush(self, older_than_ns: int | None = None) -> Iterator[Chunk]:
        """Yield the chunks that are open; with a moment, those that began before it."""
        for source, now in self._open.items():
            if now.samples and (older_than_ns is None or now.samples[0].begin_ns < older_than_ns):
                yield from self._cut(source)

    def _cut(self, source: str) -> Iterator[Chunk]:
        now = self._open.get(source)
        if now is None or not now.samples:
            return
        epoch = f"{now.epoch}+{now.generation}" if now.generation else now.epoch
        samples, now.samples = now.samples, []
        yield Chunk(
            source,
            epoch,
            now.series,
            tuple(each.begin_ns for each in samples),
            tuple(each.took_ns for each in samples),
            tuple(each.values for each in samples),
        )

    def _number(self, source: str, name: Name) -> int:
        if (source, name) not in self._numbers:
            self._numbers[source, name] = len(self._numbers)
            key, values = name
            metric = self._metrics[key]
            labels = tuple(zip(metric.labels, values, strict=True))
            self.new.append(RecordedSeries(source, key, labels, metric.unit.name, metric.kind))
        return self._numbers[source, name]
