# SPDX-License-Identifier: Apache-2.0
"""Check that wsdp reports noise on its threads and CPUs at the right time."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from tests.dataplane.program import REPOSITORY, Control, Running, running
from tests.dataplane.test_control import FLOOD
from tests.dataplane.tsc import read_tsc
from tests.support.waiting import state_of

STOPPED_S = 0.05
DEADLINE_S = 60.0


@pytest.fixture(scope="module")
def flooded() -> Iterator[Running]:
    with running(FLOOD) as wsdp:
        wsdp.control.await_stats(lambda now: now["out"]["tx"] > 10**6)
        yield wsdp


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of the lcore.

    It began between `earliest` and `begun`, and ended between `ending` and `latest`.
    """

    earliest: int
    begun: int
    ending: int
    latest: int

    def is_seen_as(self, begin_tsc: int, length_tsc: int) -> bool:
        """Return whether it covers most of the certain stop, and nothing certainly outside."""
        return (
            self.earliest <= begin_tsc <= self.begun
            and begin_tsc + length_tsc <= self.latest
            and length_tsc >= 0.9 * (self.ending - self.begun)
        )


def stop_process(wsdp: Running, seconds: float) -> Stop:
    """Send SIGSTOP, and SIGCONT some time after it has taken effect."""
    wsdp.control.ask("stats")
    earliest = read_tsc() - wsdp.control.ask("info")["tsc_hz"] // 10
    wsdp.process.send_signal(signal.SIGSTOP)
    while state_of(wsdp.process.pid) != "T":
        pass
    begun = read_tsc()
    time.sleep(seconds)
    ending = read_tsc()
    wsdp.process.send_signal(signal.SIGCONT)
    wsdp.control.ask("stats")
    return Stop(earliest, begun, ending, read_tsc())


def test_a_stopped_lcore_is_in_the_gap_log(flooded: Running) -> None:
    assert flooded.control.ask("reset") == {"ok": 1}
    stop = stop_process(flooded, STOPPED_S)
    log = flooded.export("gaps")
    assert log["format"] == "wirespeed-gaps-1"
    assert log["tsc_hz"] == flooded.control.ask("info")["tsc_hz"]
    (lcore,) = log["lcores"].values()
    assert lcore["cpu"] == flooded.control.ask("lcores")["1"]["cpu"]
    assert lcore["overflowed"] == 0
    assert [gap for gap in lcore["gaps"] if stop.is_seen_as(gap[0], gap[1])]
    begins = [gap[0] for gap in lcore["gaps"]]
    assert begins == sorted(begins)
    # A reset forgets it.
    assert flooded.control.ask("reset") == {"ok": 1}
    (lcore,) = flooded.export("gaps")["lcores"].values()
    assert not [gap for gap in lcore["gaps"] if stop.is_seen_as(gap[0], gap[1])]


def test_work_is_no_gap(flooded: Running) -> None:
    """Every round of this lcore takes longer than 5 µs: that is its work."""
    assert flooded.control.ask("reset", "gap_limit_ns=5000") == {"ok": 1}
    flooded.control.await_stats(lambda now: now["sut"]["rx"] > 3 * 10**6)
    figures = flooded.control.ask("lcores")["1"]
    (lcore,) = flooded.export("gaps")["lcores"].values()
    assert flooded.control.ask("reset", "gap_limit_ns=100000") == {"ok": 1}
    stretches = figures["total_ns"] / 10_000
    assert len(lcore["gaps"]) + lcore["overflowed"] < stretches / 2


@pytest.mark.root
def test_a_hogged_thread_is_in_both_logs(flooded: Running) -> None:
    """The lcore's own polls and the kernel's records agree about the time."""
    figures = flooded.control.ask("lcores")["1"]
    tid, cpu = figures["tid"], figures["cpu"]
    assert flooded.control.ask("reset") == {"ok": 1}
    assert flooded.control.ask("switches", f"tid={tid}") == {"ok": 1}
    assert flooded.control.ask("switches", f"tid={tid}") == {
        "error": f"switches tid={tid}: Device or resource busy; end it with switches_stop"
    }
    earliest = read_tsc()
    told = subprocess.run(
        [sys.executable, "-m", "tests.dataplane.tsc", str(cpu), str(STOPPED_S)],
        cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=DEADLINE_S,
    ).stdout.split()  # fmt: skip
    flooded.control.ask("stats")
    stop = Stop(earliest, int(told[0]), int(told[1]), read_tsc())
    switches = flooded.export("switches_stop")
    assert switches["format"] == "wirespeed-switches-1"
    assert 0 < switches["clock_error_ns"] < 100_000
    assert switches["threads"].keys() == {str(tid)}
    thread = switches["threads"][str(tid)]
    assert thread["lost"] == 0
    (seen,) = [found for found in thread["stops"] if stop.is_seen_as(found[0], found[1])]
    assert seen[2:] == [1, cpu]
    (lcore,) = flooded.export("gaps")["lcores"].values()
    (gap,) = [gap for gap in lcore["gaps"] if stop.is_seen_as(gap[0], gap[1])]
    # The gap begins before the switch and ends after it, except for the work of one stretch.
    assert gap[0] <= seen[0]
    assert gap[0] + gap[1] > seen[0] + 0.9 * seen[1]


