# SPDX-License-Identifier: Apache-2.0
"""Cut apply or rollback at every change, and test what the next command does.

The connection breaks, or the power fails with or without loss of unsynced data: before, in the
middle of or after the change. Then apply, rollback or verify follows. A failure names the number of
its case, so that it can be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import product

import pytest

from tests.support.apply_plans import SMALL, lab_plan, plan_for
from tests.support.effort import effort
from tests.support.fake_boot import FakeBoot, Grub2Mkconfig, Grubby, UpdateGrub
from tests.support.fake_host import Cut, FakeHost, no_sleep
from wirespeed.apply import session
from wirespeed.apply.journal import PATH
from wirespeed.apply.step import State
from wirespeed.model.plan.plan import Plan
from wirespeed.remote.interface import HostLost

HOST = "ssh://lab1"
KINDS = tuple(product(("before", "torn", "after"), ("connection", "power", "power-kept")))


def apply(host: FakeHost, plan: Plan) -> session.Applied:
    return session.apply(host.reach, HOST, plan, may_reboot=True, sleep=no_sleep)


def roll_back(host: FakeHost) -> None:
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.failed, undone


def is_as_planned(host: FakeHost, plan: Plan) -> None:
    _, rows = session.verify(host.reach, HOST, plan)
    assert [row for row in rows if row.failed] == []
    asked, boots = host.changes, host.boots
    again = apply(host, plan)
    assert not any(result.changed for result in again.results)
    # Only the timer is stopped and the lock tried.
    assert all("systemctl stop" in change for change in host.log[-(host.changes - asked) :])
    assert host.boots == boots


def is_as_before(host: FakeHost, before: dict[str, object]) -> None:
    assert host.state() == before
    assert not host.timer


def cuts(changes: int, every: int) -> Iterator[Cut]:
    """Yield each change with each kind of cut, or a sample that has every change and kind."""
    for at in range(1, changes + 1):
        for number, (when, what) in enumerate(KINDS):
            if (at + number * 5) % every == 0:
                yield Cut(at, when, what)


def changes_of_apply(boot: type[FakeBoot] = UpdateGrub) -> int:
    host = FakeHost(boot_loader=boot())
    apply(host, lab_plan())
    return host.changes


@pytest.mark.parametrize(("follows", "boot"), [
    ("apply", UpdateGrub), ("rollback", UpdateGrub), ("verify", UpdateGrub),
    ("rollback", Grubby), ("rollback", Grub2Mkconfig),
])  # fmt: skip
def test_apply_may_be_cut_anywhere(follows: str, boot: type[FakeBoot]) -> None:
    plan = lab_plan()
    before = FakeHost(boot_loader=boot()).state()
    seen = 0
    for cut in cuts(changes_of_apply(boot), effort(67, 1)):
        host = FakeHost(cut=cut, boot_loader=boot())
        try:
            apply(host, plan)
        except HostLost:
            seen += 1
        try:
            if follows == "apply":
                apply(host, plan)
                is_as_planned(host, plan)
            elif follows == "verify":
                session.verify(host.reach, HOST, plan)
            roll_back(host)
            is_as_before(host, before)
        except Exception as fault:
            raise AssertionError(f"{cut}, then {follows}") from fault
    assert seen >= 5


@pytest.mark.parametrize(("follows", "boot"), [
    ("apply", UpdateGrub), ("rollback", UpdateGrub), ("apply", Grubby), ("apply", Grub2Mkconfig),
])  # fmt: skip
def test_rollback_may_be_cut_anywhere(follows: str, boot: type[FakeBoot]) -> None:
    plan = lab_plan()
    before = FakeHost(boot_loader=boot()).state()
    host = FakeHost(boot_loader=boot())
    apply(host, plan)
    first = host.changes
    roll_back(host)
    seen = 0
    for cut in cuts(host.changes - first, effort(67, 1)):
        host = FakeHost(cut=Cut(first + cut.at, cut.when, cut.what), boot_loader=boot())
        apply(host, plan)
        try:
            roll_back(host)
        except HostLost:
            seen += 1
        try:
            if follows == "apply":
                apply(host, plan)
                is_as_planned(host, plan)
            roll_back(host)
            is_as_before(host, before)
        except Exception as fault:
            raise AssertionError(f"{cut} of rollback, then {follows}") from fault
    assert seen >= 5


def test_a_second_cut_changes_nothing_of_that() -> None:
    plan = lab_plan()
    before = FakeHost().state()
    for first, second in zip(
        cuts(changes_of_apply(), effort(97, 7)), cuts(60, effort(43, 3)), strict=False
    ):
        host = FakeHost(cut=first)
        with pytest.raises(HostLost):
            apply(host, plan)
        host.cut = Cut(host.changes + second.at, second.when, second.what)
        with suppress(HostLost):
            apply(host, plan)
        host.cut = None
        roll_back(host)
        is_as_before(host, before)


def test_another_plan_undoes_what_it_says_nothing_of() -> None:
    host = FakeHost()
    before = host.state()
    small = plan_for(host, SMALL)
    apply(host, lab_plan())
    apply(host, small)
    is_as_planned(host, small)
    assert host.kernel.vfs["0000:21:00.0"] == []
    assert host.ovs is not None
    assert host.ovs.bridges == {}
    roll_back(host)
    is_as_before(host, before)


def test_without_leave_to_reboot_the_host_waits_for_it() -> None:
    host, plan = FakeHost(found_now=0), lab_plan()
    first = session.apply(host.reach, HOST, plan, may_reboot=False)
    assert host.boots == 1
    assert "intel_iommu=on" in first.reboot_due
    waiting = {result.name for result in first.results if result.state is State.REBOOT}
    assert "driver of 0000:03:00.0" in waiting
    assert "huge pages of 1048576 KiB on node 0" in waiting
    host.reboot()
    session.apply(host.reach, HOST, plan, may_reboot=False)
    is_as_planned(host, plan)
    host.reboot()
    _, rows = session.verify(host.reach, HOST, plan)
    assert [row for row in rows if row.failed] == []


def test_the_journal_is_on_the_disk_before_the_first_change() -> None:
    # Every change to a setting comes after a synced record of it.
    host = FakeHost()
    apply(host, lab_plan())
    first_line = next(n for n, change in enumerate(host.log) if change.startswith("dd of="))
    made = [n for n, change in enumerate(host.log) if change.startswith(("write /sys", "write /etc",
            "write /proc", "update-grub", "ip link set", "ovs-vsctl"))]  # fmt: skip
    assert min(made) > first_line
    assert host.disk.disk[PATH]
