# SPDX-License-Identifier: Apache-2.0
"""Account for the time of threads, quotas and interrupts, from what the kernel counts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.interface import Poller
from wirespeed.bench.noise import cgroups
from wirespeed.bench.noise.interrupts import (
    disturbances,
    since,
    with_softirq_time,
)
from wirespeed.bench.threads import HostThreads
from wirespeed.model.result.evidence import DisturbanceKind
from wirespeed.model.result.thread_time import CpuInterrupts, SutCpu, ThreadTime, Throttle
from wirespeed.remote.local import LocalRunner
from wirespeed.sources.interrupts import read_interrupts
from wirespeed.sources.scheduler import (
    Snapshot,
    Treatment,
    snapshot,
    softirq_by_cpu,
    time_between,
)

S, MS = 1_000_000_000, 1_000_000
RUNNING, STOPPED = "R (running)", "T (stopped)"


def spent(
    on_cpu_ns: int, waited_ns: int = 0, left: int = 0, state: str = RUNNING, elapsed_ns: int = S
) -> ThreadTime:
    before = Treatment(1, 0, 0, 0, 0, RUNNING, 0)
    after = Treatment(1, 0, left, on_cpu_ns, waited_ns, state, 0)
    return time_between(Snapshot({7: before}, 0, 0), Snapshot({7: after}, 0, elapsed_ns), 7)


def test_time_of_a_thread_that_slept_in_short_stretches_is_asleep() -> None:
    found = spent(700 * MS, 100 * MS, left=200)
    assert (found.waiting_ns, found.asleep_ns, found.stopped_ns) == (100 * MS, 200 * MS, 0)


def test_time_of_a_thread_that_was_away_for_long_is_stopped() -> None:
    found = spent(700 * MS, 100 * MS, left=1)
    assert (found.asleep_ns, found.stopped_ns) == (0, 200 * MS)


def test_time_of_a_thread_still_stopped_is_stopped_however_often_it_left() -> None:
    assert spent(700 * MS, left=1000, state=STOPPED).stopped_ns == 300 * MS


def test_time_that_is_missing_of_a_ready_thread_is_a_wait_without_end() -> None:
    """The kernel adds a wait to its sum when it ends."""
    found = spent(400 * MS, 100 * MS)
    assert (found.waiting_ns, found.away_ns) == (600 * MS, 0)


SPIN = "print('spins', flush=True)\nwhile True: pass"


def test_time_of_a_real_process_stopped_by_a_signal_is_stopped() -> None:
    runner = LocalRunner()
    with subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE, text=True) as spins:
        try:
            assert spins.stdout is not None
            assert spins.stdout.readline() == "spins\n"
            before = snapshot(runner, [spins.pid], [])
            spins.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, spins.pid, os.WSTOPPED)
            time.sleep(0.3)  # The stretch that is to be found.
            found = time_between(before, snapshot(runner, [spins.pid], []), spins.pid)
        finally:
            spins.kill()
    assert found.state == STOPPED
    assert found.stopped_ns >= 250 * MS


CALLS = """
import os
zeros = os.open('/dev/zero', os.O_RDONLY)
print('calls', flush=True)
while True: os.read(zeros, 1 << 20)
"""


def test_time_of_a_real_process_that_calls_the_kernel_is_kernel_time() -> None:
    runner = LocalRunner()
    command = [sys.executable, "-c", CALLS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as calls:
        try:
            assert calls.stdout is not None
            assert calls.stdout.readline() == "calls\n"
            before = snapshot(runner, [calls.pid], [])
            found = time_between(before, snapshot(runner, [calls.pid], []), calls.pid)
            while not found.kernel_ns:  # A tick samples it.
                time.sleep(0.01)
                found = time_between(before, snapshot(runner, [calls.pid], []), calls.pid)
        finally:
            calls.kill()
    assert 0 < found.kernel_ns <= found.on_cpu_ns


TOUCHES = """
import contextlib, mmap
memory = mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
with contextlib.suppress(OSError):  # a kernel without such pages (a real-time one) knows no advice
    memory.madvise(mmap.MADV_NOHUGEPAGE)
