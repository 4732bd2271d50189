# SPDX-License-Identifier: Apache-2.0
"""Is every change to the host known and undone, whatever ends the run that made it?"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.fake_host import FakeHost
from wirespeed.bench.changes import (
    DirectoryMade,
    HugePagesAdded,
    PciBound,
    ProcessStarted,
    SysctlSet,
    change_from_json,
)
from wirespeed.bench.host_state import changing_host, tidy_up
from wirespeed.bench.interface import BenchError
from wirespeed.bench.journal import Journal, leftovers, of_living_runs, state_directory
from wirespeed.remote.local import LocalRunner

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
    assert json.loads(seen[0]) == {
        "change": 1, "kind": "SysctlSet", "path": "/proc/sys/kernel/a", "was": "1", "to": "0",
    }  # fmt: skip
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


def test_what_somebody_else_set_since_is_left_alone(tmp_path: Path) -> None:
    host = FakeHost({"/proc/sys/a": "1"})
    with changing_host(host, tmp_path) as state:
        state.set_sysctl("a", "0")
        host.files["/proc/sys/a"] = "7"
    assert host.files["/proc/sys/a"] == "7"


def test_the_last_of_two_runs_restores_the_original_value(tmp_path: Path) -> None:
    host = FakeHost({"/proc/sys/a": "1"})
    with changing_host(host, tmp_path) as second:
        with changing_host(host, tmp_path) as first:
            first.set_sysctl("a", "0")
            second.set_sysctl("a", "0")
        assert host.files["/proc/sys/a"] == "0", "the second run still needs it"
    assert host.files["/proc/sys/a"] == "1"


def test_a_change_that_cannot_be_undone_is_told_and_kept(tmp_path: Path) -> None:
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
    assert tidy_up(host, tmp_path) == ["set /proc/sys/a back to 1"]
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


def test_a_change_of_a_newer_version_is_refused_by_name() -> None:
    with pytest.raises(BenchError, match="'Teleported'"):
        change_from_json({"kind": "Teleported"})


def test_a_living_run_and_another_host_are_left_alone(tmp_path: Path) -> None:
    living = Journal.create(tmp_path, "localhost")
    living.note(DirectoryMade("/nowhere/x"))
    elsewhere = Journal.create(tmp_path, "server2")
    elsewhere.note(DirectoryMade("/nowhere/y"))
    elsewhere._file.close()
    assert tidy_up(RUNNER, tmp_path) == []
    assert of_living_runs(tmp_path, "localhost") == (DirectoryMade("/nowhere/x"),)
    assert len(journals(tmp_path)) == 2


def test_a_state_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchError, match=r"journal of changes cannot be kept in .*/file/journal"):
        Journal.create(tmp_path / "file", "localhost")


KILLED = """
import sys, time
from pathlib import Path
from wirespeed.bench.host_state import changing_host, terminated_like_interrupted
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
    run.send_signal(number)
    run.wait(30)
    run.stdout.close()
    assert select.select([child], [], [], 20)[0], "the child outlived the run"
    os.close(child)
    said = tidy_up(RUNNER, state)
    assert said == ([f"removed {made}"] if number == signal.SIGKILL else [])
    assert not made.exists()
    assert journals(state) == []


def test_a_process_is_ended_only_if_it_is_the_one_that_was_started(tmp_path: Path) -> None:
    with changing_host(RUNNER, tmp_path) as state:
        child = state.spawn(["sleep", "600"], log=str(tmp_path / "log"))
        assert ProcessStarted(child.pid, 1, "sleep").undo(RUNNER) is None
        assert child.poll() is None
    assert child.wait(20) == -signal.SIGKILL


def test_huge_pages_are_given_back_but_never_below_zero() -> None:
    change = HugePagesAdded(node=1, size_kib=2048, count=8)
    host = FakeHost({f"{change.pool}/nr_hugepages": "20\n"})
    assert change.undo(host) == "gave back 8 huge pages of 2048 KiB on node 1"
    assert host.files[f"{change.pool}/nr_hugepages"] == "12"
    host.files[f"{change.pool}/nr_hugepages"] = "0"
    assert change.undo(host) is None


def test_a_pci_device_goes_back_to_its_driver() -> None:
    device = "/sys/bus/pci/devices/0000:01:00.0"
    files = {
        f"{device}/driver_override": "vfio-pci\n",
        f"{device}/driver": "/sys/bus/pci/drivers/vfio-pci",
    }
    host = FakeHost(files)
    told = PciBound("0000:01:00.0", "ixgbe").undo(host)
    assert told == "gave 0000:01:00.0 back to ixgbe"
    assert files[f"{device}/driver/unbind"] == "0000:01:00.0"
    assert files["/sys/bus/pci/drivers/ixgbe/bind"] == "0000:01:00.0"
    assert files[f"{device}/driver_override"] == "\n"
