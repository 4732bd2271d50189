# SPDX-License-Identifier: Apache-2.0
"""Check that `wirespeed kpi show` names a polling thread that stood still, and when."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.cli.conftest import Command
from wirespeed.model.result.recording import Chunk, RecordedSeries, RecordingClock
from wirespeed.model.result.series import SeriesKind
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.store import Store

MS, EVERY = 1_000_000, 100_000_000
THREAD = (("program", "ovs-vswitchd"), ("thread", "pmd-c01/id:8"))
SERIES = [
    RecordedSeries("threads", "thread_cpu_seconds", THREAD, "ns", SeriesKind.COUNTER),
    RecordedSeries("threads", "thread_wait_seconds", THREAD, "ns", SeriesKind.COUNTER),
    RecordedSeries(
        "threads", "thread_switches", (*THREAD, ("kind", "voluntary")), "1", SeriesKind.COUNTER
    ),
    RecordedSeries(
        "threads", "thread_switches", (*THREAD, ("kind", "involuntary")), "1", SeriesKind.COUNTER
    ),
]


def record(path: Path, missed_ms: dict[int, int], epochs: str = "a" * 20) -> None:
    """Write a recording in chunks of two reads; missed_ms: time off the CPU before a read."""
    on_cpu, rows = 0, []
    for read in range(len(epochs)):
        missed = missed_ms.get(read, 0) * MS
        on_cpu += EVERY - missed
        rows.append((on_cpu, 0, sum(at <= read for at in missed_ms), 1000 * read))
    with Store(str(path)) as store:
        clock = RecordingClock("boot", 0, 0)
        writer = RecordingWriter.start(store, "host", clock, 10.0, sparse=False)
        for first in range(0, len(epochs), 2):
            begin = (first * EVERY, (first + 1) * EVERY)
            part = tuple(rows[first : first + 2])
            chunk = Chunk("threads", epochs[first], (0, 1, 2, 3), begin, (2 * MS, 2 * MS), part)
            writer.add(SERIES if first == 0 else (), [chunk], [])
        writer.finish()


def test_kpi_show_thread_that_stood_still_is_named_with_its_time(
    wirespeed: Command, tmp_path: Path
) -> None:
    record(tmp_path / "runs.sqlite", {7: 52})
    shown = wirespeed("kpi", "show").out
    assert (
        "  +0.601 s  stall: ovs-vswitchd pmd-c01/id:8 stood still for 52.0 ms of 100 ms\n" in shown
    )
    [found] = json.loads(wirespeed("kpi", "show", "--json").out)["stalls"]
    assert found["stall"]["missed_ns"] == 52 * MS


def test_kpi_show_many_stalls_prints_the_longest_in_their_order(
    wirespeed: Command, tmp_path: Path
) -> None:
    missed = {read: read for read in range(11, 95, 3)}
    record(tmp_path / "runs.sqlite", missed, "a" * 98)
    lines = [line for line in wirespeed("kpi", "show").out.splitlines() if "stall" in line]
    assert lines[-1] == "  8 shorter stalls of polling threads: --json lists them"
    assert "stood still for 35.0 ms" in lines[0]
    assert "stood still for 92.0 ms" in lines[-2]


def test_kpi_show_restarted_program_is_no_stall(wirespeed: Command, tmp_path: Path) -> None:
    record(tmp_path / "runs.sqlite", {10: 80}, "a" * 10 + "b" * 10)
    assert "stall" not in wirespeed("kpi", "show").out
