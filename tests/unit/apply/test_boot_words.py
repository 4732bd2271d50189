# SPDX-License-Identifier: Apache-2.0
"""Kernel words of the next boot of the simulated host, cut anywhere, and put back."""

from __future__ import annotations

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.effort import effort
from tests.support.fake_boot import BOOT_LOADERS, FakeBoot, UpdateGrub
from tests.support.fake_host import Cut, FakeHost, no_sleep
from tests.unit.apply.test_cuts import KINDS
from wirespeed.apply import session
from wirespeed.apply.boot_words import end_words, look_at_boot, reboot_host, set_next_boot
from wirespeed.apply.target import Refused
from wirespeed.remote.interface import HostLost

HOST = "ssh://lab1"
WORDS = ("nohz_full=2-3", "rcu_nocbs=2-3")


def boot_with(host: FakeHost, before: str | None, *words: str) -> None:
    set_next_boot(host.reach, HOST, before, words)
    assert reboot_host(host.reach, HOST, sleep=no_sleep)


def boot_as(host: FakeHost, before: str | None) -> None:
    boot_with(host, before)
    end_words(host.reach, HOST, before)


def added(host: FakeHost) -> str | None:
    """Return what the boot loader adds now."""
    return look_at_boot(host.reach, HOST).added


every_boot_loader = pytest.mark.parametrize("boot", BOOT_LOADERS)


@every_boot_loader
def test_boot_words_are_there_after_the_reboot_and_gone_after_the_next(
    boot: type[FakeBoot],
) -> None:
    host = FakeHost(boot_loader=boot())
    before, state = look_at_boot(host.reach, HOST), host.state()
    boot_with(host, before.added, *WORDS)
    during = look_at_boot(host.reach, HOST)
    assert set(WORDS) <= set(during.cmdline.split())
    assert during.id != before.id
    boot_as(host, before.added)
    assert look_at_boot(host.reach, HOST).cmdline == before.cmdline
    assert host.state() == state


@every_boot_loader
def test_boot_words_next_to_those_of_a_plan_leave_the_plans_in_place(boot: type[FakeBoot]) -> None:
    host, plan = FakeHost(boot_loader=boot()), lab_plan()
    session.apply(host.reach, HOST, plan, may_reboot=True, sleep=no_sleep)
    before, state = look_at_boot(host.reach, HOST), host.state()
    boot_with(host, before.added, "isolcpus=2", "idle=poll")
    words = look_at_boot(host.reach, HOST).cmdline.split()
    assert "intel_iommu=on" in words
    assert [word for word in words if word.startswith("isolcpus=")] == ["isolcpus=2"]
    boot_as(host, before.added)
    assert host.state() == state
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.failed


@every_boot_loader
def test_boot_words_that_are_repeated_change_nothing(boot: type[FakeBoot]) -> None:
    host = FakeHost(boot_loader=boot())
    state, before = host.state(), added(host)
    set_next_boot(host.reach, HOST, before, WORDS)
    set_next_boot(host.reach, HOST, before, WORDS)
    for _ in range(2):
        set_next_boot(host.reach, HOST, before, ())
        end_words(host.reach, HOST, before)
    assert host.state() == state


@every_boot_loader
def test_boot_words_of_the_next_try_replace_those_of_the_last(boot: type[FakeBoot]) -> None:
    host = FakeHost(boot_loader=boot())
    before = added(host)
    boot_with(host, before, *WORDS)
    boot_with(host, before, "idle=poll")
    words = look_at_boot(host.reach, HOST).cmdline.split()
    assert "idle=poll" in words
    assert not set(WORDS) & set(words)


def changes(boot: type[FakeBoot]) -> int:
    host = FakeHost(boot_loader=boot())
    before = added(host)
    boot_with(host, before, *WORDS)
    boot_as(host, before)
    return host.changes


@every_boot_loader
@pytest.mark.parametrize("follows", ["rollback", "again"])
def test_boot_words_cut_anywhere_are_undone(follows: str, boot: type[FakeBoot]) -> None:
    state, seen = FakeHost(boot_loader=boot()).state(), 0
    before = added(FakeHost(boot_loader=boot()))
    cases = [Cut(at, when, what) for at in range(1, changes(boot) + 1) for when, what in KINDS]
    for cut in cases[:: effort(5 if boot is UpdateGrub else 14, 1)]:
        host = FakeHost(cut=cut, boot_loader=boot())
        try:
            boot_with(host, before, *WORDS)
            boot_as(host, before)
        except HostLost:
            seen += 1
        if follows == "rollback":
            undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
            assert not undone.failed, cut
        else:
            boot_as(host, before)
        assert host.state() == state, cut
    assert seen


def test_reboot_host_with_a_running_guest_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    host = FakeHost(domains={"vm1": "<domain type='kvm'><name>vm1</name></domain>"})
    monkeypatch.setattr(
        "wirespeed.apply.boot_words.running_guests", lambda *_: [type("G", (), {"name": "vm1"})]
    )
    boots = host.boots
    with pytest.raises(Refused, match="running guests: vm1"):
        reboot_host(host.reach, HOST, sleep=no_sleep)
    assert host.boots == boots
