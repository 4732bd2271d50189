# SPDX-License-Identifier: Apache-2.0
"""Test that the host undoes a change that cuts its own connection."""

from __future__ import annotations

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.fake_host import Cut, FakeHost, no_sleep
from wirespeed.apply import session
from wirespeed.apply.target import Refused
from wirespeed.remote.interface import HostLost

HOST = "ssh://lab1"
NUMVFS = "/sys/bus/pci/devices/0000:21:00.0/sriov_numvfs"


def change_that(host: FakeHost, what: str) -> int:
    """Return the number of that change in an apply."""
    session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    return next(n for n, change in enumerate(host.log, 1) if what in change)


def cut_at(what: str, when: str = "after") -> FakeHost:
    at = change_that(FakeHost(), what)
    host = FakeHost(cut=Cut(at, when, "connection"))
    with pytest.raises(HostLost):
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    return host


def test_unconfirmed_changes_are_undone_by_the_timer() -> None:
    host = cut_at(f"write {NUMVFS} '4")
    assert len(host.kernel.vfs["0000:21:00.0"]) == 4
    host.fire_timer()
    assert host.kernel.vfs["0000:21:00.0"] == []
    assert host.kernel.autoprobe["0000:21:00.0"] == "1"
    assert host.kernel.up["0000:21:00.0"] is False
    again = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert again.undone_before is not None
    assert again.undone_before.left == []
    assert len(host.kernel.vfs["0000:21:00.0"]) == 4


def test_reaching_the_host_again_confirms_the_change() -> None:
    host = cut_at(f"write {NUMVFS} '4")
    again = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert not again.undone_before
    assert not host.timer


def test_rollback_stops_the_timer() -> None:
    before = FakeHost().state()
    host = cut_at("vf 0 vlan")
    undone = session.undo(host.reach, HOST, may_reboot=False)
    assert not undone.failed
    assert not host.timer
    assert host.state() == before


def test_the_timer_is_there_before_the_first_risky_change_and_gone_after_the_last() -> None:
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    armed = next(n for n, change in enumerate(host.log) if change.startswith("systemd-run"))
    risky = [n for n, change in enumerate(host.log)
             if "sriov" in change or "driver" in change or "add-port" in change]  # fmt: skip
    assert armed < min(risky)
    confirmed = max(n for n, change in enumerate(host.log) if change.startswith("systemctl stop"))
    assert max(risky) < confirmed
    assert not host.timer


def test_changes_without_risk_arm_no_timer() -> None:
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    done = len(host.log)
    session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert not any(change.startswith("systemd-run") for change in host.log[done:])


def from_a_session_on_the_host() -> FakeHost:
    """Apply on the host itself, as a user who is logged in over ssh."""
    host = FakeHost()
    host.sockets = '0 0 192.0.2.1:22 192.0.2.7:5000 users:(("sshd",pid=7,fd=4))\n'
    done = session.apply(host.reach, "localhost", lab_plan(), may_reboot=False)
    assert done.unconfirmed
    return host


def test_apply_local_unconfirmed_is_undone_by_the_timer() -> None:
    host = from_a_session_on_the_host()
    assert len(host.kernel.vfs["0000:21:00.0"]) == 4
    assert host.disk.read("/etc/systemd/system/wirespeed-host.service") is None
    host.fire_timer()
    assert host.kernel.vfs["0000:21:00.0"] == []
    with pytest.raises(Refused, match="nothing waits for confirmation"):
        session.apply(host.reach, "localhost", lab_plan(), may_reboot=False, confirm=True)


def test_apply_local_confirmed_keeps_the_changes_and_continues() -> None:
    host = from_a_session_on_the_host()
    with pytest.raises(Refused, match="wait for confirmation"):
        session.apply(host.reach, "localhost", lab_plan(), may_reboot=False)
    assert host.timer
    done = session.apply(host.reach, "localhost", lab_plan(), may_reboot=False, confirm=True)
    assert not done.unconfirmed
    assert not host.timer
    assert len(host.kernel.vfs["0000:21:00.0"]) == 4
    assert host.disk.read("/etc/systemd/system/wirespeed-host.service") is not None


def test_apply_local_console_without_network_session_keeps_no_timer() -> None:
    host = FakeHost()
    done = session.apply(host.reach, "localhost", lab_plan(), may_reboot=False)
    assert not done.unconfirmed
    assert not host.timer
