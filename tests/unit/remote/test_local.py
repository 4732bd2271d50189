# SPDX-License-Identifier: Apache-2.0
"""Test how the local Runner starts, watches and ends processes."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from wirespeed.remote.interface import RemoteError
from wirespeed.remote.local import LocalRunner

RUNNER = LocalRunner()


def test_run_gives_output_and_passes_stdin_without_a_shell() -> None:
    assert RUNNER.run(["cat", "-"], stdin="$HOME; `id`").stdout == "$HOME; `id`"


def test_a_failed_command_is_an_error_with_its_output(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    with pytest.raises(RemoteError, match=rf"`ls {absent}` ended with 2: .*No such file"):
        RUNNER.run(["ls", absent], env={"LC_ALL": "C"})


def test_run_without_check_returns_the_exit_code() -> None:
    assert RUNNER.run(["false"], check=False).exit_code == 1


def test_run_that_takes_too_long_is_ended() -> None:
    with pytest.raises(RemoteError, match=r"did not end within 0\.05 s"):
        RUNNER.run(["sleep", "30"], timeout_s=0.05)


def test_a_missing_program_names_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RemoteError) as told:
        RUNNER.run(["dpdk-testpmd"])
    assert "dpdk-testpmd is not installed" in told.value.what
    assert "apt-get install dpdk-dev" in told.value.next_step


def test_spawn_logs_output_and_adds_to_the_environment(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = RUNNER.spawn(
        ["sh", "-c", 'echo "$GREETING $HOME"; echo no >&2'], log=str(log), env={"GREETING": "hi"}
    )
    assert process.wait(10) == 0
    assert log.read_text() == f"hi {os.environ['HOME']}\nno\n"


def test_spawn_keeps_to_the_given_cpus(tmp_path: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    log = tmp_path / "log"
    program = "import os; print(os.sched_getaffinity(0))"
    RUNNER.spawn([sys.executable, "-c", program], log=str(log), cpus={cpu}).wait(20)
    assert log.read_text() == f"{{{cpu}}}\n"


def test_spawn_on_a_cpu_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RemoteError, match=r"could not be given CPUs \[1000\]"):
        RUNNER.spawn(["true"], log=str(tmp_path / "log"), cpus={1000})


def test_a_child_gets_its_nice_value(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert RUNNER.spawn(["nice"], log=str(log), nice=7).wait(10) == 0
    assert log.read_text() == "7\n"


def test_a_log_that_cannot_be_written_is_not_taken_for_a_missing_program(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-folder/log"):
        RUNNER.spawn(["true"], log=str(tmp_path / "no-folder" / "log"))


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with RUNNER.lock(path):
        assert RUNNER.run(["flock", "-n", path, "true"], check=False).exit_code == 1
    assert RUNNER.run(["flock", "-n", path, "true"], check=False).exit_code == 0


def test_a_lock_is_not_taken_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"), RUNNER.lock(str(tmp_path / "lock")):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_the_end_of_a_child_can_be_awaited_with_select(tmp_path: Path) -> None:
    process = RUNNER.spawn(["sleep", "60"], log=str(tmp_path / "log"))
    assert select.select([process], [], [], 0) == ([], [], [])
    process.signal(signal.SIGKILL)
    assert select.select([process], [], [], 20)[0] == [process]
    assert process.poll() == -signal.SIGKILL
    process.signal(signal.SIGKILL)  # gone: no error, and never another process of that number


def test_children_die_with_their_parent_whatever_ends_it(tmp_path: Path) -> None:
    program = f"""
import time
from wirespeed.remote.local import LocalRunner
print(LocalRunner().spawn(["sleep", "600"], log={str(tmp_path / "log")!r}).pid, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = os.pidfd_open(int(parent.stdout.readline()))
    parent.kill()
    parent.wait(20)
    assert select.select([child], [], [], 20)[0], "the child outlived its parent"
    os.close(child)
    parent.stdout.close()


def test_connect_reaches_a_unix_socket(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(path)
        server.listen()
        answer = threading.Thread(target=lambda: server.accept()[0].send(b"hello"), daemon=True)
        answer.start()
        with RUNNER.connect(path, socket.SOCK_SEQPACKET) as client:
            assert client.recv(100) == b"hello"
        answer.join()
    with pytest.raises(ConnectionRefusedError):
        RUNNER.connect(path, socket.SOCK_SEQPACKET)


def test_files_are_read_written_and_found(tmp_path: Path) -> None:
    RUNNER.write(str(tmp_path / "b"), "2\n")
    RUNNER.write(str(tmp_path / "a"), "1\n")
    (tmp_path / "link").symlink_to("a")
    assert RUNNER.glob(str(tmp_path / "?")) == (str(tmp_path / "a"), str(tmp_path / "b"))
    assert RUNNER.read(str(tmp_path / "b")) == "2\n"
    assert RUNNER.readlink(str(tmp_path / "link")) == str(tmp_path / "a")
