# SPDX-License-Identifier: Apache-2.0
"""Keep proven settings on the simulated host, cut it anywhere, and restore it."""

from __future__ import annotations

import errno

import pytest

from tests.support.apply_plans import SMALL, plan_for
from tests.support.effort import effort
from tests.support.fake_host import Cut, FakeHost, no_sleep
from tests.unit.apply.test_cuts import KINDS
from wirespeed.apply import session
from wirespeed.apply.journal import PATH
from wirespeed.apply.keep import Kept, Proven, check_can_keep, keep
from wirespeed.apply.step import State
from wirespeed.apply.steps.boot_unit import KEPT
from wirespeed.apply.steps.kernel_files import KernelFiles
from wirespeed.apply.target import Refused
from wirespeed.remote.interface import HostLost

HOST = "ssh://lab1"
GOVERNOR = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
GOVERNORS = Proven("CPU governor", {GOVERNOR.format(cpu): "performance" for cpu in (2, 3)}, "fast")
# The disk's interrupt cannot be moved: the kernel refuses.
IRQS = Proven(
    "IRQ affinity", {f"/proc/irq/{number}/smp_affinity_list": "0" for number in (40, 25)}, "quiet"
)


def kept(host: FakeHost, *proven: Proven) -> Kept:
    return keep(host.reach, HOST, proven or (GOVERNORS, IRQS))


def roll_back(host: FakeHost) -> None:
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.failed, undone


def governor(host: FakeHost, cpu: int) -> str:
    return host.kernel.governors[cpu]


def test_keep_sets_files_and_rollback_restores_them() -> None:
    host = FakeHost()
    before = host.state()
    done = kept(host)
    assert [result.state for result in done.results[:2]] == [State.DONE, State.PARTLY]
    assert governor(host, 2) == governor(host, 3) == "performance"
    assert host.kernel.irqs[40][1] == "0"
    roll_back(host)
    assert host.state() == before


def test_keep_survives_a_reboot_but_for_interrupts() -> None:
    host = FakeHost()
    before = host.state()
    done = kept(host)
    assert [name for name in done.until_reboot if "irq" in name] == list(done.until_reboot)
    host.reboot()
    assert governor(host, 2) == "performance"
    assert host.kernel.irqs[40][1] != "0"
    roll_back(host)
    assert host.state() == before


def test_keep_twice_keeps_both_over_a_reboot() -> None:
    host = FakeHost()
    kept(host, GOVERNORS)
    kept(host, Proven("more", {GOVERNOR.format(5): "performance"}, "fast"))
    host.reboot()
    assert [governor(host, cpu) for cpu in (2, 3, 5)] == ["performance"] * 3


def test_keep_without_systemd_lasts_until_the_reboot() -> None:
    host = FakeHost()
    host.disk.remove_tree("/run/systemd")
    done = kept(host, GOVERNORS)
    assert not done.failed
    assert done.until_reboot
    assert len(done.results) == 1


def test_keep_and_a_plan_leave_each_other_alone() -> None:
    host = FakeHost()
    before = host.state()
    plan = plan_for(host, SMALL)
    session.apply(host.reach, HOST, plan, may_reboot=True, sleep=no_sleep)
    planned = dict(host.kernel.governors)
    kept(host, Proven("governor", {GOVERNOR.format(0): "performance"}, "fast"))
    again = session.apply(host.reach, HOST, plan, may_reboot=True, sleep=no_sleep)
    assert not any(result.changed for result in again.results)
    assert host.kernel.governors == {**planned, 0: "performance"}
    roll_back(host)
    assert host.state() == before


