# SPDX-License-Identifier: Apache-2.0
"""Check that journals and undo hold their locks while other runs look, begin and end."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.unit.bench.fake_host import FakeHost
from tests.unit.bench.test_journal import journals, leftover
from wirespeed.bench.host.changes import POOLS_LOCK, HugePagesAdded, SysctlSet
from wirespeed.bench.host.host import changing_host, tidy_up
from wirespeed.bench.host.journal import Journal
from wirespeed.bench.host.journal_file import journals as found_by_readers
from wirespeed.bench.host.journal_file import of_living_runs
from wirespeed.bench.host.leftovers import hosts_left

PAGES = HugePagesAdded(node=0, size_kib=2048, count=8)
POOL = f"{PAGES.pool}/nr_hugepages"


def is_locked(state: Path) -> bool:
    """Return whether a run that reads and changes the host now would have to wait."""
    with open(state / "lock", "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_tidy_up_undoes_while_no_other_run_reads_or_changes_the_host(tmp_path: Path) -> None:
    locked: list[bool] = []

    def look(files: dict[str, str], path: str, text: str) -> None:
        locked.append(is_locked(tmp_path))
        files[path] = text

    host = FakeHost({"/proc/sys/a": "0"}, look)
    leftover(tmp_path, SysctlSet("/proc/sys/a", "1", "0"))
    assert tidy_up(host, tmp_path).done == ("set /proc/sys/a back to 1",)
    assert locked == [True]


class Pools(FakeHost):
    """Host where a run that holds the lock of the pools is about to change something else."""

    def __init__(self, state: Path) -> None:
        super().__init__({POOL: "20", "/proc/sys/a": "1"})
        self.state = state
        self.waits: list[bool] = []

    @contextmanager
    def lock(self, path: str) -> Iterator[None]:
        assert path == POOLS_LOCK
        self.waits.append(is_locked(self.state))
        with super().lock(path):
            yield


def _end_run(host: Pools) -> None:
    with changing_host(host, host.state) as run:
        run.note(PAGES)
        run.set_sysctl("a", "0")


def _clean_up(host: Pools) -> None:
    leftover(host.state, PAGES, SysctlSet("/proc/sys/a", "1", "0"))
    host.files["/proc/sys/a"] = "0"
    tidy_up(host, host.state)


@pytest.mark.parametrize("undo", [_end_run, _clean_up])
def test_undo_waits_for_huge_pages_without_the_lock_that_their_holder_may_need(
    tmp_path: Path, undo: Callable[[Pools], None]
) -> None:
    host = Pools(tmp_path)
    undo(host)
    assert host.waits == [False]
    assert host.files == {POOL: "12", "/proc/sys/a": "1"}
    assert journals(tmp_path) == []


@pytest.mark.parametrize("reader", ["adopts", "holds"])
def test_journal_create_is_locked_before_any_reader_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    flock = fcntl.flock
    held: list[int] = []

    def flock_after_a_reader(file: IO[str], how: int) -> None:
        if Path(file.name).parent.name == "journal":
            monkeypatch.setattr(fcntl, "flock", flock)
            if reader == "adopts":
                hosts_left(tmp_path)
            else:
                held.extend(os.open(path, os.O_RDONLY) for path in found_by_readers(tmp_path))
                for each in held:
                    flock(each, fcntl.LOCK_SH)
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", flock_after_a_reader)
    journal = Journal.create(tmp_path, "localhost")
    assert held == []
    assert journals(tmp_path) == [journal.path]
    change = SysctlSet("/proc/sys/a", "1", "0")
    journal.note(change)
    assert of_living_runs(tmp_path, "localhost") == (change,)


def test_journal_create_removes_the_file_of_a_run_that_was_killed_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_file: Path, _target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", killed)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                Journal.create(tmp_path, "localhost")
            assert len(journals(tmp_path)) == 1
            assert hosts_left(tmp_path) == ()
    journal = Journal.create(tmp_path, "localhost")
    assert journals(tmp_path) == [journal.path]


@pytest.mark.parametrize("fault", [ValueError("odd"), KeyError("odd"), TypeError("odd")])
def test_undo_all_odd_value_is_reported_and_older_changes_are_undone(
    tmp_path: Path, fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(files: dict[str, str], path: str, text: str) -> None:
        if path == "/proc/sys/b":
            raise fault
        files[path] = text

    host = FakeHost({"/proc/sys/a": "1", "/proc/sys/b": "1"})

    def run() -> None:
        with changing_host(host, tmp_path) as state:
            state.set_sysctl("a", "0")
            state.set_sysctl("b", "0")
            host.on_write = refuse
            raise RuntimeError("the run's own error")

    with pytest.raises(RuntimeError, match="the run's own error"):
        run()
    assert host.files == {"/proc/sys/a": "1", "/proc/sys/b": "0"}
    assert f"could not undo /proc/sys/b set to 0 (was 1): {fault!r}" in caplog.text
    host.on_write = None
    assert tidy_up(host, tmp_path).done == ("set /proc/sys/b back to 1",)
