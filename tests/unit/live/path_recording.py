# SPDX-License-Identifier: Apache-2.0
"""Make a recording of a generator, Open vSwitch and a function, with two trials and a loss."""

from __future__ import annotations

from tests.unit.live.sample_recording import BASE, CLOCK, HZ, S
from wirespeed.model.result.recording import Chunk, Mark, MarkKind, RecordedSeries
from wirespeed.model.result.series import SeriesKind
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.store import Store

SECONDS = 12
LOSS_S = 6
_RATE = 2_000_000
_COUNTER, _GAUGE = SeriesKind.COUNTER, SeriesKind.GAUGE
_US = 1000


def series(source: str, key: str, unit: str = "packets", **labels: str) -> RecordedSeries:
    gauge = key in ("ring_used", "ring_size", "thread_cpu", "cpu_isolated", "task_latency_seconds")
    kind = _GAUGE if gauge else _COUNTER
    return RecordedSeries(source, key, tuple(labels.items()), unit, kind)


def _switch(key: str, **labels: str) -> RecordedSeries:
    return series("ovs", key, "cycles" if "cycles" in key else "packets", switch="bench", **labels)


def _program(key: str, unit: str = "packets", **labels: str) -> RecordedSeries:
    return series("wsdp", key, unit, program="tg", **labels)


# Each series, and its value after that time in ns.
VALUES: list[tuple[RecordedSeries, float | str]] = [
    *(
        (_switch("port_packets", interface=port, direction=direction), forward)
        for port, direction, forward in (
            ("east", "rx", 1.0), ("east", "tx", 0.0), ("vnf1a", "rx", 0.0), ("vnf1a", "tx", 1.0),
            ("vnf1b", "rx", 1.0), ("vnf1b", "tx", 0.0), ("west", "rx", 0.0), ("west", "tx", 1.0),
        )
    ),
    (_switch("port_dropped_packets", interface="vnf1a", direction="tx"), "lost"),
    (_switch("pmd_busy_cycles", numa="0", cpu="1"), 0.6),
    (_switch("pmd_idle_cycles", numa="0", cpu="1"), 0.4),
    (_program("device_tx_packets", port="east"), 1.0),
    (_program("device_rx_packets", port="east"), 0.0),
    (_program("device_tx_packets", port="west"), 0.0),
    (_program("device_rx_packets", port="west"), 1.0),
    (_program("lcore_busy_seconds", "ns", lcore="0"), "busy"),
    (_program("lcore_seconds", "ns", lcore="0"), "time"),
    (_program("ring_used", "1", ring="r0"), 100),
    (_program("ring_size", "1", ring="r0"), 512),
    (_program("task_latency_seconds", "ns", task="sink0", statistic="p99"), 45 * _US),
    (series("cpu", "cpu_user_seconds", "ns", cpu="0"), "busy"),
    (series("cpu", "cpu_user_seconds", "ns", cpu="1"), "time"),
    (series("cpu", "cpu_steal_seconds", "ns", cpu="0"), "steal"),
    (series("cpu", "cpu_isolated", "1", cpu="1"), 1),
    (series("threads", "thread_cpu", "1", program="ovs-vswitchd", thread="pmd-c01"), 1),
]  # fmt: skip
MARKS = [
    Mark(BASE + S, MarkKind.POINT, "pvp, 64 B: begun"),
    Mark(BASE + 2 * S, MarkKind.TRIAL, "search 2.000 Mpps for 2 s"),
    Mark(BASE + 4 * S, MarkKind.TRIAL, "search 2.000 Mpps: judged"),
    Mark(BASE + 5 * S, MarkKind.TRIAL, "search 2.100 Mpps for 2 s"),
    Mark(BASE + 7 * S, MarkKind.TRIAL, "search 2.100 Mpps: judged; polling CPUs on one core"),
    Mark(BASE + 7 * S, MarkKind.GATE, "excluded: 3.1% SUT stopped"),
    Mark(BASE + 11 * S, MarkKind.PRICE, "the sampler took 0.83% of a CPU"),
    Mark(BASE + 11 * S, MarkKind.PRICE, "ovs: 3 of 11 loss bursts fall into ovs, 0.4 expected"),
]  # fmt: skip


def _value(rule: float | str, at_ns: int) -> int:
    match rule:
        case "lost":
            return 5000 if at_ns > LOSS_S * S else 0
        case "busy":
            return at_ns // 2
        case "time":
            return at_ns
        case "steal":
            return at_ns // 50
        case float():
            return int(rule * _RATE * at_ns / S)
        case _:
            return int(rule)


def make(store: Store) -> RecordingWriter:
    """Write the recording; it is finished."""
    writer = RecordingWriter.start(store, "host", CLOCK, HZ, sparse=False)
    known = [each for each, _ in VALUES]
    for second in range(SECONDS):
        begins = [BASE + second * S + read * S // HZ for read in range(HZ)]
        chunks = []
        for source in dict.fromkeys(each.source for each in known):
            numbers = tuple(n for n, each in enumerate(known) if each.source == source)
            rows = tuple(tuple(_value(VALUES[n][1], at - BASE) for n in numbers) for at in begins)
            chunks.append(Chunk(source, "1", numbers, tuple(begins), (70_000,) * HZ, rows))
        writer.add(known if second == 0 else [], chunks, MARKS if second == 0 else [])
    writer.finish()
    return writer
