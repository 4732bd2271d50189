# SPDX-License-Identifier: Apache-2.0
"""Name the polling threads that stood still during a recording, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from wirespeed.measure.stalls import Stall, ThreadReads, stalls
from wirespeed.model.result.recording import NO_VALUE, RecordedSeries
from wirespeed.store import recordings
from wirespeed.store.chunk_codec import Reads, joined
from wirespeed.store.store import Store

# Source of the collector of polling threads, and its series.
_SOURCE = "threads"
_ON_CPU, _WAIT, _SWITCHES = "thread_cpu_seconds", "thread_wait_seconds", "thread_switches"
_VOLUNTARY = "voluntary"
# A longer read does not tell when its values were so.
_LONGEST_READ_NS = 10_000_000


@dataclass(frozen=True, slots=True)
class ThreadStall:
    """A stall of one thread."""

    program: str
    thread: str
    stall: Stall


def stalls_of(store: Store, recording_id: str) -> list[ThreadStall]:
    """Return the stalls of all polling threads, the longest first. Raises Damaged, StoreError."""
    series = recordings.series_of(store, recording_id)
    chunks = list(recordings.reads_of(store, recording_id, _SOURCE))
    # No time of a thread is compared over a start of its program.
    same = groupby(chunks, key=lambda each: (each.epoch, each.series.tobytes()))
    found = [one for _, group in same for one in _of_epoch(joined(list(group)), series)]
    return sorted(found, key=lambda one: -one.stall.missed_ns)


def _of_epoch(reads: Reads, series: Sequence[RecordedSeries]) -> Iterator[ThreadStall]:
    columns: dict[tuple[str, str], dict[str, int]] = {}
    for column, number in enumerate(reads.series.tolist()):
        each = series[number]
        labels = dict(each.labels)
        if each.key != _SWITCHES or labels.get("kind") == _VOLUNTARY:
            named = labels.get("program", ""), labels.get("thread", "")
            columns.setdefault(named, {})[each.key] = column
    for (program, thread), own in columns.items():
        if {_ON_CPU, _WAIT, _SWITCHES} <= own.keys():
            for stall in stalls(_thread_reads(reads, own)):
                yield ThreadStall(program, thread, stall)


def _thread_reads(reads: Reads, own: Mapping[str, int]) -> ThreadReads:
    values = reads.values[:, [own[_ON_CPU], own[_WAIT], own[_SWITCHES]]]
    there = np.all(values != NO_VALUE, axis=1) & (reads.took_ns <= _LONGEST_READ_NS)
    on_cpu, waited, voluntary = values[there].T
    middle = reads.begin_ns + reads.took_ns // 2
    return ThreadReads(middle[there], on_cpu, waited, voluntary)


def sentence(found: ThreadStall) -> str:
    """Return the stall in words, without its time."""
    stall = found.stall
    within = (stall.end_ns - stall.begin_ns) / 1e6
    how = "waited for a CPU" if stall.ready else "stood still"
    missed = stall.missed_ns / 1e6
    return f"{found.program} {found.thread} {how} for {missed:.1f} ms of {within:.0f} ms"
