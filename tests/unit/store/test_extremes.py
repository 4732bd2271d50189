# SPDX-License-Identifier: Apache-2.0
"""Compare least and most with a plain loop, and check that a short loss shows at any zoom."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from tests.unit.live.sample_recording import (
    BASE,
    LOSS_S,
    RESTART_S,
    SECONDS,
    SERIES,
    S,
    make,
    seconds,
)
from wirespeed.model.result.recording import NO_VALUE
from wirespeed.model.result.series import SeriesKind
from wirespeed.store import extremes as made
from wirespeed.store.chunk_codec import Reads, as_reads
from wirespeed.store.recording_range import PackedChunk, RecordingRange, Strip
from wirespeed.store.recordings import reads_of, recording_of
from wirespeed.store.store import Store, open_to_read

COUNTERS = np.array([each.kind is SeriesKind.COUNTER for each in SERIES])
DROPS = 4


def random_reads(seed: int, epoch: str = "e") -> Reads:
    source = random.Random(seed)
    count = source.randrange(1, 40)
    begins = np.cumsum([source.randrange(1, 4 * S) for _ in range(count)])
    rows = [
        [NO_VALUE if source.random() < 0.1 else source.randrange(10**6) for _ in range(3)]
        for _ in range(count)
    ]
    return Reads(
        "x", epoch, np.arange(3), begins.astype(np.int64) + 5 * seed * S,
        np.full(count, 9, dtype=np.int64), np.array(rows, dtype=np.int64),
    )  # fmt: skip


def shown(reads: Reads, earlier: Reads | None, read: int, column: int) -> list[float]:
    """Return what is shown of one read, by a plain rule."""
    value = int(reads.values[read, column])
    if read:
        prior, took = int(reads.values[read - 1, column]), reads.begin_ns[read] - reads.begin_ns[
            read - 1]  # fmt: skip
    elif earlier is not None:
        prior = int(earlier.values[-1, column])
        took = reads.begin_ns[0] - earlier.begin_ns[-1]
    else:
        prior, took = NO_VALUE, 0
    if column != 2:  # a counter
        missing = NO_VALUE in (value, prior) or took <= 0
        return [] if missing else [(value - prior) * 1e9 / took]
    held = [float(prior)] if prior != NO_VALUE and took <= made.HELD_NS else []
    return held + ([float(value)] if value != NO_VALUE else [])


@pytest.mark.parametrize("seed", range(20))
def test_extremes_equal_a_plain_loop(seed: int) -> None:
    earlier, reads = random_reads(seed), random_reads(seed + 100)
    prior = earlier if seed % 2 else None
    starts = made.bucket_starts(len(reads.begin_ns), 1 + seed % 7)
    counters = np.array([True, True, False])
    found = made.extremes(reads, made.before(reads, prior), counters, starts)
    ends = [*starts[1:].tolist(), len(reads.begin_ns)]
    for bucket, (first, end) in enumerate(zip(starts.tolist(), ends, strict=True)):
        for column in range(3):
            values = [v for r in range(first, end) for v in shown(reads, prior, r, column)]
            least, most = found.least[bucket, column], found.most[bucket, column]
            if values:
                assert least == np.float32(min(values))
                assert most == np.float32(max(values))
            else:
                assert math.isnan(least)
                assert math.isnan(most)


def test_extremes_of_another_epoch_join_nothing() -> None:
    reads = random_reads(7)
    assert made.before(reads, random_reads(1, "other")) is None
    assert made.before(reads, random_reads(1)) is not None


def test_packed_extremes_come_back_equal_and_another_size_is_refused() -> None:
    found = made.stored_extremes(random_reads(3), None, np.array([True, False, True]))
    blob = made.packed_extremes(found)
    again = made.unpacked_extremes(blob, found.edges_ns, 3)
    assert np.array_equal(again.least, found.least, equal_nan=True)
    assert np.array_equal(again.most, found.most, equal_nan=True)
    for columns in (2, 4, 10**9):
        with pytest.raises(ValueError, match="series"):
            made.unpacked_extremes(blob, found.edges_ns, columns)


def strips(store: Store, recording: str, begin: int, end: int, pixels: int) -> list[Strip]:
    found = RecordingRange(store, recording).strips(BASE + begin, BASE + end, pixels, COUNTERS)
    return list(found)


def lossy(found: list[Strip]) -> list[tuple[int, int]]:
    """Return the buckets in which the drop counter rose, in ns since the base."""
    return [
        (int(each.found.edges_ns[bucket]) - BASE, int(each.found.edges_ns[bucket + 1]) - BASE)
        for each in found
        if DROPS in each.series.tolist()
        for bucket in range(len(each.found.least))
        if each.found.most[bucket, each.series.tolist().index(DROPS)] > 0
    ]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return a store with a finished recording, kpi-1, and one whose recorder was killed, kpi-2."""
    path = tmp_path_factory.mktemp("recorded") / "s.sqlite"
    with Store(str(path)) as store:
        make(store)
        make(store, finished=False)
        yield store


