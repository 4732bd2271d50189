# SPDX-License-Identifier: Apache-2.0
"""Check how reads become chunks: seconds, epochs, layouts."""

from __future__ import annotations

from wirespeed.kpi.assembler import Assembler
from wirespeed.kpi.collectors.registry import metrics
from wirespeed.kpi.frames import Layout, Sample
from wirespeed.model.result.recording import Chunk

STEAL, FREE = ("cpu_steal_seconds", ("0",)), ("memory_free_bytes", ("0",))
MS = 1_000_000


def chunks(*frames: Layout | Sample) -> list[Chunk]:
    assembler = Assembler(metrics())
    found: list[Chunk] = []
    for frame in frames:
        found += assembler.layout(frame) if isinstance(frame, Layout) else assembler.sample(frame)
    return [*found, *assembler.flush()]


def sample(at_ms: int, *values: int, epoch: str = "boot") -> Sample:
    return Sample("x", at_ms * MS, 5, epoch, values)


def test_reads_of_more_than_a_second_are_cut_each_second() -> None:
    reads = [sample(100 * n, n, 0) for n in range(25)]
    found = chunks(Layout("x", (STEAL, FREE)), *reads)
    assert [len(each.begin_ns) for each in found] == [10, 10, 5]
    assert found[1].values[0] == (10, 0)


def test_restarted_source_begins_an_epoch() -> None:
    found = chunks(
        Layout("x", (STEAL,)), sample(0, 5), sample(1, 9), sample(2, 1, epoch="again"),
    )  # fmt: skip
    assert [each.epoch for each in found] == ["boot", "again"]


def test_counter_that_fell_begins_an_epoch_and_a_gauge_does_not() -> None:
    found = chunks(
        Layout("x", (STEAL, FREE)),
        sample(0, 5, 9), sample(1, 6, 1), sample(2, 2, 1), sample(3, 3, 0), sample(4, 1, 0),
    )  # fmt: skip
    assert [each.epoch for each in found] == ["boot", "boot+1", "boot+2"]
    assert [len(each.begin_ns) for each in found] == [2, 2, 1]


def test_changed_series_begin_a_chunk_and_keep_their_numbers() -> None:
    found = chunks(
        Layout("x", (STEAL,)), sample(0, 1), Layout("x", (FREE, STEAL)), sample(1, 2, 3),
    )  # fmt: skip
    assert [each.series for each in found] == [(0,), (1, 0)]
