# SPDX-License-Identifier: Apache-2.0
"""Test that records of other users are rejected, and that a full disk stops no rollback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.fake_host import FakeHost, no_sleep
from wirespeed.apply import session
from wirespeed.apply.journal import FOLDER, PATH, JournalNotWritten
from wirespeed.apply.own_folder import NotOurs, check_own
from wirespeed.remote.local import LocalRunner

HOST = "ssh://lab1"


@pytest.mark.parametrize(
    ("path", "mode", "user", "said"),
    [
        (FOLDER, "a1ff", 0, "is a symbolic link"),
        (PATH, "a1ff", 0, "is a symbolic link"),
        (FOLDER, "41c0", 1000, "belongs to user 1000"),
        (PATH, "81b6", 0, "can be written by others"),
        (FOLDER, "81a4", 0, "is not a regular file or folder that wirespeed made"),
    ],
)
def test_apply_and_rollback_records_of_others_are_refused(
    path: str, mode: str, user: int, said: str
) -> None:
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    host.owned = {path: (mode, user)}
    before = host.state()
    with pytest.raises(NotOurs, match=f"{path} on lab1 {said}"):
        session.undo(host.reach, HOST, may_reboot=False)
    with pytest.raises(NotOurs):
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert host.state() == before


@pytest.mark.root
def test_check_own_real_planted_link_is_refused(tmp_path: Path) -> None:
    above = tmp_path / "above"
    folder = above / "apply"
    above.mkdir(mode=0o700)
    check_own(LocalRunner(), str(folder), ())
    folder.mkdir(mode=0o700)
    journal = folder / "journal"
    check_own(LocalRunner(), str(folder), (str(journal),))
    journal.symlink_to("/etc/passwd")
    with pytest.raises(NotOurs, match="journal on localhost is a symbolic link"):
        check_own(LocalRunner(), str(folder), (str(journal),))
    journal.unlink()
    os.chown(folder, 1000, 1000)
    with pytest.raises(NotOurs, match="belongs to user 1000"):
        check_own(LocalRunner(), str(folder), (str(journal),))


def test_rollback_full_disk_undoes_and_fails() -> None:
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    host.disk.room = 0
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert undone.failed
    assert host.kernel.vfs["0000:21:00.0"] == []
    host.disk.room = None
    again = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not again.failed
    assert host.disk.read(PATH) is None


def test_apply_journal_that_cannot_be_written_changes_nothing_more() -> None:
    host = FakeHost()
    before = host.state()
    host.disk.room = 5 << 20
    with pytest.raises(JournalNotWritten, match="No space left"):
        fill_at_third_record(host)
    host.disk.room = None
    undone = session.undo(host.reach, HOST, may_reboot=False)
    assert not undone.failed
    assert host.state() == before


def fill_at_third_record(host: FakeHost) -> None:
    append = host.disk.append_synced
    seen = 0

    def full(path: str, text: str) -> None:
        nonlocal seen
        seen += path == PATH
        if seen == 3:
            host.disk.room = 20
        append(path, text)

    host.disk.append_synced = full  # type: ignore[method-assign]
    try:
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    finally:
        host.disk.append_synced = append  # type: ignore[method-assign]
