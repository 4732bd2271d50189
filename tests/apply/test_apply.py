# SPDX-License-Identifier: Apache-2.0
"""A plan applied, applied again, verified and rolled back on a host in memory."""

from __future__ import annotations

from tests.apply.fake_host import FakeHost
from tests.apply.plans import lab_plan
from wirespeed.apply import session

HOST = "ssh://lab1"


def no_sleep(_: float) -> None:
    pass


def applied(host: FakeHost) -> session.Applied:
    return session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)


def test_apply_and_reboot_make_the_host_what_its_plan_says() -> None:
    host = FakeHost()
    done = applied(host)
    assert done.rows is not None
    failed = [row for row in done.rows if row.failed]
    assert failed == []
    assert host.boots == 2


def test_rollback_brings_everything_back() -> None:
    host = FakeHost()
    before = host.state()
    applied(host)
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.failed
    assert host.state() == before
