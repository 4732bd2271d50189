# SPDX-License-Identifier: Apache-2.0
"""Test a file system that is or becomes read-only: no change is made without a record."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.fake_host import FakeHost, no_sleep
from wirespeed.apply import session
from wirespeed.apply.journal import PATH, JournalNotWritten
from wirespeed.apply.make import NotWritable

HOST = "ssh://lab1"
ROOT = Path(__file__).parents[3]


def test_apply_read_only_file_system_changes_nothing() -> None:
    host = FakeHost()
    before = host.state()
    host.disk.read_only = True
    with pytest.raises(JournalNotWritten, match="Read-only file system"):
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert host.state() == before


def test_apply_file_system_that_becomes_read_only_stops_and_rollback_undoes() -> None:
    # ext4 becomes read-only after an error (errors=remount-ro).
    host = FakeHost()
    before = host.state()
    write = host.disk.write

    def fails(path: str, text: str) -> None:
        host.disk.read_only = path.startswith("/etc/default")
        write(path, text)

    host.disk.write = fails  # type: ignore[method-assign]
    with pytest.raises(NotWritable, match="Read-only file system"):
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    host.disk.write = write  # type: ignore[method-assign]
    host.disk.read_only = False
    assert not session.undo(host.reach, HOST, may_reboot=False).failed
    assert host.state() == before


def test_rollback_read_only_file_system_undoes_the_rest_and_fails() -> None:
    host = FakeHost()
    before = host.state()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    host.disk.read_only = True
    undone = session.undo(host.reach, HOST, may_reboot=False)
    assert undone.failed
    assert host.kernel.vfs["0000:21:00.0"] == []
    stuck = {result.name for result in undone.results if result.failed}
    assert "kernel command line (GRUB)" in stuck
    assert "VFs of 0000:21:00.0" not in stuck
    assert host.disk.read(PATH) is not None
    host.disk.read_only = False
    assert not session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep).failed
    assert host.state() == before


PROGRAM = """
import sys
from wirespeed.apply.journal import Journal, JournalNotWritten
from wirespeed.apply.make import NotWritable, make
from wirespeed.apply.steps.text_file import TextFile
from wirespeed.host.file import HOST_FILE
from wirespeed.remote.local import LocalRunner

facts = HOST_FILE.parse(open(sys.argv[1], encoding="utf-8").read(), "host.json")
runner = LocalRunner()
try:
    Journal.load(runner, facts).begin()
except JournalNotWritten as fault:
    print(fault.what)
try:
    make(runner, TextFile("/var/lib/some-file"), "text")
except NotWritable as fault:
    print(fault.what)
"""


@pytest.mark.root
def test_journal_and_make_real_read_only_mount_raise() -> None:
    # The mount is in a mount namespace of its own.
    mount = 'mount -t tmpfs -o ro none /var/lib && exec "$@"'
    example = ROOT / "examples" / "s2-chains" / "host.json"
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount, "sh",
         sys.executable, "-c", PROGRAM, str(example)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    journal, setting = done.stdout.splitlines()
    assert "journal of changes in /var/lib/wirespeed/apply on localhost cannot be written" in (
        journal)  # fmt: skip
    assert "Read-only file system" in journal
    assert "on localhost cannot be written: Read-only file system" in setting
