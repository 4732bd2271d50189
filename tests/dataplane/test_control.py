# SPDX-License-Identifier: Apache-2.0
"""Check the telemetry socket against docs/reference/wsdp.md."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dataplane.program import DEADLINE_S, REPOSITORY, Control, Running, running

COUNTERS = {"rx", "tx", "tx_fail", "discard", "handled", "held", "rx_bytes", "tx_bytes"}
# net_null makes endless frames: more than the ring behind impair takes.
FLOOD = """
[port.source]
device = net_null0
[port.end]
device = net_null1,no-rx=1
[task.sut]
type = impair
rate_fps = 1000000
loss_every = 100
lcore = 1
rx = source:0
tx = ring:small
[ring.small]
size = 8
[task.out]
type = mac
dst_mac = 02:00:00:00:00:01
lcore = 1
rx = ring:small
tx = end:0
"""


@pytest.fixture(scope="module")
def flooded() -> Iterator[Running]:
    with running(FLOOD) as wsdp:
        yield wsdp


def closes(counters: dict[str, int]) -> bool:
    ends = ("tx", "tx_fail", "discard", "handled", "held")
    return counters["rx"] == sum(counters[end] for end in ends)


def test_info_names_what_runs(flooded: Running) -> None:
    info = flooded.control.ask("info")
    assert info["pid"] == flooded.process.pid
    assert re.fullmatch(r"DPDK \d\d\.\d\d.*", info["dpdk"])
    assert info["tsc_hz"] > 10**8
    assert info["tsc"] < flooded.control.ask("info")["tsc"]
    assert info["tsc_invariant"] == int("nonstop_tsc" in Path("/proc/cpuinfo").read_text())
    assert info["tasks"] == {
        "sut": {"type": "impair", "lcore": 1},
        "out": {"type": "mac", "lcore": 1},
    }
    assert info["ports"] == {"source": "net_null0", "end": "net_null1"}


def test_counters_close_while_traffic_flows(flooded: Running) -> None:
    flooded.control.await_stats(lambda now: now["out"]["tx"] > 0)
    for _ in range(100):
        stats = flooded.control.ask("stats")
        assert all(set(counters) == COUNTERS for counters in stats.values())
        assert all(closes(counters) for counters in stats.values()), stats
    assert stats["sut"]["discard"] > 0
    assert stats["sut"]["rx_bytes"] == stats["sut"]["rx"] * 68  # net_null: 64 octets and FCS


def test_task_adds_its_own_figures(flooded: Running) -> None:
    task = flooded.control.ask("task", "sut")
    assert COUNTERS | {"type", "lcore", "lost", "queue_full", "delay_full"} <= set(task)
    assert (task["type"], task["rate_fps"], task["queue_frames"]) == ("impair", 1000000, 2000)
    assert closes(task)


def test_lcores_report_polls_and_scheduling(flooded: Running) -> None:
    (lcore,) = flooded.control.ask("lcores").items()
    assert lcore[0] == "1"
    figures = lcore[1]
    assert 0 < figures["busy_polls"] <= figures["polls"]
    assert 0 < figures["busy_ns"] <= figures["total_ns"]
    hz = flooded.control.ask("info")["tsc_hz"]
    for what in ("busy", "total"):
        expected_ns = figures[f"{what}_tsc"] * 10**9 / hz
        assert figures[f"{what}_ns"] == pytest.approx(expected_ns, rel=1e-6, abs=2)
    assert figures["gap_limit_ns"] in range(99999, 100001)
    thread = Path("/proc") / str(flooded.process.pid) / "task" / str(figures["tid"])
    assert thread.is_dir()
    assert figures["cpu"] in os.sched_getaffinity(figures["tid"])


def test_an_lcore_s_cycles_only_grow_until_a_reset(flooded: Running) -> None:
    """Endless frames keep it busy, so that the utilisation of any interval is near 1."""
    before = flooded.control.ask("lcores")["1"]
    rx = flooded.control.ask("stats")["sut"]["rx"]
    flooded.control.await_stats(lambda now: now["sut"]["rx"] > rx + 10**5)
    after = flooded.control.ask("lcores")["1"]
    busy, total = (after[key] - before[key] for key in ("busy_tsc", "total_tsc"))
    assert 0 < busy <= total
    assert busy / total > 0.5
    assert flooded.control.ask("reset") == {"ok": 1}
    again = flooded.control.ask("lcores")["1"]
    assert again["total_tsc"] < after["total_tsc"]
    assert again["busy_tsc"] < after["busy_tsc"]


def test_an_idle_lcore_has_no_busy_cycles() -> None:
    with running("[port.p]\ndevice = net_null0,no-rx=1\n[task.t]\ntype = io\nlcore = 1\n"
                 "rx = p:0\ntx = p:0\n") as wsdp:  # fmt: skip
        polls = wsdp.control.ask("lcores")["1"]["polls"]
        while (lcore := wsdp.control.ask("lcores")["1"])["polls"] < polls + 10**5:
            pass
        assert lcore["busy_tsc"] == lcore["busy_polls"] == 0
        assert lcore["total_tsc"] > 0


def test_ports_and_rings(flooded: Running) -> None:
    ports = flooded.control.ask("ports")
    counters = {"ipackets", "opackets", "ibytes", "obytes", "imissed", "ierrors", "oerrors",
                "rx_nombuf"}  # fmt: skip
    assert all(set(port) == {"device", "mtu", "link", *counters} for port in ports.values())
    assert ports["source"]["ipackets"] > 0
    assert ports["end"]["ipackets"] == 0
    assert ports["end"]["opackets"] > 0
    assert (ports["end"]["mtu"], ports["end"]["link"]) == (1500, 1)
    rings = flooded.control.ask("rings")
    assert rings["small"]["size"] == 8
    assert 0 <= rings["small"]["used"] <= 8


def test_set_changes_the_task_while_it_runs(flooded: Running) -> None:
    assert flooded.control.ask("set", "sut", "loss_every=1") == {"ok": 1}
    flooded.control.ask("reset")
    stats = flooded.control.await_stats(lambda now: now["sut"]["rx"] > 100000)
    assert stats["sut"]["discard"] >= stats["sut"]["rx"] - stats["sut"]["held"] - 2000
    assert flooded.control.ask("set", "sut", "loss_every=100") == {"ok": 1}


def test_reset_forgets_and_sets_the_gap_limit(flooded: Running) -> None:
    flooded.control.await_stats(lambda now: now["sut"]["rx"] > 10**6)
    ports_before = flooded.control.ask("ports")
    began_ns = time.monotonic_ns()
    assert flooded.control.ask("reset", "gap_limit_ns=777000") == {"ok": 1}
    after = flooded.control.ask("stats")
    lcores_after = flooded.control.ask("lcores")["1"]
    passed_ns = time.monotonic_ns() - began_ns
    assert lcores_after["total_ns"] < passed_ns
    assert lcores_after["gap_limit_ns"] in range(776999, 777001)
    assert closes(after["sut"])
    # A busy host may let more frames pass between two questions than before: ask until it does not.
    flooded.control.await_stats(lambda _: forgotten(flooded, ports_before))
    assert flooded.control.ask("reset", "gap_limit_ns=100000") == {"ok": 1}


def forgotten(wsdp: Running, ports_before: dict[str, Any]) -> bool:
    """Reset the counters; return whether those of tasks and ports began again."""
    wsdp.control.ask("reset")
    received = wsdp.control.ask("stats")["sut"]["rx"]
    ports = wsdp.control.ask("ports")
    return received < 10**6 and ports["source"]["ipackets"] < ports_before["source"]["ipackets"]


def sleeps(wsdp: Running) -> int:
    """Return how often lcore 1 has given up its CPU voluntarily."""
    tid = wsdp.control.ask("lcores")["1"]["tid"]
    status = Path(f"/proc/{wsdp.process.pid}/task/{tid}/status").read_text()
    found = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)
    assert found is not None
    return int(found[1])


def test_a_paused_poller_sleeps_and_still_moves_frames(flooded: Running) -> None:
    assert flooded.control.ask("reset", "gap_limit_ns=9000000") == {"ok": 1}
    assert flooded.control.ask("pause_pollers", "ns=10000000") == {"ok": 1}
    before, rx = sleeps(flooded), flooded.control.ask("stats")["sut"]["rx"]
    while sleeps(flooded) < before + 20:
        flooded.control.await_stats(lambda now: now["sut"]["rx"] > rx)
    # The sleeps are longer than the limit, but they are no gaps.
    assert len(flooded.export("gaps")["lcores"]["1"]["gaps"]) < 20
    assert flooded.control.ask("pause_pollers", "ns=0") == {"ok": 1}
    awake = sleeps(flooded)
    rx = flooded.control.ask("stats")["sut"]["rx"]
    flooded.control.await_stats(lambda now: now["sut"]["rx"] > rx + 10**6)
    assert sleeps(flooded) == awake
    assert flooded.control.ask("reset", "gap_limit_ns=100000") == {"ok": 1}


@pytest.mark.alone  # Both CPUs must answer each other within a second.
@pytest.mark.skipif(len(os.sched_getaffinity(0)) == 1, reason="needs two CPUs")
def test_placement_of_two_cpus_gives_latency_and_slowdown(flooded: Running) -> None:
    one, other, *_ = sorted(os.sched_getaffinity(0))
    found = flooded.control.ask("placement", f"{one},{other}")
    # No cache line crosses a server in less than a nanosecond or more than a few hundred.
    assert 1 <= found["core_to_core_ns"] < 100_000
    assert found["slowdown_pct"] > 50


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (("task", "nobody"), 'there is no task "nobody"; /wirespeed/info names them'),
        (("task",), 'there is no task ""; /wirespeed/info names them'),
        (("set", "out", "dst_mac=x"), "out: a task of type mac has nothing to set"),
        (("set", "sut", "rate=5"), "sut: set rate=5: Invalid argument"),
        (("set", "sut", "bucket_frames=0"), "sut: set bucket_frames=0: Numerical result out of "
         "range"),
        (("reset", "gap=5"),
         "reset gap=5: only gap_limit_ns=N with N from 1 to 1000000000 is known"),
        (("pause_pollers",), "pause_pollers : only ns=N with N up to 10000000 is known"),
        (("pause_pollers", "ns=10000001"),
         "pause_pollers ns=10000001: only ns=N with N up to 10000000 is known"),
        (("placement",), "placement : two CPUs are wanted, A,B"),
        (("placement", "0"), "placement 0: two CPUs are wanted, A,B"),
        (("placement", "0,1,2"), "placement 0,1,2: two CPUs are wanted, A,B"),
        (("placement", "0,0"), "placement 0,0: Invalid argument"),
        (("placement", "0,1023"), "placement 0,1023: Invalid argument"),
        (("contention",), "contention : Invalid argument"),
        (("contention", "duration_ns=5,cpu=0,cpu=0"),
         "contention duration_ns=5,cpu=0,cpu=0: Invalid argument"),
        (("contention", "duration_ns=5,cpu=1023"),
         "contention duration_ns=5,cpu=1023: Invalid argument"),
        (("contention", "duration_ns=5,core=1"),
         "contention duration_ns=5,core=1: Invalid argument"),
        (("contention_samples", "{absent}"),
         'contention_samples to "{absent}": No such file or directory'),
        (("switches",), "switches : Invalid argument"),
        (("switches", "tid=0"), "switches tid=0: Numerical result out of range"),
        (("switches", "tid=2147483647"),
         "switches tid=2147483647: No such process; there is no such thread on this host"),
        (("switches", "cpu=0", "cpu=0"), "switches cpu=0: Invalid argument"),
        (("switches", "core=0"), "switches core=0: Invalid argument"),
        (("switches_stop", "{absent}"), "switches_stop: nothing is watched; begin with switches"),
        (("gaps", "{absent}"), 'gaps to "{absent}": No such file or directory'),
        (("windows", "out", "{absent}"), 'out: windows to "{absent}": Operation not supported'),
        (("latency_rows", "sut", "{absent}"),
         'sut: latency_rows to "{absent}": Operation not supported'),
        (("set", "sut", "stall_every_ns=10,stall_ns=10"),
         "sut: set stall_every_ns=10,stall_ns=10: Numerical result out of range"),
        (("start", "rate_fps=5"), "there is nothing to start: no task generates"),
        (("histogram", "out", "{absent}"), 'out: histogram to "{absent}": Operation not supported'),
        (("capture", "out", "{absent}"), 'out: capture to "{absent}": Operation not supported'),
    ],
)  # fmt: skip
def test_faults_are_reported(flooded: Running, request_: tuple[str, ...], error: str) -> None:
    # The folder does not exist: nothing can be written in it. Telemetry cuts a text at 128 octets.
    absent = f"{flooded.directory}/absent/file"
    words = [word.replace("{absent}", absent) for word in request_]
    assert flooded.control.ask(*words) == {"error": error.replace("{absent}", absent)}


# Every command that takes numbers, with {} for one of them.
WITH_NUMBERS = [
    "reset,gap_limit_ns={}",
    "pause_pollers,ns={}",
    "placement,{},1",
    "placement,0,{}",
    "contention,after_ns={},duration_ns=1000000,cpu=0",
    "contention,duration_ns={},cpu=0",
    "contention,duration_ns=1000000,period_ns={},cpu=0",
    "contention,duration_ns=1000000,cpu={}",
    "switches,tid={}",
    "switches,cpu={}",
    *(
        f"start,{key}={{}}"
        for key in ("rate_fps", "duration_ns", "burst", "burst_span_ns", "catchup_ns", "trial",
                    "after_ns")
    ),
    *(
        f"set,gen,{key}={{}}"
        for key in ("rate_fps", "duration_ns", "burst", "burst_span_ns", "catchup_ns")
    ),
    *(
        f"set,sut,{key}={{}}"
        for key in ("rate_fps", "bucket_frames", "delay_ns", "loss_every", "stall_every_ns",
                    "stall_ns", "queue_frames")
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def generating() -> Iterator[Running]:
    with running(
        "[pool]\nmbufs = 4096\n[port.end]\ndevice = net_null0,no-rx=1\n[ring.a]\n"
        "[task.gen]\ntype = gen\nlcore = 1\ntx = ring:a\n"
        "[task.sut]\ntype = impair\nlcore = 1\nrx = ring:a\ntx = end:0\n"
    ) as wsdp:
        yield wsdp


@pytest.mark.parametrize("number", ["-1", "", "1x", str(2**64), "0x", " 1", "+1"])
@pytest.mark.parametrize("command", WITH_NUMBERS)
def test_numbers_are_read_whole_or_refused(generating: Running, command: str, number: str) -> None:
    reply = generating.control.ask(*command.format(number).split(","))
    assert reply.keys() == {"error"}, reply
    assert generating.control.ask("task", "gen")["running"] == 0


def test_many_clients_take_turns(flooded: Running) -> None:
    answers: list[bool] = []

    def client() -> None:
        with Control.connect(flooded.directory) as control:
            for _ in range(50):
                answers.append(closes(control.ask("stats")["sut"]))

    threads = [threading.Thread(target=client) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
    assert answers == [True] * 200


def test_every_command_of_the_reference_is_served(flooded: Running) -> None:
    reference = (REPOSITORY / "docs" / "reference" / "wsdp.md").read_text()
    documented = set(re.findall(r"^\| `(/wirespeed/\w+)", reference, re.MULTILINE))
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(DEADLINE_S)
    with connection:
        connection.connect(str(flooded.directory / "dpdk" / "t" / "dpdk_telemetry.v2"))
        connection.recv(65536)
        connection.send(b"/")
        served = set(re.findall(r"/wirespeed/\w+", connection.recv(65536).decode()))
    assert served == documented


def test_the_most_tasks_there_may_be_fit_into_a_reply() -> None:
    tasks = "".join(
        f"[ring.a_ring_of_24_letters_{i:02}]\nsize = 64\n"
        f"[task.a_task_of_24_letters_{i:02}]\ntype = io\nlcore = 1\n"
        f"rx = ring:a_ring_of_24_letters_{i:02}\n"
        f"tx = ring:a_ring_of_24_letters_{(i + 1) % 64:02}\n"
        for i in range(64)
    )
    with running("[pool]\nmbufs = 1024\n" + tasks) as wsdp:
        assert len(wsdp.control.ask("stats")) == 64
        assert len(wsdp.control.ask("info")["tasks"]) == 64
        assert len(wsdp.control.ask("rings")) == 64