print('waits', flush=True)
input()
for at in range(0, 8 << 20, 4096): memory[at] = 1
print('touched', flush=True)
input()
"""


def test_page_faults_of_a_real_process_are_counted() -> None:
    runner, pages = LocalRunner(), (8 << 20) // 4096
    with subprocess.Popen(
        [sys.executable, "-c", TOUCHES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as touches:
        try:
            assert touches.stdout is not None
            assert touches.stdin is not None
            assert touches.stdout.readline() == "waits\n"
            before = snapshot(runner, [touches.pid], [])
            print(file=touches.stdin, flush=True)
            assert touches.stdout.readline() == "touched\n"
            found = time_between(before, snapshot(runner, [touches.pid], []), touches.pid)
        finally:
            touches.kill()
    assert found.minor_faults >= pages


V1 = {
    "/proc/mounts": "cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0\n",
    "/proc/7/task/7/cgroup": "2:cpuset:/\n1:cpu:/a/b\n0::/\n",
    "/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us": "-1\n",
    "/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/cpu/a/b/cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
    "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "30000\n",
    "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/cpu/a/cpu.stat": "nr_periods 9\nnr_throttled 5\nthrottled_time 350000000\n",
}
V2 = {
    "/proc/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n",
    "/proc/7/task/7/cgroup": "0::/a/b\n",
    "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
    "/sys/fs/cgroup/a/b/cpu.stat": "usage_usec 1\nnr_throttled 0\nthrottled_usec 0\n",
    "/sys/fs/cgroup/a/cpu.max": "30000 100000\n",
    "/sys/fs/cgroup/a/cpu.stat": "usage_usec 1\nnr_throttled 5\nthrottled_usec 350000\n",
}


@pytest.mark.parametrize("files", [V1, V2], ids=["v1", "v2"])
def test_throttled_since_of_an_ancestor_that_was_reached_is_named(files: dict[str, str]) -> None:
    before = cgroups.read(FakeHost(files), [7])
    stat = next(path for path in files if path.endswith("/a/cpu.stat"))
    later = files[stat].replace("throttled 5", "throttled 8").replace("350000", "650000")
    after = cgroups.read(FakeHost({**files, stat: later}), [7])
    assert after.throttled_since(before, 7) == Throttle("/a", 30_000, 100_000, 3, 300 * MS)
    assert before.throttled_since(before, 7) is None


def frozen_files(state: str) -> dict[str, str]:
    return {
        "/proc/mounts": "cgroup /sys/fs/cgroup/freezer cgroup rw,freezer 0 0\n"
        "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
        "/proc/7/task/7/cgroup": "6:freezer:/a\n0::/b/c\n",
        "/sys/fs/cgroup/freezer/a/freezer.state": "FROZEN" if state == "v1" else "THAWED",
        "/sys/fs/cgroup/unified/b/cgroup.events": f"populated 1\nfrozen {int(state == 'v2')}\n",
        "/sys/fs/cgroup/unified/b/cgroup.stat.local":
        f"frozen_usec {900 if state == 'thawed' else 0}\n",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("state", "cgroup"), [("none", ""), ("v1", "/a"), ("v2", "/b"), ("thawed", "/b")]
)
def test_frozen_since_freezer_of_a_thread_is_named(state: str, cgroup: str) -> None:
    before = cgroups.read(FakeHost(frozen_files("none")), [7])
    after = cgroups.read(FakeHost(frozen_files(state)), [7])
    assert after.frozen_since(before, 7) == cgroup


@pytest.mark.parametrize(
    ("time", "named"),
    [
        (ThreadTime(S, 0, 0, S, 1, "t (tracing stop)", "gdb, PID 9"), "gdb, PID 9, traced it"),
        (ThreadTime(S, 0, 0, S, 1, "S (sleeping)", frozen="/a"), "its cgroup /a was frozen"),
        (ThreadTime(S, 0, 0, S, 1, "T (stopped)"), "SIGSTOP"),
        (ThreadTime(S, 0, 0, S, 1, "D (disk sleep)"), "waited in the kernel"),
    ],
)
def test_stopped_by_is_as_exact_as_the_kernel_tells(time: ThreadTime, named: str) -> None:
    assert named in time.stopped_by
    assert time.stopped_ns == S


def test_stopped_by_of_a_thread_that_runs_again_is_not_known() -> None:
    assert ThreadTime(S, 0, 0, S, 1, RUNNING).stopped_by == ""


HARD = """           CPU0       CPU1
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
LOC:         10         20   Local timer interrupts
ERR:          0
"""
SOFT = """                    CPU0       CPU1
      NET_RX:          7          9
