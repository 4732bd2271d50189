# SPDX-License-Identifier: Apache-2.0
"""Read services from systemctl, and what tuned's profiles set from their files."""

from __future__ import annotations

import pytest

from tests.hosts.fake_runner import FakeRunner
from wirespeed.host.owners import ACTIVE, SERVICES, SHOW, read_services, read_tuned
from wirespeed.host.reader import Reader
from wirespeed.model.host.platform import Service, Tuned

SYSTEM = "/usr/lib/tuned/profiles"
# As tuned 2.25 ships them, shortened.
PROFILES = {
    f"{SYSTEM}/network-latency/tuned.conf": "#\n[main]\nsummary=low\n"
    "include=latency-performance\n\n[vm]\ntransparent_hugepages=never\n\n"
    "[sysctl]\nkernel.numa_balancing=0\n",
    f"{SYSTEM}/latency-performance/tuned.conf": "[main]\nsummary=x\n[cpu]\n"
    "uname_regex=x86_64\nforce_latency=cstate.id:1\ngovernor=performance\n[sysctl]\nvm.swappiness=10\n",
    f"{SYSTEM}/cpu-partitioning/tuned.conf": "[main]\ninclude=network-latency\n[variables]\n"
    "isolated_cores=${f:x:1-${max}}\n[my_sched]\ntype=scheduler\nisolated_cores=${isolated_cores}\n"
    "[bootloader]\ncmdline_cpu_part=+nohz=on${cmd_isolcpus}\n[irqbalance]\nbanned_cpus=${x}\n",
}


def reader_of(active: str | None, **files: str) -> Reader:
    runner = FakeRunner(name="host")
    runner.files.update(PROFILES | files)
    if active is not None:
        runner.files[ACTIVE] = active
    return Reader(runner)


def shown(**states: str) -> str:
    all_states = dict.fromkeys(SERVICES, "inactive") | states
    return "\n".join(f"Id={name}.service\nActiveState={all_states[name]}\n" for name in SERVICES)


def test_services_are_active_or_not() -> None:
    runner = FakeRunner(name="host")
    runner.answer(SHOW, shown(irqbalance="active", tuned="failed"))
    found = read_services(Reader(runner)) or ()
    assert Service("irqbalance", active=True) in found
    assert [each.name for each in found if each.active] == ["irqbalance"]
    assert len(found) == len(SERVICES)


@pytest.mark.parametrize(
    ("stdout", "stderr", "code", "reason"),
    [
        ("", "System has not been booted with systemd as init system\nFailed\n", 1,
         "systemctl: System has not been booted"),
        ("Id=tuned.service\n", "", 0, "prints no state of irqbalance, tuned"),
    ],
)  # fmt: skip
def test_services_that_systemd_does_not_tell_are_missing(
    stdout: str, stderr: str, code: int, reason: str
) -> None:
    runner = FakeRunner(name="host")
    runner.answer(SHOW, stdout, stderr, code)
    reader = Reader(runner)
    assert read_services(reader) is None
    assert reason in reader.missing[0].reason


def test_services_without_systemctl_are_missing() -> None:
    reader = Reader(FakeRunner(name="host"))
    assert read_services(reader) is None
    assert reader.missing[0].reason == "needs systemctl"


def test_tuned_profile_has_the_options_of_its_parents() -> None:
    reader = reader_of("cpu-partitioning\n")
    assert read_tuned(reader) == Tuned(
        ("cpu-partitioning",),
        (
            "bootloader.cmdline_cpu_part", "cpu.force_latency", "cpu.governor",
            "irqbalance.banned_cpus", "scheduler.isolated_cores", "sysctl.kernel.numa_balancing",
            "sysctl.vm.swappiness", "vm.transparent_hugepages",
        ),
    )  # fmt: skip
    assert reader.missing == ()


def test_tuned_profile_of_the_administrator_hides_the_distributions() -> None:
    own = {"/etc/tuned/latency-performance/tuned.conf": "[main]\n[disk]\nreadahead=1\n"}
    found = read_tuned(reader_of("latency-performance", **own))
    assert found == Tuned(("latency-performance",), ("disk.readahead",))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("[cpu]\nenabled=false\n", ("sysctl.vm.swappiness",)),
        ("[cpu]\nreplace=1\nboost=1\n", ("cpu.boost", "sysctl.vm.swappiness")),
        ("[cpu]\ndrop=governor\n", ("cpu.force_latency", "sysctl.vm.swappiness")),
    ],
)
def test_tuned_profile_takes_options_of_its_parents_away(
    text: str, options: tuple[str, ...]
) -> None:
    child = {"/etc/tuned/mine/tuned.conf": f"[main]\ninclude=latency-performance\n{text}"}
    assert read_tuned(reader_of("mine", **child)) == Tuned(("mine",), options)


def test_tuned_without_a_profile_is_none() -> None:
    assert read_tuned(reader_of(None)) is None
    assert read_tuned(reader_of("\n")) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "profile mine has no tuned.conf"),
        ("[main]\ninclude=mine\n", "includes itself"),
        ("governor=performance\n", "File contains no section headers"),
    ],
)
def test_tuned_profile_that_cannot_be_followed_is_missing(text: str | None, reason: str) -> None:
    reader = reader_of("mine", **({} if text is None else {"/etc/tuned/mine/tuned.conf": text}))
    read_tuned(reader)
    assert reason in reader.missing[0].reason