def test_keep_interrupt_of_another_device_after_a_reboot_is_left_alone() -> None:
    host = FakeHost()
    kept(host, Proven("IRQ affinity", {"/proc/irq/40/smp_affinity_list": "0"}, "quiet"))
    host.reboot()
    host.kernel.irqs[40] = ["another-device", "3", True]
    host.kernel.changed()
    with host.reach(HOST, sudo=True) as runner:
        assert runner.read("/sys/kernel/irq/40/actions") == "another-device\n"
    session.undo(host.reach, HOST, may_reboot=False, sleep=no_sleep)
    assert host.kernel.irqs[40][1] == "3"


def test_keep_interrupt_that_another_device_has_since_is_recorded_and_restored() -> None:
    host = FakeHost()
    again = Proven("IRQ affinity", {"/proc/irq/40/smp_affinity_list": "0"}, "quiet")
    kept(host, again)
    host.reboot()
    host.kernel.irqs[40] = ["another-device", "3", True]
    host.kernel.changed()
    kept(host, again)
    assert host.kernel.irqs[40][1] == "0"
    session.undo(host.reach, HOST, may_reboot=False, sleep=no_sleep)
    assert host.kernel.irqs[40][1] == "3"


def test_keep_again_sets_the_proven_value_at_boot_and_reports_the_changed_one() -> None:
    host = FakeHost()
    kept(host, GOVERNORS)
    host.kernel.governors[2] = "ondemand"
    host.kernel.changed()
    done = kept(host, Proven("more", {GOVERNOR.format(5): "performance"}, "fast"))
    [changed] = [result for result in done.results if "changed after" in result.note]
    assert changed.state is State.REBOOT
    assert "ondemand" in changed.old
    assert not done.failed
    assert governor(host, 2) == "ondemand"
    host.reboot()
    assert [governor(host, cpu) for cpu in (2, 3, 5)] == ["performance"] * 3


def test_keep_again_without_changes_reports_no_earlier_setting() -> None:
    host = FakeHost()
    kept(host, GOVERNORS)
    done = kept(host, Proven("more", {GOVERNOR.format(5): "performance"}, "fast"))
    assert not [result for result in done.results if result.note]


def test_keep_value_that_the_host_refuses_is_not_set_by_a_later_boot_unit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = FakeHost()

    def refuse(*_words: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    with monkeypatch.context() as patched:
        patched.setattr(KernelFiles, "make", refuse)
        assert kept(host, Proven("governor", {GOVERNOR.format(2): "no-such"}, "fast")).failed
    kept(host, Proven("more", {GOVERNOR.format(5): "performance"}, "fast"))
    with host.reach(HOST, sudo=True) as runner:
        script = runner.read(KEPT.script)
    assert GOVERNOR.format(5) in script
    assert GOVERNOR.format(2) not in script


def changes() -> int:
    host = FakeHost()
    kept(host)
    return host.changes


def test_keep_cut_anywhere_is_undone_by_rollback() -> None:
    before = FakeHost().state()
    seen = 0
    cases = [
        Cut(at, when, what) for at in range(1, changes() + 1) for when, what in KINDS
    ]  # fmt: skip
    for cut in cases[:: effort(5, 1)]:
        host = FakeHost(cut=cut)
        try:
            kept(host)
        except HostLost:
            seen += 1
        roll_back(host)
        assert host.state() == before, cut
    assert seen


def test_keep_damaged_journal_is_refused_before_a_measurement() -> None:
    host = FakeHost()
    kept(host, GOVERNORS)
    host.disk.write(PATH, "not a journal\n")
    with pytest.raises(Refused, match="damaged"):
        check_can_keep(host.reach, HOST)


def test_keep_locked_host_is_refused() -> None:
    host = FakeHost()
    with (
        host.reach(HOST, sudo=True) as runner,
        runner.lock("/run/wirespeed-apply.lock"),
        pytest.raises(Refused, match="another apply"),
    ):
        check_can_keep(host.reach, HOST)


def test_keep_without_root_is_refused() -> None:
    host = FakeHost(user="1000", sudo=False)
    with pytest.raises(Refused):
        check_can_keep(host.reach, HOST)
