# SPDX-License-Identifier: Apache-2.0
"""Check that every change to the host is recorded and undone, however the run ends."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.waiting import asleep, until
from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.host.change import Change
from wirespeed.bench.host.changes import DirectoryMade, SysctlSet
from wirespeed.bench.host.host import changing_host, tidy_up, tidy_up_everywhere
from wirespeed.bench.host.journal import Journal, Undone
from wirespeed.bench.host.journal_file import of_living_runs
from wirespeed.bench.host.leftovers import leftovers, nobodys
from wirespeed.bench.interface import BenchError
from wirespeed.document.journal_lines import sealed
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.reach import reach as reach_address
from wirespeed.remote.state import state_directory

RUNNER = LocalRunner()


def journals(state: Path) -> list[Path]:
    return sorted((state / "journal").glob("*"))


def test_the_state_directory_follows_xdg() -> None:
    assert state_directory({"XDG_STATE_HOME": "/x", "HOME": "/h"}) == Path("/x/wirespeed")
    assert state_directory({"HOME": "/h"}) == Path("/h/.local/state/wirespeed")


def test_a_change_is_on_disk_before_it_is_made(tmp_path: Path) -> None:
    seen: list[str] = []

    def look(files: dict[str, str], path: str, text: str) -> None:
        seen.append(journals(tmp_path)[0].read_text().splitlines()[-1])
        files[path] = text

    host = FakeHost({"/proc/sys/kernel/a": "1\n"}, look)
    with changing_host(host, tmp_path) as state:
        assert state.set_sysctl("kernel.a", "0") is None
        assert host.files["/proc/sys/kernel/a"] == "0"
    assert json.loads(seen[0]).items() >= {
        "kind": "SysctlSet", "path": "/proc/sys/kernel/a", "was": "1", "to": "0",
    }.items()  # fmt: skip
    assert host.files["/proc/sys/kernel/a"] == "1"
    assert journals(tmp_path) == []


def test_changes_are_undone_newest_first(tmp_path: Path) -> None:
    order: list[str] = []

    def record(files: dict[str, str], path: str, text: str) -> None:
        order.append(path)
        files[path] = text

    host = FakeHost({"/proc/sys/a": "1", "/proc/sys/b": "1"}, record)
    with changing_host(host, tmp_path) as state:
        state.set_sysctl("a", "0")
        state.set_sysctl("b", "0")
        order.clear()
    assert order == ["/proc/sys/b", "/proc/sys/a"]


def test_a_value_changed_by_another_program_is_not_undone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    host = FakeHost({"/proc/sys/a": "1"})
    with changing_host(host, tmp_path) as state:
        state.set_sysctl("a", "0")
        host.files["/proc/sys/a"] = "7"
    assert host.files["/proc/sys/a"] == "7"
    assert "left /proc/sys/a at 7" in caplog.text


def test_the_last_of_two_runs_restores_the_original_value(tmp_path: Path) -> None:
    host = FakeHost({"/proc/sys/a": "1"})
    with changing_host(host, tmp_path) as second:
        with changing_host(host, tmp_path) as first:
            first.set_sysctl("a", "0")
            second.set_sysctl("a", "0")
        assert host.files["/proc/sys/a"] == "0", "the second run still needs it"
    assert host.files["/proc/sys/a"] == "1"


def test_changing_host_undoes_while_no_other_run_reads_or_changes_the_host(tmp_path: Path) -> None:
    locked: list[bool] = []

    def look(files: dict[str, str], path: str, text: str) -> None:
        with open(tmp_path / "lock", "a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                locked.append(False)
            except BlockingIOError:
                locked.append(True)
        files[path] = text

    host = FakeHost({"/proc/sys/a": "1"})
    with changing_host(host, tmp_path) as state:
        state.set_sysctl("a", "0")
        host.on_write = look
    assert locked == [True]


def test_a_change_that_cannot_be_undone_is_reported_and_kept(tmp_path: Path) -> None:
    host = FakeHost({"/proc/sys/a": "1"})

    def refuse(_files: dict[str, str], path: str, _text: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    def run() -> None:
        with changing_host(host, tmp_path) as state:
            state.set_sysctl("a", "0")
            host.on_write = refuse

    with pytest.raises(BenchError, match="could not undo"):
        run()
    host.on_write = None
    assert tidy_up(host, tmp_path) == Undone(("set /proc/sys/a back to 1",))
    assert host.files["/proc/sys/a"] == "1"
    assert journals(tmp_path) == []


def test_a_line_cut_off_by_a_kill_is_ignored(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "localhost")
    journal.note(SysctlSet("/proc/sys/a", "1", "0"))
    journal._file.close()
    with open(journal.path, "a") as file:
        file.write('{"change": 2, "kind": "Sysc')
    [left] = leftovers(tmp_path, "localhost")
    assert left.standing == (SysctlSet("/proc/sys/a", "1", "0"),)


def test_a_living_run_and_another_host_are_left_alone(tmp_path: Path) -> None:
    living = Journal.create(tmp_path, "localhost")
    living.note(DirectoryMade(f"{tmp_path}/absent/x"))
    elsewhere = Journal.create(tmp_path, "server2")
    elsewhere.note(DirectoryMade(f"{tmp_path}/absent/y"))
    elsewhere._file.close()
    assert tidy_up(RUNNER, tmp_path) == Undone()
    assert of_living_runs(tmp_path, "localhost") == (DirectoryMade(f"{tmp_path}/absent/x"),)
    assert len(journals(tmp_path)) == 2


def leftover(state: Path, *changes: Change) -> Path:
    """Return the journal of a run that was killed."""
    journal = Journal.create(state, "localhost")
    for change in changes:
        journal.note(change)
    journal._file.close()
    return journal.path


@pytest.mark.parametrize("damage", [b"\0", b"\xff", b"\n", b"{"])
def test_tidy_up_damaged_line_is_named_and_the_rest_undone(tmp_path: Path, damage: bytes) -> None:
    host = FakeHost({f"/proc/sys/{name}": "0" for name in "abc"})
    path = leftover(tmp_path, *(SysctlSet(f"/proc/sys/{name}", "1", "0") for name in "abc"))
    lines = path.read_bytes().split(b"\n")
    lines[2] = damage * len(lines[2])
    path.write_bytes(b"\n".join(lines))
    undone = tidy_up(host, tmp_path)
    assert [host.files[f"/proc/sys/{name}"] for name in "abc"] == ["1", "0", "1"]
    assert len(undone.done) == 2
    assert any("line" in said and str(path) in said for said in undone.failed), undone
    assert path.exists()


def test_tidy_up_unknown_kind_is_named_and_the_rest_undone(tmp_path: Path) -> None:
    host = FakeHost({"/proc/sys/a": "0"})
    path = leftover(tmp_path, SysctlSet("/proc/sys/a", "1", "0"))
    record = {"change": 7, "kind": "Teleported", "to": "Mars"}
    path.write_text(path.read_text() + sealed(3, record))
    undone = tidy_up(host, tmp_path)
    assert host.files["/proc/sys/a"] == "1"
    [said] = undone.failed
    assert "Teleported" in said
    assert path.exists()


def test_nobodys_journal_of_another_user_is_named() -> None:
    am_root = os.geteuid() == 0
    with TemporaryDirectory() as folder:
        state = Path(folder)
        state.chmod(0o755)
        path = leftover(state, DirectoryMade(f"{folder}/absent/x"))
        path.chmod(0o444)
        if am_root:
            os.seteuid(65534)
        try:
            found, [said] = list(leftovers(state)), nobodys(state)
        finally:
            if am_root:
                os.seteuid(0)
    assert found == []
    assert said.startswith(f"{path}: Permission denied. Run the command as the user")


@pytest.mark.parametrize("octet", [b"\0", b"\xff"])
def test_tidy_up_journal_of_one_octet_is_named(tmp_path: Path, octet: bytes) -> None:
    path = leftover(tmp_path, SysctlSet("/proc/sys/a", "1", "0"))
    path.write_bytes(octet * len(path.read_bytes()))
    undone = tidy_up_everywhere(reach_address, tmp_path)
    assert any(str(path) in said for said in undone.failed), undone
    assert path.exists()


def test_a_state_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchError, match=r"journal of changes cannot be kept in .*/file/journal"):
        Journal.create(tmp_path / "file", "localhost")


KILLED = """
import sys, time
from pathlib import Path
from wirespeed.bench.host.host import changing_host, terminated_like_interrupted
from wirespeed.remote.local import LocalRunner
state_dir, made = Path(sys.argv[1]), sys.argv[2]
with terminated_like_interrupted(), changing_host(LocalRunner(), state_dir) as state:
    state.make_directory(made)
    child = state.spawn(["sleep", "600"], log=made + "/log")
    print(child.pid, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_after_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    state, made = tmp_path / "state", tmp_path / "made"
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(state), str(made)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert run.stdout is not None
    child = os.pidfd_open(int(run.stdout.readline()))
    until(lambda: asleep(run.pid), "the run waits")
    run.send_signal(number)
    run.wait(30)
    run.stdout.close()
    assert select.select([child], [], [], 20)[0], "the child outlived the run"
    os.close(child)
    said = tidy_up(RUNNER, state)
    assert said == Undone((f"removed {made}",) if number == signal.SIGKILL else ())
    assert not made.exists()
    assert journals(state) == []