"""


def test_interrupts_by_cpu_are_named_by_their_source() -> None:
    quiet = FakeHost({"/proc/interrupts": HARD, "/proc/softirqs": SOFT})
    noisy = {"/proc/interrupts": HARD.replace(" 20 ", " 90020 "), "/proc/softirqs": SOFT}
    before, after = read_interrupts(quiet, {1}), read_interrupts(FakeHost(noisy), {1})
    assert before == {
        (1, "interrupt 24 of ACPI:Ged"): 0,
        (1, "Local timer interrupts"): 20,
        (1, "softirq NET_RX"): 9,
    }
    [found] = since(before, after, 2.0)
    assert found == CpuInterrupts(1, "Local timer interrupts", 90_000, 45_000.0)
    [made] = disturbances([found], {1: "sut"}, S)
    assert (made.kind, made.cpu, made.length_ns) == (DisturbanceKind.INTERRUPTED, 1, S)
    assert disturbances([found], {0: "generator"}, S) == ()


def test_cpu_time_of_the_sut_is_that_of_its_cpus_with_softirqs_elsewhere() -> None:
    files = {"/proc/interrupts": HARD, "/proc/softirqs": SOFT}
    busy = "cpu  0 0 0 0 0 0 0 0\ncpu0 {0} 0 {1} 9 9 {2} {3} 9\ncpu1 {4} 1 0 9 9 0 {5} 9\nbtime 5\n"
    for carries in (True, False):
        threads = host_threads(files, kernel_carries=carries, forwards=frozenset({1}))
        files["/proc/stat"] = busy.format(1, 1, 1, 1, 1, 1)
        threads.before_traffic()
        files["/proc/stat"] = busy.format(90, 90, 90, 21, 51, 11)
        threads.after_traffic()
        tick = 10_000_000
        assert threads.sut_cpu == SutCpu(60 * tick, 10 * tick, 20 * tick if carries else 0)
    assert SutCpu(60 * tick, 10 * tick, 20 * tick).per_million_s(400_000) == pytest.approx(2.0)
    assert host_threads(files).sut_cpu is None


def stat(softirq: int, tick: int = 0) -> str:
    return f"cpu  0 0 0 0 0 0 0 0\ncpu1 {tick} 0 0 0 0 0 {softirq} 0\nbtime 5\n"


@pytest.mark.parametrize(("ticks", "share"), [(12, 0.12), (4, 0.0)])
def test_with_softirq_time_is_of_the_most_frequent_kind(ticks: int, share: float) -> None:
    counts = {"Local timer interrupts": 900, "softirq NET_RX": 70, "softirq RCU": 9}
    seen = [CpuInterrupts(1, source, count, count) for source, count in counts.items()]
    before = Snapshot({}, 0, 0, softirq_by_cpu(stat(100)))
    after = Snapshot({}, 0, S, softirq_by_cpu(stat(100 + ticks)))
    found = {each.source: each.time_share for each in with_softirq_time(seen, before, after)}
    assert found == {
        "Local timer interrupts": 0.0, "softirq NET_RX": pytest.approx(share), "softirq RCU": 0.0,
    }  # fmt: skip


def test_disturbances_of_softirqs_that_take_much_time_are_reported() -> None:
    much = CpuInterrupts(1, "softirq NET_RX", 70, 70.0, time_share=0.12)
    assert [made.cpu for made in disturbances([much], {1: "sut"}, S)] == [1]
    assert disturbances([replace(much, time_share=0.01)], {1: "sut"}, S) == ()


TASK = "/proc/7/task/7"


def task(ran: int = 0, cpu: int = 0, name: str = "pmd") -> str:
    """Return a thread's stat file: the ticks that it ran, and its CPU (proc_pid_stat(5))."""
    fields = ["0"] * 50
    fields[10], fields[35] = str(ran), str(cpu)
    return f"7 ({name}) R " + " ".join(fields)


def host_threads(files: dict[str, str], **more: Any) -> HostThreads:
    files.update({
        "/proc/stat": stat(0), "/proc/mounts": "", "/proc/loadavg": "0 0 0 1/1 9",
        f"{TASK}/status": "State:\tR (running)\nTracerPid:\t99\n",
        f"{TASK}/schedstat": "5 0 1", f"{TASK}/stat": task(),
    })  # fmt: skip
    part = Mock(pollers=lambda: (Poller(7, "pmd", "sut", timed=False),), programs=(7,), busy=dict)
    return HostThreads("", FakeHost(files), (part,), frozenset({0, 1}), **more)


@pytest.mark.parametrize("kernel_carries", [False, True])
def test_softirqs_of_a_path_that_the_kernel_carries_are_no_interruption(
    kernel_carries: bool,
) -> None:
    files = {"/proc/interrupts": HARD, "/proc/softirqs": SOFT}
    threads = host_threads(files, kernel_carries=kernel_carries)
    threads.before_traffic()
    files["/proc/softirqs"] = SOFT.replace(" 9", " 90009")
    threads.after_traffic()
    found = [each.source for each in threads.interrupts]
    assert found == ([] if kernel_carries else ["softirq NET_RX"])


def test_competitors_thread_of_a_program_restarted_meanwhile_is_none() -> None:
    """Its polling threads are new, and nobody knows them yet."""
    files = {"/proc/7/task/8/stat": task(ran=10, name="telemetry")}
    threads = host_threads(files)
    threads.before_traffic()
    files["/proc/7/task/8/stat"] = task(ran=60, name="telemetry")
    files["/proc/7/task/9/stat"] = task(ran=60, name="rte-worker-1")
    threads.after_traffic()
    assert {each.name for each in threads.competitors() if each.own} == {"telemetry"}


@pytest.mark.parametrize("kernel_carries", [False, True])
def test_threads_that_the_kernel_carries_frames_for_call_it_on_purpose(
    kernel_carries: bool,
) -> None:
    threads = host_threads({}, kernel_carries=kernel_carries)
    threads.before_traffic()
    threads.after_traffic()
    (found,) = threads.threads(1.0)
    assert found.calls_kernel is kernel_carries


def test_tracer_that_has_ended_is_named_by_its_pid() -> None:
    threads = host_threads({})
    threads.before_traffic()
    threads.after_traffic()
    (found,) = threads.threads(1.0)
    assert found.time is not None
    assert found.time.tracer == "PID 99"
