# SPDX-License-Identifier: Apache-2.0
"""Check that collectors read the real programs of a bench, and that a recording shows a stall."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from tests.support.real_bench import RUNNER, in_traffic, opened, planned, point, vswitch
from tests.support.sample import ORIGIN
from tests.support.waiting import state_of
from wirespeed.bench.session import RealBench
from wirespeed.cli.verbs.run_recording import polling_cpus, recording
from wirespeed.kpi.collectors.registry import collectors, metrics
from wirespeed.kpi.interface import Missing, Name
from wirespeed.live.path import path_of
from wirespeed.live.recording_stalls import stalls_of
from wirespeed.model.result.recording import RecordedSeries
from wirespeed.remote.interface import Process
from wirespeed.sources.scheduler import pollers_of
from wirespeed.store.recordings import reads_of, recording_of, series_of
from wirespeed.store.run_writer import RunWriter
from wirespeed.store.store import Store
from wirespeed.study.load import load_study

pytestmark = [
    pytest.mark.root,
    pytest.mark.alone,
    pytest.mark.usefixtures("needs_root"),
]


STOP_S = 0.05
TRIAL_S, LOAD_FPS, RATE_HZ = 1.0, 20_000.0, 10.0
# Where something else runs, reads come late; in one of these trials they do not.
TRIALS = 6


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


def switch_daemon(bench: RealBench) -> Process:
    """Return the process of the PMD threads, next to which the database server runs."""
    return next(each for each in vswitch(bench).processes if pollers_of(RUNNER, each.pid))


def stopped(process: Process) -> tuple[int, int]:
    """Stop a process for a moment; return when it stood, by CLOCK_MONOTONIC."""
    process.signal(signal.SIGSTOP)
    while state_of(process.pid) != "T":
        pass
    begin_ns = time.monotonic_ns()
    time.sleep(STOP_S)
    end_ns = time.monotonic_ns()
    process.signal(signal.SIGCONT)
    return begin_ns, end_ns


def test_recording_of_a_bench_at_a_rate_names_the_poller_that_was_stopped(tmp_path: Path) -> None:
    url, plan = str(tmp_path / "runs.sqlite"), planned(point("p2p"))
    stops: list[tuple[int, int]] = []
    trials: list[int] = []
    under_way: Any = SimpleNamespace(stage="search", load_fps=LOAD_FPS, duration_s=TRIAL_S)
    with Store(url) as store:
        run_id = RunWriter.start(store, load_study("wire"), ORIGIN).run_id
        with (
            recording(Mock(), run_id, polling_cpus(plan), url, RATE_HZ) as marking,
            opened(point("p2p"), tmp_path / "logs", plan) as bench,
        ):
            daemon = switch_daemon(bench)
            for _ in range(TRIALS):
                marking.progress(under_way)
                with in_traffic(lambda: stops.append(stopped(daemon))):
                    trials.append(bench.measure(LOAD_FPS, TRIAL_S).began_ns)
        found = recording_of(store)
        # A read in the middle may leave less than a stall takes to one side of it.
        named = [
            each
            for each in stalls_of(store, found.id)
            if each.thread.startswith("pmd-")
            and each.stall.missed_ns >= 0.7 * STOP_S * 1e9
            and any(
                each.stall.begin_ns <= end and each.stall.end_ns >= begin for begin, end in stops
            )
        ]
        assert named
        # At the rate that was asked for, what is not cheap is read while frames flow, too.
        switch = [
            at for reads in reads_of(store, found.id, "ovs-pmd bench") for at in reads.begin_ns
        ]
        assert any(began < at < began + TRIAL_S * 1e9 for began in trials for at in switch)
        latencies = [each for each in series_of(store, found.id) if each.key.startswith("task_lat")]
        assert any(("statistic", "p999") in each.labels for each in latencies)
    shown = subprocess.run(
        [sys.executable, "-m", "wirespeed.cli.main", "kpi", "show", "--store", url],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    # Not every one of many is printed: the longest is.
    at_s = (named[0].stall.begin_ns - found.clock.monotonic_ns) / 1e9
    thread = f"{named[0].program} {named[0].thread}"
    assert f"{at_s:+.3f} s  stall: {thread}" in shown