def test_switch_records_that_may_not_be_had_say_what_to_do(flooded: Running) -> None:
    paranoid = Path("/proc/sys/kernel/perf_event_paranoid")
    if os.geteuid() == 0 or int(paranoid.read_text()) <= 2:
        pytest.skip("they may be had here")
    tid = flooded.control.ask("lcores")["1"]["tid"]
    assert "kernel.perf_event_paranoid" in flooded.control.ask("switches", f"tid={tid}")["error"]


WATCH_S = 40.0


@pytest.mark.root
def test_a_long_watch_makes_nothing_else_wait() -> None:
    with (
        running(FLOOD) as wsdp,
        Control.connect(wsdp.directory) as one,
        Control.connect(wsdp.directory) as other,
    ):
        cpu = min(os.sched_getaffinity(wsdp.process.pid))
        ends = time.monotonic() + WATCH_S
        asked = f"duration_ns={int(WATCH_S * 1e9)},cpu={cpu}"
        assert wsdp.control.ask("contention", asked) == {"ok": 1}
        path = wsdp.directory / "samples.json"
        waiting = [one.connection, other.connection]
        for connection in waiting:
            connection.send(f"/wirespeed/contention_samples,{path}".encode())
        # One of the two waits for the end, the other one is rejected.
        (answered, *_), _, _ = select.select(waiting, [], [], WATCH_S)
        assert b"Device or resource busy" in answered.recv(65536)
        assert wsdp.control.ask("contention", asked)["error"].endswith("Device or resource busy")
        before = wsdp.control.ask("stats")["sut"]["rx"]
        wsdp.control.await_stats(lambda now: now["sut"]["rx"] > before)
        assert wsdp.control.ask("stop") == {"ok": 1}
        assert wsdp.control.ask("reset") == {"ok": 1}
        assert wsdp.end() == 0
        assert time.monotonic() < ends
        assert not path.exists()


def test_a_pipe_without_a_reader_is_an_error(flooded: Running) -> None:
    pipe = flooded.directory / "pipe"
    os.mkfifo(pipe)
    assert flooded.control.ask("gaps", str(pipe)) == {
        "error": f'gaps to "{pipe}": No such device or address'
    }
    assert flooded.control.ask("stop") == {"ok": 1}


@pytest.mark.root
def test_contention_samples(flooded: Running) -> None:
    """Samples do not depend on what polls there: ten times in 40 ms."""
    cpu = min(os.sched_getaffinity(flooded.process.pid))
    asked = f"duration_ns=40000000,period_ns=4000000,cpu={cpu}"
    before = read_tsc()
    assert flooded.control.ask("contention", f"after_ns=1000000,{asked}") == {"ok": 1}
    assert flooded.control.ask("contention", asked) == {
        "error": f"contention {asked}: Device or resource busy"
    }
    written = flooded.export("contention_samples")
    after = read_tsc()
    assert written["format"] == "wirespeed-contention-1"
    (seen,) = written["cpus"].values()
    assert written["cpus"].keys() == {str(cpu)}
    hz, samples = written["tsc_hz"], seen["samples"]
    assert len(samples) == 10
    assert before < samples[0][0]
    assert samples[-1][0] < after
    assert all(one[0] < other[0] for one, other in pairwise(samples))
    assert all(work_tsc > 0 for _, work_tsc, _ in samples)
    assert seen["ran_ns"] > 3 * sum(work_tsc for _, work_tsc, _ in samples) / hz * 1e9
    assert flooded.export("contention_samples")["cpus"] == {}
