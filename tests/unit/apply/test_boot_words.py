# SPDX-License-Identifier: Apache-2.0
"""Kernel words of the next boot of the simulated host, cut anywhere, and put back."""

from __future__ import annotations

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.effort import effort
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


def test_boot_words_are_there_after_the_reboot_and_gone_after_the_next() -> None:
    host = FakeHost()
    before, state = look_at_boot(host.reach, HOST), host.state()
    boot_with(host, before.added, *WORDS)
    during = look_at_boot(host.reach, HOST)
    assert set(WORDS) <= set(during.cmdline.split())
    assert during.id != before.id
    boot_as(host, before.added)
    assert look_at_boot(host.reach, HOST).cmdline == before.cmdline
    assert host.state() == state


def test_boot_words_next_to_those_of_a_plan_leave_the_plans_in_place() -> None:
    host, plan = FakeHost(), lab_plan()
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


def test_boot_words_that_are_repeated_change_nothing() -> None:
    host = FakeHost()
    state = host.state()
    set_next_boot(host.reach, HOST, None, WORDS)
    set_next_boot(host.reach, HOST, None, WORDS)
    for _ in range(2):
        set_next_boot(host.reach, HOST, None, ())
        end_words(host.reach, HOST, None)
    assert host.state() == state


def changes() -> int:
    host = FakeHost()
    boot_with(host, None, *WORDS)
    boot_as(host, None)
    return host.changes


@pytest.mark.parametrize("follows", ["rollback", "again"])
def test_boot_words_cut_anywhere_are_undone(follows: str) -> None:
    state, seen = FakeHost().state(), 0
    cases = [Cut(at, when, what) for at in range(1, changes() + 1) for when, what in KINDS]
    for cut in cases[:: effort(5, 1)]:
        host = FakeHost(cut=cut)
        try:
            boot_with(host, None, *WORDS)
            boot_as(host, None)
        except HostLost:
            seen += 1
        if follows == "rollback":
            undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
            assert not undone.failed, cut
        else:
            boot_as(host, None)
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
