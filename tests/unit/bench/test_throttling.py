# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from unittest.mock import Mock

from tests.unit.bench.fake_host import FakeHost
from tests.unit.measure.test_gate import COUNT, DRAINED, GEOMETRY, MS
from wirespeed.bench.interface import Poller
from wirespeed.bench.noise.throttling import throttle_counts, throttled
from wirespeed.bench.threads import HostThreads
from wirespeed.measure.gate import gate
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Evidence, Source
from wirespeed.model.result.reason import Reason, reason_of
from wirespeed.model.result.trial import LeftOut

S = 1_000_000_000
CORE = "/sys/devices/system/cpu/cpu{}/thermal_throttle/core_throttle_count"
PACKAGE = "/sys/devices/system/cpu/cpu{}/thermal_throttle/package_throttle_count"
PROC = {
    "/proc/stat": "cpu1 0 0 0 0 0 0 0 0\nbtime 5\n", "/proc/mounts": "",
    "/proc/loadavg": "0 0 0 1/1 9", "/proc/7/task/7/schedstat": "5 0 1",
    "/proc/7/task/7/status": "State:\tR (running)\nTracerPid:\t0\n",
    "/proc/7/task/7/stat": "7 (pmd) R " + " ".join(["1" if i == 35 else "0" for i in range(50)]),
}  # fmt: skip


def counts(core: int, package: int, cpu: int = 1) -> dict[str, str]:
    return {CORE.format(cpu): f"{core}\n", PACKAGE.format(cpu): f"{package}\n"}


def hot(count: int, length_ns: int = S) -> Disturbance:
    return Disturbance(
        1, 0, length_ns, DisturbanceKind.THROTTLED, Source.THROTTLE_COUNTS, "sut", count
    )


def test_throttled_cpu_is_the_one_whose_count_rose() -> None:
    before = throttle_counts(FakeHost({**counts(4, 9), **counts(7, 9, cpu=0)}), {0, 1})
    after = throttle_counts(FakeHost({**counts(6, 12), **counts(7, 9, cpu=0)}), {0, 1})
    found = list(throttled(before, after, {0: "generator", 1: "sut"}, S))
    assert found == [hot(3)]


def test_throttle_counts_of_a_machine_without_the_files_show_nothing() -> None:
    none = throttle_counts(FakeHost({}), {0, 1})
    assert not none
    assert not list(throttled(none, none, {1: "sut"}, S))


def test_host_threads_report_throttling_between_the_two_looks() -> None:
    files = PROC | counts(4, 9)
    part = Mock(pollers=lambda: (Poller(7, "pmd", "sut", timed=False),), programs=(7,), busy=dict)
    threads = HostThreads("", FakeHost(files), (part,), frozenset({1}))
    threads.before_traffic()
    files.update(counts(6, 9))
    threads.after_traffic()
    assert threads.disturbances(1.0) == (hot(2),)


def test_gate_throttled_trial_is_excluded_for_heat() -> None:
    mask = gate(Evidence((hot(1, COUNT * MS),)), GEOMETRY, DRAINED)
    assert mask.left_out == (LeftOut(Reason.THERMAL_THROTTLING, 1.0),)
    assert reason_of(hot(1)) is Reason.THERMAL_THROTTLING
