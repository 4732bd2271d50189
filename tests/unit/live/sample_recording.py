# SPDX-License-Identifier: Apache-2.0
"""Make a recording of which every value is known: two minutes, a loss of 100 ms, a restart."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.result.recording import (
    NO_VALUE,
    Chunk,
    Mark,
    MarkKind,
    RecordedSeries,
    RecordingClock,
)
from wirespeed.model.result.series import SeriesKind
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.store import Store

S = 1_000_000_000
HZ = 10
BASE = 9_100_000_000_000_123
"""Beyond 2^53: moments are no JavaScript numbers."""
CLOCK = RecordingClock("boot", BASE, 1_764_000_000_000_000_000)
SECONDS = 130
LOSS_S, LOST = 65.0, 777
RESTART_S = 100
HOSTILE = "<img src=x onerror=alert(1)></script>"

_COUNTER, _GAUGE = SeriesKind.COUNTER, SeriesKind.GAUGE
_PORT = (("switch", "ovs"), ("interface", HOSTILE), ("direction", "rx"))
SERIES = [
    RecordedSeries("cpu", "cpu_user_seconds", (("cpu", "0"),), "ns", _COUNTER),
    RecordedSeries("cpu", "cpu_steal_seconds", (("cpu", "0"),), "ns", _COUNTER),
    RecordedSeries("cpu", "cpu_frequency_hertz", (("cpu", "0"),), "Hz", _GAUGE),
    RecordedSeries("ovs-ports ovs", "port_packets", _PORT, "packets", _COUNTER),
    RecordedSeries("ovs-ports ovs", "port_dropped_packets", _PORT, "packets", _COUNTER),
    RecordedSeries(
        "threads", "thread_cpu", (("program", "vswitchd"), ("thread", "pmd")), "1", _GAUGE
    ),
]
MARKS = [
    Mark(BASE + S, MarkKind.POINT, "p2p, 64 B: begun"),
    Mark(BASE + 30 * S, MarkKind.USER, f"changed {HOSTILE}"),
    Mark(BASE + 70 * S, MarkKind.FAULT, "p2p, 64 B: stopped-vnf was injected"),
    Mark(BASE + 71 * S, MarkKind.GATE, "excluded: 3.1% SUT stopped"),
]


def second(number: int) -> list[Chunk]:
    """Return the chunks of one second, read at 10 Hz; sources are read 10 ms after each other."""
    begins = [BASE + number * S + read * S // HZ for read in range(HZ)]
    return [
        _chunk("cpu", "boot", (0, 1, 2), begins, [_cpu(at - BASE) for at in begins]),
        _chunk("ovs-ports ovs", _epoch(number), (3, 4), begins, [_port(at - BASE) for at in begins],
               late_ns=10_000_000),
        _chunk("threads", "1 2", (5,), begins, [((at - BASE) // S % 2,) for at in begins],
               late_ns=20_000_000),
    ]  # fmt: skip


def _chunk(
    source: str, epoch: str, series: tuple[int, ...], begins: list[int],
    rows: list[tuple[int, ...]], *, late_ns: int = 0,
) -> Chunk:  # fmt: skip
    moments = tuple(at + late_ns for at in begins)
    return Chunk(source, epoch, series, moments, (70_000,) * len(begins), tuple(rows))


def _epoch(number: int) -> str:
    return "11 5000" if number < RESTART_S else "12 9000"


def _cpu(at: int) -> tuple[int, ...]:
    # A value beyond 2^53, one that is sometimes absent, and a level that changes.
    absent = at // S == 40
    return 2**60 + at * 3 // 4, at // 100, NO_VALUE if absent else 2_000_000_000 + at // S


def _port(at: int) -> tuple[int, ...]:
    restarted = at >= RESTART_S * S
    since = at - RESTART_S * S if restarted else at
    lost = LOST if not restarted and at > LOSS_S * S else 0
    return since // 1000, lost


def seconds(first: int, end: int) -> Iterator[Chunk]:
    for number in range(first, end):
        yield from second(number)


def make(store: Store, *, finished: bool = True, until: int = SECONDS) -> RecordingWriter:
    """Write the recording as a recorder does, second by second."""
    writer = RecordingWriter.start(store, f"host {HOSTILE}", CLOCK, HZ, sparse=False)
    for number in range(until):
        first = number == 0
        writer.add(SERIES if first else [], second(number), MARKS if first else [])
    if finished:
        writer.finish()
    return writer


def last_read(number: int, at_ns: int) -> tuple[int, int] | None:
    """Return moment and value of a series' last read at or before at_ns since the base."""
    source = SERIES[number].source
    found = None
    for second_number in (at_ns // S - 1, at_ns // S):
        if not 0 <= second_number < SECONDS:
            continue
        for chunk in second(second_number):
            if chunk.source != source:
                continue
            column = chunk.series.index(number)
            for begin, row in zip(chunk.begin_ns, chunk.values, strict=True):
                if begin - BASE <= at_ns:
                    found = begin - BASE, row[column]
    return found
