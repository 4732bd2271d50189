# SPDX-License-Identifier: Apache-2.0
"""Notice settings that change under a bench, and only those."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import cast

import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.interface import BenchError, Part, Poller
from wirespeed.bench.noise import cgroups
from wirespeed.bench.noise.settings import Look, SettingsWatch, watched
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.bench.switch.ovs_dpdk.settings import (
    counted_rules,
    database,
    queues,
    rules,
    settings,
)
from wirespeed.model.result.change import ABSENT, Change
from wirespeed.remote.local import LocalRunner
from wirespeed.sources import unixctl

CPUS = frozenset({1, 2})


class Switch:
    """A component with one polling thread and settings that a test sets."""

    name = "Open vSwitch"

    def __init__(self, tid: int, programs: tuple[int, ...] = ()) -> None:
        self.told: dict[str, str] = {"Open vSwitch: rule in_port=1": "output:2"}
        self.tid, self.programs = tid, programs
        self.refuses = False

    def pollers(self) -> tuple[Poller, ...]:
        return (Poller(self.tid, "pmd-c01", "sut", timed=False),)

    def settings(self) -> Mapping[str, str]:
        if self.refuses:
            raise BenchError("the database refused to show the table Bridge")
        return dict(self.told)


def look(watch: SettingsWatch) -> Look:
    return watch.look(cgroups.read(watch.runner, watched(watch.parts)))


def own(changes: tuple[Change, ...]) -> list[Change]:
    """Return the changes without those of this host, which other programs may change."""
    return [change for change in changes if not change.what.startswith("/")]


@contextmanager
def idling(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program that waits, with these words on its command line."""
    command = [sys.executable, "-c", "print('waits', flush=True); input()", *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as idle:
        try:
            assert idle.stdout is not None
            assert idle.stdout.readline() == "waits\n"
            yield idle
        finally:
            idle.kill()


def renice(pid: int) -> None:
    """Change the niceness, which tests that run at 19 cannot raise."""
    now = os.getpriority(os.PRIO_PROCESS, pid)
    os.setpriority(os.PRIO_PROCESS, pid, now + 1 if now < 19 else now - 1)


def test_settings_watch_real_thread_reniced_and_repinned_is_reported() -> None:
    with idling() as idle:
        part = Switch(idle.pid)
        watch = SettingsWatch(LocalRunner(), [cast(Part, part)], CPUS)
        watch.remember()
        assert own(look(watch).changes) == []
        renice(idle.pid)
        os.sched_setaffinity(idle.pid, {min(os.sched_getaffinity(0))})
        found = {change.what for change in own(look(watch).changes)}
        assert own(look(watch).changes) == []
    one_cpu = len(os.sched_getaffinity(0)) == 1
    assert found == {"pmd-c01: nice"} | (set() if one_cpu else {"pmd-c01: CPUs"})


def test_settings_watch_rules_changed_added_and_removed_are_reported() -> None:
    part = Switch(os.getpid())
    watch = SettingsWatch(LocalRunner(), [cast(Part, part)], CPUS)
    watch.remember()
    part.told = {"Open vSwitch: rule in_port=1": "drop", "Open vSwitch: rule in_port=2": "drop"}
    assert own(look(watch).changes) == [
        Change("Open vSwitch: rule in_port=1", "output:2", "drop"),
        Change("Open vSwitch: rule in_port=2", ABSENT, "drop"),
    ]
    del part.told["Open vSwitch: rule in_port=2"]
    assert own(look(watch).changes) == [Change("Open vSwitch: rule in_port=2", "drop", ABSENT)]


def test_settings_watch_thread_of_a_restarted_program_is_no_change() -> None:
    part = Switch(os.getpid())
    watch = SettingsWatch(LocalRunner(), [cast(Part, part)], CPUS)
    watch.remember()
    part.tid = 0
    assert own(look(watch).changes) == []


def test_settings_watch_part_without_settings_is_passed_over() -> None:
    part = cast(Part, SimpleNamespace(name="bridge", pollers=tuple, programs=()))
    watch = SettingsWatch(LocalRunner(), [part], CPUS)
    watch.remember()
    assert own(look(watch).changes) == []


def test_settings_watch_part_that_refuses_is_not_known_and_no_change() -> None:
    part = Switch(os.getpid())
    watch = SettingsWatch(LocalRunner(), [cast(Part, part)], CPUS)
    watch.remember()
    part.refuses, part.told = True, {}
    found = look(watch)
    assert own(found.changes) == []
    assert found.unknown == (
        "settings of Open vSwitch are not known: the database refused to show the table Bridge",
    )
    part.refuses = False
    [change] = own(look(watch).changes)
    assert (change.before, change.after) == ("output:2", ABSENT)


def test_settings_watch_real_program_stopped_and_started_with_other_options_is_reported() -> None:
    part = Switch(0)
    watch = SettingsWatch(LocalRunner(), [cast(Part, part)], CPUS)
    with idling("--rxq=1") as idle:
        part.programs = (idle.pid,)
        watch.remember()
        idle.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, idle.pid, os.WSTOPPED)
        [stopped] = own(look(watch).changes)
    assert (stopped.what.endswith(": state"), stopped.after) == (True, "stopped")
    with idling("--rxq=4") as idle:
        part.programs = (idle.pid,)
        found = {each.what.rpartition(": ")[2]: each for each in own(look(watch).changes)}
    assert (found["--rxq"].before, found["--rxq"].after) == ("1", "4")


