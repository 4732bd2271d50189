# SPDX-License-Identifier: Apache-2.0
"""Differences of hosts and plans, as a host can try them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.apply_plans import lab_plan
from tests.unit.tune.test_host_factors import Files
from wirespeed.model.plan.plan import Decision, Plan
from wirespeed.model.study.spec import Frames
from wirespeed.study.expand import parameters
from wirespeed.tune.differences import Difference, Level, at_point
from wirespeed.tune.host_differences import host_differences
from wirespeed.tune.plan_differences import plan_differences

GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"


@pytest.fixture
def runner(tmp_path: Path) -> Files:
    files = Files(tmp_path)
    for path, text in (
        (GOVERNOR, "powersave\n"),
        (GOVERNOR.replace("scaling_governor", "scaling_available_governors"), "powersave fast\n"),
        (TURBO, "0\n"),
        ("/sys/devices/system/cpu/cpu0/online", ""),
        ("/sys/devices/system/cpu/cpu1/online", ""),
    ):
        file = tmp_path / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return files


def test_host_differences_governor_and_turbo_are_files(runner: Files) -> None:
    one = {"governor": "powersave", "turbo": "on"}
    tried, left = host_differences(one, {"governor": "fast", "turbo": "off"}, runner)
    assert [each.level_b.host for each in tried] == [{GOVERNOR: "fast"}, {TURBO: "1"}]
    assert tried[0].level_a.host == {GOVERNOR: "powersave"}
    assert not left


@pytest.mark.parametrize(
    ("name", "a", "b", "why"),
    [
        ("governor", "powersave", "schedutil", "no governor schedutil"),
        ("governor", "powersave", "fast on 3 CPUs, powersave on 1 CPUs", "or several"),
        ("turbo", None, "on", "does not report it"),
        ("BIOS", "1", "2", "hardware or firmware"),
        ("isolated CPUs", "1-3", "none", "reboot"),
        ("Open vSwitch emc-insert-inv-prob", "50", "100", "same value here"),
        ("Open vSwitch pmd-sleep-max", "0:50", "50", "not one number"),
        ("something", "1", "2", "nothing here sets it"),
    ],
)
def test_host_differences_that_cannot_be_tried_have_the_reason(
    runner: Files, name: str, a: str | None, b: str, why: str
) -> None:
    ours = {} if a is None else {name: a}
    tried, left = host_differences(ours, {name: b}, runner)
    assert not tried
    assert why in left[0].why


def test_host_differences_without_open_vswitch_tries_none_of_its_keys(runner: Files) -> None:
    one = {"Open vSwitch": "none"}
    tried, left = host_differences(
        one, {"Open vSwitch": "3.5", "Open vSwitch smc-enable": "true"}, runner
    )
    assert not tried
    assert [each.why for each in left] == [
        "this host has one version of Open vSwitch", "one of them has no Open vSwitch",
    ]  # fmt: skip


def housed(*cpus: int) -> Plan:
    plan = lab_plan()
    host = plan.hosts[0]
    assert host.cores is not None
    cores = replace(host.cores, housekeeping=Decision(cpus, "of the test"))
    return replace(plan, hosts=(replace(host, cores=cores),))


def test_plan_differences_of_interrupts_are_files(runner: Files) -> None:
    tried, left = plan_differences(housed(0), housed(0, 1), runner, "here")
    assert [each.level_b.host for each in tried] == [{"/proc/irq/7/smp_affinity_list": "0-1"}]
    assert not left
    _, left = plan_differences(housed(0), housed(0, 9), runner, "here")
    assert left[0].why == "this host has no CPU 9"


def test_plan_differences_of_the_switch_are_keys_of_a_study(runner: Files) -> None:
    first = housed(0)
    host = first.hosts[0]
    assert host.vswitch is not None
    vswitch = replace(
        host.vswitch, socket_memory_mib=Decision((512, 2048), "of the test"),
        pmd_cpus=Decision((1, 2), "of the test"), main_cpus=Decision((3,), "of the test"),
    )  # fmt: skip
    second = replace(first, hosts=(replace(host, vswitch=vswitch),))
    tried, left = plan_differences(first, second, runner, "here")
    assert [each.level_b.sets for each in tried] == [
        {"sut.vswitch.socket_memory_mib": 2048}, {"sut.vswitch.pmd_cpus": [1, 2]},
    ]  # fmt: skip
    assert [each.why for each in left] == ["no key of a study sets it (restart Open vSwitch)"]


def test_plan_differences_of_another_host_are_left(runner: Files) -> None:
    first = housed(0)
    second = replace(first.hosts[0], host="second")
    assert second.vswitch is not None
    changed = replace(second, vswitch=replace(second.vswitch, mtu=Decision(2000, "of the test")))
    a, b = (replace(first, hosts=(first.hosts[0], each)) for each in (second, changed))
    tried, left = plan_differences(a, b, runner, "lab1")
    assert not tried
    assert left[0].why == "it is of another host than this one"
    assert plan_differences(a, b, runner, "second")[0]


def test_at_point_sets_the_first_sides_values_and_both_sides_files() -> None:
    found = (
        Difference("queues", 2, 1, Level({"sut.vswitch.rx_queues": 2}),
                   Level({"sut.vswitch.rx_queues": 1})),
        Difference("file", "0", "1", Level(host={"/sys/a": "0"}), Level(host={"/sys/a": "1"})),
        Difference("bad", 1, 0, Level({"sut.vswitch.rx_queues": 1}),
                   Level({"sut.vswitch.rx_queues": 0})),
    )  # fmt: skip
    made = at_point(parameters(Frames()), found, (), lambda _workload: None)
    assert [each.key for each in made.tried] == ["queues", "file"]
    assert "bad" in made.left[0].name
    start, both = made.setting(frozenset()), made.setting(frozenset({0, 1}))
    for setting, queues, text in ((start, 2, "0"), (both, 1, "1")):
        assert setting.workload.frames is not None
        assert setting.workload.frames.sut.vswitch.rx_queues == queues
        assert setting.host == {"/sys/a": text}
