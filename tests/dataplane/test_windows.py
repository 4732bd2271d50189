# SPDX-License-Identifier: Apache-2.0
"""Check that gen and sink count each frame once, in the same window, and losses in theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.dataplane.program import Running, running
from tests.dataplane.test_wire import WIRE

RATE_FPS = 200_000


@pytest.fixture(scope="module")
def wire() -> Iterator[Running]:
    with running(WIRE) as wsdp:
        yield wsdp


@dataclass(frozen=True, slots=True)
class Trial:
    """A run's counters and windows; frames by the number of their bin on the common grid."""

    gen: Mapping[str, int]
    sut: Mapping[str, int]
    sink: Mapping[str, int]
    offered: Mapping[int, int]
    received: Mapping[int, int]
    generator: Mapping[str, Any]
    analyser: Mapping[str, Any]
    rows: Mapping[str, Any]


def by_bin(log: Mapping[str, Any]) -> dict[int, int]:
    first = log["base_tsc"] >> log["shift"]
    assert first << log["shift"] == log["base_tsc"]
    return {first + i: frames for i, frames in enumerate(log["frames"]) if frames}


def start(wsdp: Running, **arguments: int) -> None:
    given = {"rate_fps": RATE_FPS, "trial": 1} | arguments
    pairs = [f"{key}={value}" for key, value in given.items()]
    wsdp.control.ask("reset")
    assert wsdp.control.ask("start", *pairs) == {"ok": 1}


def finish(wsdp: Running) -> Trial:
    wsdp.control.await_task("gen", lambda gen: not gen["running"])
    wsdp.control.await_stats(
        lambda now: now["sut"]["held"] == 0 and now["sink"]["rx"] == now["sut"]["tx"]
    )
    figures = [wsdp.control.ask("task", name) for name in ("gen", "sut", "sink")]
    generator, analyser = wsdp.export("windows", "gen"), wsdp.export("windows", "sink")
    for log in (generator, analyser):
        assert log["format"] == "wirespeed-windows-1"
        assert log["tsc_hz"] == wsdp.control.ask("info")["tsc_hz"]
    assert generator["shift"] == analyser["shift"]
    return Trial(
        *figures, by_bin(generator), by_bin(analyser), generator, analyser,
        wsdp.export("latency_rows", "sink"),
    )  # fmt: skip


def test_a_lossless_wire_is_equal_bin_by_bin(wire: Running) -> None:
    start(wire, duration_ns=100_000_000, after_ns=20_000_000)
    trial = finish(wire)
    assert trial.sink["lost"] == 0
    assert trial.offered == trial.received
    assert sum(trial.offered.values()) == trial.gen["offered"] == trial.sink["received"] == 20_000
    assert trial.generator["beyond"] == trial.analyser["beyond"] == 0
    assert set(trial.generator["unsent"]) <= {0}
    assert "latency_ns" not in trial.generator
    assert "unsent" not in trial.analyser
    # Bins are 16 to 32 µs; only the frame that goes ahead is before the first due one.
    bin_ns = 10**9 * 2 ** trial.generator["shift"] / trial.generator["tsc_hz"]
    assert 16_000 < bin_ns <= 32_000
    due = trial.gen["started_tsc"] >> trial.generator["shift"]
    assert sum(frames for number, frames in trial.offered.items() if number < due) <= 1


def test_latencies_by_window_and_row(wire: Running) -> None:
    delay_ns = 1_000_000
    assert wire.control.ask("set", "sut", f"delay_ns={delay_ns}") == {"ok": 1}
    start(wire, duration_ns=50_000_000)
    trial = finish(wire)
    assert wire.control.ask("set", "sut", "delay_ns=0") == {"ok": 1}
    log, rows = trial.analyser, trial.rows
    pairs = list(zip(log["frames"], log["latency_ns"], strict=True))
    assert all(latency_ns >= delay_ns for frames, latency_ns in pairs if frames)
    assert all(latency_ns == 0 for frames, latency_ns in pairs if not frames)
    # Means are cut to whole ns, so are those of the trial.
    total = sum(frames * latency_ns for frames, latency_ns in pairs)
    assert abs(total / trial.sink["received"] - trial.sink["latency_avg_ns"]) <= 2
    assert rows["format"] == "wirespeed-latency-rows-1"
    assert (rows["base_tsc"], rows["shift"]) == (log["base_tsc"], log["shift"] + 5)
    for index, row in enumerate(rows["rows"]):
        assert sum(frames for _, frames in row) == sum(log["frames"][32 * index : 32 * index + 32])
        # The bucket's lowest value is at most 1/16 below the latency.
        assert all(lowest_ns > delay_ns * 15 / 16 for lowest_ns, _ in row)
    assert len(rows["rows"]) == (len(log["frames"]) + 31) // 32