@pytest.mark.parametrize("recording", ["kpi-1", "kpi-2"])
@pytest.mark.parametrize("pixels", [1, 2, 7, 40, 300, 1500, 4000])
def test_strips_show_a_loss_of_100_ms_at_any_zoom(
    recorded: Store, pixels: int, recording: str
) -> None:
    for begin, end in ((0, 86_400 * S), (0, SECONDS * S), (60 * S, 70 * S)):
        found = lossy(strips(recorded, recording, begin, end, pixels))
        assert found
        at = LOSS_S * S
        assert all(first <= at + S // 10 + S // 50 for first, _ in found)
        assert any(first <= at + S // 50 <= last for first, last in found)


def test_strips_between_two_reads_show_the_loss_of_the_pause(tmp_path: Path) -> None:
    with Store(str(tmp_path / "s.sqlite")) as store:
        writer = make(store, until=1, finished=False)
        late = [c for c in seconds(80, 81) if c.source.startswith("ovs")]
        writer.add([], late, [])
        found = lossy(strips(store, writer.id, 20 * S, 30 * S, 100))
    assert found == [(S - S // 10 + S // 100, 80 * S + S // 100)]


def test_strips_end_at_a_restart(recorded: Store) -> None:
    found = [s for s in strips(recorded, "kpi-1", 0, SECONDS * S, 20) if DROPS in s.series]
    assert {each.epoch for each in found} == {"11 5000", "12 9000"}
    first = next(each for each in found if each.epoch == "12 9000")
    assert first.found.edges_ns[0] == BASE + RESTART_S * S + S // 100
    # The counter fell at the restart; no rate is below zero.
    assert not any((each.found.least < 0).any() for each in found)


def test_strips_of_stored_buckets_equal_those_of_the_reads(tmp_path: Path) -> None:
    with Store(str(tmp_path / "s.sqlite")) as store:
        writer = make(store)
        with_stored = strips(store, writer.id, 0, SECONDS * S, 2)
        with store.transaction() as connection:
            connection.execute(text("DELETE FROM extremes"))
        without = strips(store, writer.id, 0, SECONDS * S, 2)
    for one, other in zip(with_stored, without, strict=True):
        assert np.array_equal(np.nanmax(one.found.most, 0), np.nanmax(other.found.most, 0))
        assert np.array_equal(np.nanmin(one.found.least, 0), np.nanmin(other.found.least, 0))


def test_range_of_a_recording_that_grows_has_no_gap_and_no_double(tmp_path: Path) -> None:
    seen: dict[str, list[int]] = {}
    ends: dict[str, int] = {}

    def take(found: list[PackedChunk]) -> None:
        for each in found:
            reads = next(
                r
                for r in reads_of(store, writer.id, each.head.source)
                if r.begin_ns[0] == each.head.begin_ns
            )
            last = seen.setdefault(each.head.source, [])
            last += [at for at in reads.begin_ns.tolist() if not last or at > last[-1]]
            ends[each.head.source] = each.head.end_ns

    with Store(str(tmp_path / "s.sqlite")) as store:
        writer = make(store, until=55, finished=False)
        whole = RecordingRange(store, writer.id)
        take(whole.after(ends, 20))
        for number in range(55, 125):
            writer.add([], list(seconds(number, number + 1)), [])
            if number % 10 == 0:
                take(whole.after(ends, 50))
        writer.finish()
        while found := whole.after(ends, 7):
            take(found)
    wanted: dict[str, list[int]] = {}
    for chunk in seconds(0, 125):
        wanted.setdefault(chunk.source, []).extend(as_reads(chunk).begin_ns.tolist())
    assert seen == wanted


def test_recording_octets_count_the_stored_extremes(tmp_path: Path) -> None:
    with Store(str(tmp_path / "s.sqlite")) as store:
        writer = make(store)
        before = recording_of(store, writer.id).octets
        with store.transaction() as connection:
            connection.execute(text("DELETE FROM extremes"))
        assert recording_of(store, writer.id).octets < before


def test_store_of_the_schema_before_is_read_without_stored_extremes(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(str(path)) as store:
        recording = make(store).id
        with store.transaction() as connection:
            connection.execute(text("DROP TABLE extremes"))
            connection.execute(text("UPDATE alembic_version SET version_num = '0007'"))
    with open_to_read(str(path)) as older:
        assert lossy(strips(older, recording, 0, 86_400 * S, 1000))