def test_settings_watch_real_thread_that_does_not_poll_is_watched_too() -> None:
    part = Switch(0)
    watch = SettingsWatch(LocalRunner(), [cast(Part, part)], CPUS)
    with idling() as idle:
        part.programs = (idle.pid,)
        watch.remember()
        renice(idle.pid)
        [change] = own(look(watch).changes)
    assert change.what.startswith("Open vSwitch/")
    assert change.what.endswith(": nice")


POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
STAT = "7 (wsdp) S " + " ".join(["0"] * 49)


@pytest.mark.parametrize(("mapped", "splits"), [(2048, False), (1024, True)])
def test_settings_watch_page_pool_splits_where_pages_of_the_bench_changed(
    mapped: int, splits: bool
) -> None:
    files = {
        POOL: "8\n", "/proc/mounts": "", "/proc/7/stat": STAT, "/proc/7/cmdline": "wsdp\0",
        "/proc/7/status": "HugetlbPages:\t    2048 kB\n",
    }  # fmt: skip
    watch = SettingsWatch(FakeHost(files), [cast(Part, Switch(0, (7,)))], CPUS)
    watch.remember()
    files[POOL] = "4\n"
    files["/proc/7/status"] = f"HugetlbPages:\t    {mapped} kB\n"
    [change] = look(watch).changes
    assert (change.what, change.splits) == (POOL, splits)


def test_settings_of_a_database_that_answers_an_error_raise_a_bench_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = {"error": "unknown column", "details": "No column stp_enable in table Bridge."}
    answers = [{"rows": []}, refused, None, None, None, None]
    monkeypatch.setattr(unixctl, "request", lambda *_: answers)
    control = Control(LocalRunner(), PurePosixPath("/nowhere"), "ws")
    with pytest.raises(BenchError, match=r"table Bridge: .*unknown column"):
        settings(control, (), "Open vSwitch")


SHOWN = (
    "duration=2s, n_packets=1994, n_bytes=119640, priority=100,in_port=1,dl_dst=02:01,"
    "actions=output:3\n"
    "cookie=0x7, duration=9s, n_packets=5, n_bytes=300, priority=1,in_port=1,actions=drop\n"
    "table_id=254, duration=2s, n_packets=0, n_bytes=0, priority=0,reg0=0x2,actions=drop\n"
)


def test_rules_counters_and_hidden_table_are_no_settings() -> None:
    assert rules(SHOWN) == {
        "rule priority=100,in_port=1,dl_dst=02:01": "output:3",
        "rule priority=1,in_port=1": "drop",
    }
    later = SHOWN.replace("1994", "2001").replace("duration=2s", "duration=7s")
    assert counted_rules(later).keys() == counted_rules(SHOWN).keys()


def test_queues_cpu_of_each_is_read_without_its_load() -> None:
    shown = (
        "Displaying last 60 seconds pmd usage %\n"
        "pmd thread numa_id 0 core_id 1:\n  isolated : false\n"
        "  port: east              queue-id:  0 (enabled)   pmd usage: 93 %\n"
    )
    assert dict(queues(shown)) == {"queue 0 of east": "CPU 1 (enabled)"}


def row(uuid: str, **columns: object) -> dict[str, object]:
    return {"_uuid": ["uuid", uuid], "_version": ["uuid", uuid], **columns}


def test_database_every_column_that_somebody_sets_is_read() -> None:
    found = dict(database({
        "Bridge": [row("b1", name="br", rstp_enable=True, sflow=["uuid", "abcdefgh99"],
                       rstp_status=["map", [["rstp_role", "Root"]]], datapath_type="netdev")],
        "sFlow": [row("abcdefgh99", sampling=1, targets=["set", ["lo:6343", "lo:6344"]])],
        "Port": [row("p1", name="east", tag=["set", []], statistics=["map", [["rx", 7]]])],
        "Mirror": [row("m1", name="all", output_port=["uuid", "p1"])],
        "Open_vSwitch": [row("o1", next_cfg=7, bridges=["uuid", "b1"],
                             other_config=["map", [["pmd-cpu-mask", "2"]]])],
    }))  # fmt: skip
    assert found == {
        "Bridge br, rstp_enable": "True",
        "Bridge br, datapath_type": "netdev",
        "Bridge br, sflow": "sFlow abcdefgh",
        "sFlow abcdefgh, sampling": "1",
        "sFlow abcdefgh, targets": "lo:6343 lo:6344",
        "Mirror all, output_port": "Port east",
        "Open_vSwitch, other_config:pmd-cpu-mask": "2",
    }


class Interrupts(LocalRunner):
    """A host with one interrupt that a test moves."""

    may_come_to = "0-3"

    def glob(self, *patterns: str) -> tuple[str, ...]:
        return ("/proc/irq/7/smp_affinity_list",) if len(patterns) > 1 else ()

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        return dict.fromkeys(paths, f"{self.may_come_to}\n")


def test_settings_watch_interrupt_moved_among_other_cpus_is_not_reported() -> None:
    host = Interrupts()
    watch = SettingsWatch(host, [], CPUS)
    watch.remember()
    host.may_come_to = "1-2,9"
    assert look(watch).changes == ()
    host.may_come_to = "0,3"
    [change] = look(watch).changes
    assert (change.before, change.after) == ("1-2", "no polling CPU")
