# SPDX-License-Identifier: Apache-2.0
"""Check that every collector reads the real programs of a bench, and that their counts agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.real_bench import RUNNER, opened, point
from wirespeed.kpi.collectors.registry import collectors, metrics
from wirespeed.kpi.interface import Missing, Name
from wirespeed.live.path import path_of
from wirespeed.model.result.recording import RecordedSeries

pytestmark = [
    pytest.mark.root,
    pytest.mark.alone,
    pytest.mark.usefixtures("needs_root"),
]


def read_all() -> tuple[dict[Name, int], dict[str, str]]:
    """Return all values, and the epoch of each source."""
    values: dict[Name, int] = {}
    epochs: dict[str, str] = {}
    for collector in collectors():
        found = collector.probe(RUNNER)
        for source in () if isinstance(found, Missing) else found:
            seen = source.read()
            values |= seen.values
            epochs[source.name] = seen.epoch
            source.close()
    return values, epochs


def test_collectors_of_a_real_bench_agree_with_its_trial(tmp_path: Path) -> None:
    with opened(point("p2p"), tmp_path) as bench:
        before, _ = read_all()
        seen = bench.measure(20_000.0, 0.2)
        after, epochs = read_all()

    def grew(key: str, *labels: str) -> int:
        return sum(
            count - before.get(name, 0)
            for name, count in after.items()
            if name[0] == key and set(labels) <= set(name[1])
        )

    received = round(seen.total("received"))
    assert received > 0
    assert grew("port_packets", "bench", "rx") >= received
    assert grew("pmd_rx_packets", "bench") >= received
    assert after["pmd_busy_cycles", _pmd(after)] > 0
    assert grew("thread_cpu_seconds") > 0
    assert {"ovs-pmd bench", "ovs-ports bench", "wsdp tg", "dpdk ovs", "threads"} <= set(epochs)
    assert {"dpdk-xstats ovs", "dpdk-xstats tg", "sampler"} <= set(epochs)
    assert grew("ethdev_xstats", "tg") > 0
    latencies = [count for (key, _), count in after.items() if key == "task_latency_seconds"]
    assert latencies
    assert all(count > 0 for count in latencies)
    assert _stops(after) == ["tg", "Open vSwitch bench", "tg"]
    assert seen.began_ns > 0
    assert seen.began_error_ns < 1_000_000_000
    assert {key for key, _ in after} <= set(metrics())
    _, gone = read_all()
    assert not {"ovs-pmd bench", "wsdp tg"} & set(gone)


def _stops(values: dict[Name, int]) -> list[str]:
    """Return the stops of the path that the live page draws of these names."""
    known = metrics()
    series = [
        RecordedSeries(
            "", key, tuple(zip(known[key].labels, labels, strict=True)), "", known[key].kind
        )
        for key, labels in values
    ]
    return [stop.name for stop in path_of(series).stops]


def _pmd(values: dict[Name, int]) -> tuple[str, ...]:
    return next(labels for key, labels in values if key == "pmd_busy_cycles")
