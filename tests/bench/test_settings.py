# SPDX-License-Identifier: Apache-2.0
"""Notice settings that change under a bench, and only those."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import cast

from wirespeed.bench.interface import Part, Poller
from wirespeed.bench.noise.settings import SettingsWatch
from wirespeed.bench.switch.ovs_dpdk.settings import counted_rules, ports, queues, rules
from wirespeed.model.change import ABSENT, Change
from wirespeed.remote.local import LocalRunner

CPUS = frozenset({1, 2})


class Switch:
    """A component with one polling thread and settings that a test sets."""

    def __init__(self, tid: int) -> None:
        self.told: dict[str, str] = {"Open vSwitch: rule in_port=1": "output:2"}
        self.tid = tid

    def pollers(self) -> tuple[Poller, ...]:
        return (Poller(self.tid, "pmd-c01", "sut", timed=False),)

    def settings(self) -> Mapping[str, str]:
        return dict(self.told)


def own(changes: tuple[Change, ...]) -> list[Change]:
    """Return the changes without those of this host, which other programs may change."""
    return [change for change in changes if not change.what.startswith("/")]


def test_settings_watch_real_thread_reniced_and_repinned_is_told() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as idle:
        part = Switch(idle.pid)
        watch = SettingsWatch(LocalRunner(), [cast(Part, part)], CPUS)
        watch.remember()
        assert own(watch.changes()) == []
        os.setpriority(os.PRIO_PROCESS, idle.pid, os.getpriority(os.PRIO_PROCESS, idle.pid) + 3)
        os.sched_setaffinity(idle.pid, {min(os.sched_getaffinity(0))})
        found = {change.what for change in own(watch.changes())}
        assert own(watch.changes()) == []
        idle.communicate(b"\n")
    one_cpu = len(os.sched_getaffinity(0)) == 1
    assert found == {"pmd-c01: nice"} | (set() if one_cpu else {"pmd-c01: CPUs"})


def test_settings_watch_rules_changed_added_and_removed_are_told() -> None:
    part = Switch(os.getpid())
    watch = SettingsWatch(LocalRunner(), [cast(Part, part)], CPUS)
    watch.remember()
    part.told = {"Open vSwitch: rule in_port=1": "drop", "Open vSwitch: rule in_port=2": "drop"}
    assert own(watch.changes()) == [
        Change("Open vSwitch: rule in_port=1", "output:2", "drop"),
        Change("Open vSwitch: rule in_port=2", ABSENT, "drop"),
    ]
    del part.told["Open vSwitch: rule in_port=2"]
    assert own(watch.changes()) == [Change("Open vSwitch: rule in_port=2", "drop", ABSENT)]


def test_settings_watch_thread_of_a_restarted_program_is_no_change() -> None:
    part = Switch(os.getpid())
    watch = SettingsWatch(LocalRunner(), [cast(Part, part)], CPUS)
    watch.remember()
    part.tid = 0
    assert own(watch.changes()) == []


def test_settings_watch_part_without_settings_is_passed_over() -> None:
    part = cast(Part, SimpleNamespace(pollers=tuple))
    watch = SettingsWatch(LocalRunner(), [part], CPUS)
    watch.remember()
    assert own(watch.changes()) == []


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


DESCRIBED = """OFPST_PORT_DESC reply (OF1.5) (xid=0x2):
 1(east): addr:56:48:4f:53:54:01
     config:     PORT_DOWN NO_FWD
     state:      LINK_DOWN
     speed: 10000 Mbps now, 0 Mbps max
 LOCAL(ws): addr:4e:2f:11:f7:18:45
     config:     0
     state:      LIVE
"""


def test_ports_configuration_bits_are_read() -> None:
    assert ports(DESCRIBED) == {"port east, config": "PORT_DOWN NO_FWD", "port ws, config": "0"}


def test_queues_cpu_of_each_is_read_without_its_load() -> None:
    shown = (
        "Displaying last 60 seconds pmd usage %\n"
        "pmd thread numa_id 0 core_id 1:\n  isolated : false\n"
        "  port: east              queue-id:  0 (enabled)   pmd usage: 93 %\n"
    )
    assert dict(queues(shown)) == {"queue 0 of east": "CPU 1 (enabled)"}


class Interrupts(LocalRunner):
    """A host with one interrupt that a test moves."""

    may_come_to = "0-3"

    def glob(self, *patterns: str) -> tuple[str, ...]:
        return ("/proc/irq/7/smp_affinity_list",) if len(patterns) > 1 else ()

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        return dict.fromkeys(paths, f"{self.may_come_to}\n")


def test_settings_watch_interrupt_moved_among_other_cpus_is_not_told() -> None:
    host = Interrupts()
    watch = SettingsWatch(host, [], CPUS)
    watch.remember()
    host.may_come_to = "1-2,9"
    assert watch.changes() == ()
    host.may_come_to = "0,3"
    [change] = watch.changes()
    assert (change.before, change.after) == ("1-2", "no polling CPU")