def test_a_loss_is_in_its_windows(wire: Running) -> None:
    start(wire, duration_ns=10**9)
    wire.control.await_task("gen", lambda gen: gen["offered"] > 20_000)
    assert wire.control.ask("set", "sut", "loss_every=1") == {"ok": 1}
    wire.control.await_task("gen", lambda gen: gen["offered"] > 60_000)
    assert wire.control.ask("set", "sut", "loss_every=0") == {"ok": 1}
    trial = finish(wire)
    lost = {n: frames - trial.received.get(n, 0) for n, frames in trial.offered.items()}
    assert sum(lost.values()) == trial.sut["lost"] > 0
    lossy = [number for number, frames in lost.items() if frames]
    first, last = min(lossy), max(lossy)
    before = sum(trial.offered[number] for number in trial.offered if number < first)
    after = sum(trial.offered[number] for number in trial.offered if number > last)
    assert before > 20_000 - max(trial.offered.values())
    assert after > 0
    # All between is lost, except in the two bins in which it began and ended.
    assert all(
        trial.received.get(number, 0) == 0 for number in trial.offered if first < number < last
    )


def test_windows_overloaded_generator_hold_its_unsent_frames(wire: Running) -> None:
    """The load is more than any generator can make, and there is no time to catch up."""
    start(wire, duration_ns=20_000_000, catchup_ns=0, rate_fps=10**9)
    trial = finish(wire)
    assert trial.gen["unsent"] > 0
    assert sum(trial.offered.values()) == trial.gen["offered"]
    assert sum(trial.generator["unsent"]) == trial.gen["unsent"]
    assert sum(trial.received.values()) == trial.sink["received"]
    assert trial.generator["beyond"] == trial.analyser["beyond"] == 0


def test_without_an_end_bins_are_longer(wire: Running) -> None:
    start(wire, rate_fps=10_000)
    wire.control.await_task("gen", lambda gen: gen["offered"] > 100)
    assert wire.control.ask("stop") == {"ok": 1}
    trial = finish(wire)
    assert trial.offered == trial.received
    assert sum(trial.offered.values()) == trial.gen["offered"]
    bin_ns = 10**9 * 2 ** trial.generator["shift"] / trial.generator["tsc_hz"]
    assert 10_000_000 < bin_ns < 40_000_000


def test_a_sut_that_stalls_loses_what_its_queue_cannot_hold(wire: Running) -> None:
    """It serves nothing for 5 ms in every 50: 1,000 frames come meanwhile, of which 100 wait.

    Fewer come, and they wait for less, where another test has the CPU when the stall begins. So
    there are more trials, until one shows both.
    """
    keys = "stall_every_ns=50000000,stall_ns=5000000,queue_frames=100"
    assert wire.control.ask("set", "sut", keys) == {"ok": 1}
    longest_ns = most_lost = 0
    for _ in range(20):
        start(wire, duration_ns=200_000_000)
        trial = finish(wire)
        assert (trial.sut["stall_every_ns"], trial.sut["stall_ns"]) == (50_000_000, 5_000_000)
        assert trial.sut["queue_full"] == trial.sut["discard"]
        assert sum(trial.offered.values()) - sum(trial.received.values()) == trial.sut["queue_full"]
        longest_ns = max(longest_ns, trial.sink["latency_max_ns"])
        most_lost = max(most_lost, trial.sut["queue_full"])
        if longest_ns > 4_000_000 and most_lost > 900:
            break
    assert longest_ns > 4_000_000
    assert most_lost > 900
    assert wire.control.ask("set", "sut", "stall_every_ns=0,stall_ns=0,queue_frames=400") == {
        "ok": 1
    }


MIXED = """
[ring.a]
size = 4096
[task.gen]
type = gen
lcore = 1
tx = ring:a
frame = aaaaaaaddddg
vlan = 5
flows = 7
catchup_ns = 60000000000
[task.sink]
type = sink
lcore = 1
rx = ring:a
flows = 7
"""


def test_only_stamped_frames_are_counted() -> None:
    """In this mix, 5 of 12 frames have space for a stamp."""
    with running(MIXED) as wsdp:
        assert wsdp.control.ask("start", "rate_fps=120000", "duration_ns=100000000") == {"ok": 1}
        wsdp.control.await_task("gen", lambda gen: not gen["running"])
        wsdp.control.await_stats(lambda now: now["sink"]["handled"] == 12_000)
        generator, analyser = wsdp.export("windows", "gen"), wsdp.export("windows", "sink")
    assert by_bin(generator) == by_bin(analyser)
    assert sum(generator["frames"]) == 5_000
