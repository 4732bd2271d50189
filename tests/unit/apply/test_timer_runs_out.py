# SPDX-License-Identifier: Apache-2.0
"""Let the checkpoint's timer expire in the middle of an apply, and with a failing script."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.fake_host import Cut, FakeHost
from wirespeed.apply import session
from wirespeed.apply.checkpoint import ENTRIES, waiting
from wirespeed.apply.journal import FOLDER
from wirespeed.apply.own_folder import NotOurs
from wirespeed.remote.interface import HostLost

HOST = "ssh://lab1"
PF = "0000:21:00.0"
NUMVFS = f"/sys/bus/pci/devices/{PF}/sriov_numvfs"
PATIENCE_S = 60


def change_that(what: str) -> int:
    """Return the number of the change with these words in an apply."""
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    return next(n for n, change in enumerate(host.log, 1) if what in change)


def cut_after_vfs() -> FakeHost:
    """Return a host on which an apply was cut once its VFs existed."""
    host = FakeHost(cut=Cut(change_that(f"write {NUMVFS} '4"), "after", "connection"))
    with pytest.raises(HostLost):
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    return host


def runs_out_at_vfs(host: FakeHost) -> None:
    """Expire the timer at the moment at which the VFs are made."""
    write = host.kernel.write

    def written(path: str, text: str) -> None:
        write(path, text)
        if path == NUMVFS and text.strip() == "4" and host.timer:
            host.fire_timer()

    host.kernel.write = written  # type: ignore[method-assign]


def test_timer_in_the_middle_of_an_apply_undoes_nothing() -> None:
    host = FakeHost()
    runs_out_at_vfs(host)
    done = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert not done.failed
    assert not host.waiting
    assert len(host.kernel.vfs[PF]) == 4
    again = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert again.undone_before is None
    assert not any(result.changed for result in again.results)


def test_timer_in_the_middle_of_an_apply_that_is_cut_undoes_once_the_lock_is_free() -> None:
    host = FakeHost(cut=Cut(change_that("vf 0 vlan"), "after", "connection"))
    runs_out_at_vfs(host)
    with pytest.raises(HostLost):
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert host.kernel.vfs[PF] == []
    again = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert again.undone_before is not None
    assert f"VFs of {PF}" in again.undone_before.back
    assert again.undone_before.left == []


def test_timer_script_that_fails_is_not_reported_as_undone() -> None:
    host = cut_after_vfs()
    write = host.kernel.write

    def refused(path: str, text: str) -> None:
        if path == NUMVFS and text.strip() == "0":
            raise OSError(16, "Device or resource busy", path)
        write(path, text)

    host.kernel.write = refused  # type: ignore[method-assign]
    host.fire_timer()
    host.kernel.write = write  # type: ignore[method-assign]
    again = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert again.undone_before is not None
    assert f"VFs of {PF}" not in again.undone_before.back
    assert f"VFs of {PF}: is 4 VFs" in again.undone_before.left


@pytest.mark.parametrize("text", [None, "", "{"])
def test_timer_that_ran_out_without_a_list_of_settings_is_reported(text: str | None) -> None:
    # An older version armed the timer, or the power failed.
    host = cut_after_vfs()
    host.fire_timer()
    if text is None:
        host.disk.remove(ENTRIES)
    else:
        host.disk.write(ENTRIES, text)
    again = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert again.undone_before is not None
    assert again.undone_before.back == []
    assert "what the timer undid is not known" in again.undone_before.left[0]


def test_timer_settings_of_another_version_are_reported() -> None:
    host = cut_after_vfs()
    host.fire_timer()
    host.disk.write(ENTRIES, '[{"changed": "Fan", "name": "fan 3", "fields": {}, "old": null}, 7]')
    again = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert again.undone_before is not None
    assert again.undone_before.left == [
        "fan 3: another version changed it", "7: this version does not know it",
    ]  # fmt: skip


def test_timer_list_of_somebody_else_is_not_read() -> None:
    host = cut_after_vfs()
    host.fire_timer()
    host.owned = {FOLDER: ("41c0", 1000)}
    with pytest.raises(NotOurs):
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    host.owned = {}
    again = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert again.undone_before is not None


@contextmanager
def service(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the timer's command in a real shell, with a script that checks for the lock."""
    lock, script = folder / "lock", folder / "script"
    script.write_text(f"flock --nonblock {lock} true || echo held >{folder / 'done'}\n")
    command = waiting(str(lock), str(folder / "fired"), str(script))
    with subprocess.Popen(["sh", "-c", command], text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def until_it_waits(lock: Path) -> None:
    """Wait until the kernel lists a waiter for this file's lock (proc_locks(5))."""
    inode, end = f":{lock.stat().st_ino} ", time.monotonic() + PATIENCE_S
    while not any("->" in line and inode in line
                  for line in Path("/proc/locks").read_text().splitlines()):  # fmt: skip
        assert time.monotonic() < end, "nobody waits for the lock"
        time.sleep(0.02)


def test_waiting_real_lock_of_an_apply_delays_the_script(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with service(tmp_path) as process:
            until_it_waits(tmp_path / "lock")
            assert not (tmp_path / "fired").exists()
            fcntl.flock(held, fcntl.LOCK_UN)
            assert process.wait(PATIENCE_S) == 0
    assert (tmp_path / "fired").exists()
    assert (tmp_path / "done").read_text() == "held\n"


def test_waiting_real_service_that_apply_stops_runs_no_script(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with service(tmp_path) as process:
            until_it_waits(tmp_path / "lock")
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(PATIENCE_S)
        # A process that still waited would get the lock first.
        fcntl.flock(held, fcntl.LOCK_UN)
        fcntl.flock(held, fcntl.LOCK_EX)
    assert not (tmp_path / "fired").exists()
    assert not (tmp_path / "done").exists()
