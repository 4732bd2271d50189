# SPDX-License-Identifier: Apache-2.0
"""Test that a cloned disk's journal is rejected, and that one without identity is named."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.fake_host import FakeHost, no_sleep
from wirespeed.apply import session
from wirespeed.apply.journal import PATH
from wirespeed.apply.same_host import OtherHostsJournal
from wirespeed.document.journal_lines import sealed

HOST = "ssh://lab1"
MACHINE_ID = "/etc/machine-id"


def applied() -> FakeHost:
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    host.disk.sync_all()
    return host


def of_another_board(host: FakeHost) -> None:
    host.kernel.board = "ec2b6f6e-7f6c-4f3a-9d35-2f1c1b1d7a10"
    host.kernel.changed()


CLONES: dict[str, Callable[[FakeHost], object]] = {
    MACHINE_ID: lambda host: host.disk.disk.update({MACHINE_ID: "0" * 31 + "1\n"}),
    "product_uuid": of_another_board,
}


@pytest.mark.parametrize("what", CLONES)
def test_apply_verify_and_rollback_journal_of_another_host_are_refused(what: str) -> None:
    host = applied()
    CLONES[what](host)
    before = host.state()
    with pytest.raises(OtherHostsJournal, match=what):
        session.undo(host.reach, HOST, may_reboot=False)
    with pytest.raises(OtherHostsJournal, match=what):
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    with pytest.raises(OtherHostsJournal, match=what):
        session.verify(host.reach, HOST, lab_plan())
    assert host.state() == before


def test_rollback_machine_id_of_one_boot_is_no_other_host() -> None:
    # systemd mounts a new machine ID at each boot where it cannot write the file.
    host = applied()
    CLONES[MACHINE_ID](host)
    host.disk.disk["/proc/self/mounts"] = f"tmpfs {MACHINE_ID} tmpfs ro 0 0\n"
    assert not session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep).failed


def without_host(text: str) -> str:
    first, rest = text.split("\n", 1)
    record = {k: v for k, v in json.loads(first).items() if k not in ("host", "n", "crc32")}
    return sealed(1, record) + rest


def test_journal_without_its_host_is_reported() -> None:
    host = applied()
    host.disk.disk[PATH] = without_host(host.disk.disk[PATH])
    assert session.apply(host.reach, HOST, lab_plan(), may_reboot=False).of_unknown_host
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert undone.of_unknown_host
    assert not undone.failed


def test_journal_with_its_host_is_not_reported() -> None:
    host = applied()
    assert not session.apply(host.reach, HOST, lab_plan(), may_reboot=False).of_unknown_host
    assert not session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep).of_unknown_host
