# SPDX-License-Identifier: Apache-2.0
"""Test files and commands over ssh against local ones, with and without python3 on the host."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.unit.remote.ssh_stand_in import agent_pid, clients, cut
from wirespeed.remote import agent
from wirespeed.remote.interface import HostLost, ProgramMissing, RemoteError
from wirespeed.remote.shell_words import glob_words
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_held import calls_command


def test_failure_absence_and_unreachable_are_distinguished(either: SshRunner) -> None:
    assert either.run(["sh", "-c", "exit 3"], check=False).exit_code == 3
    assert either.run(["sh", "-c", "exit 255"], check=False).exit_code == 255
    with pytest.raises(RemoteError, match="ended with 3: oops"):
        either.run(["sh", "-c", "echo oops >&2; exit 3"])
    with pytest.raises(ProgramMissing, match="no-such-program is not installed on box"):
        either.run(["no-such-program"])


def test_a_failed_write_is_the_error_that_open_would_raise(
    either: SshRunner, tmp_path: Path
) -> None:
    missing = str(tmp_path / "no" / "file")
    with pytest.raises(FileNotFoundError) as told:
        either.write(missing, "x")
    assert told.value.filename == missing
    with pytest.raises(IsADirectoryError):
        either.write(str(tmp_path), "x")


def test_files_are_read_in_one_call(either: SshRunner, tmp_path: Path) -> None:
    odd = tmp_path / "a: b\tc"
    odd.write_text("x\n\ny\n")
    (tmp_path / "empty").write_text("")
    absent = str(tmp_path / "absent")
    paths = [str(odd), str(tmp_path / "empty"), absent, str(tmp_path)]
    got = either.read_many(paths)
    # One client starts an agent; without python3 another one reads.
    assert len(clients(tmp_path)) <= 2
    assert got[str(odd)] == "x\n\ny\n"
    assert got[str(tmp_path / "empty")] == ""
    assert isinstance(got[absent], FileNotFoundError)
    assert isinstance(got[str(tmp_path)], IsADirectoryError)


def test_an_empty_request_starts_no_ssh(ssh: SshRunner, tmp_path: Path) -> None:
    assert ssh.read_many([]) == {}
    assert ssh.glob() == ()
    assert not (tmp_path / "calls").exists()


def test_read_and_write_are_exact(either: SshRunner, tmp_path: Path) -> None:
    path = str(tmp_path / "it's $HOME")
    either.write(path, "no newline at the end")
    assert either.read(path) == "no newline at the end"
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    assert either.read(str(tmp_path / "latin")) == "caf\ufffd\n"
    with pytest.raises(FileNotFoundError):
        either.read(str(tmp_path / "absent"))


def test_globs_match_and_nothing_else_expands(either: SshRunner, tmp_path: Path) -> None:
    for name in ("a1", "a2", "b c", "$x"):
        (tmp_path / name).write_text("")
    base = str(tmp_path)
    found = either.glob(f"{base}/a[0-9]", f"{base}/b *")
    assert found == (f"{base}/a1", f"{base}/a2", f"{base}/b c")
    assert either.glob(f"{base}/$?") == (f"{base}/$x",)
    assert either.glob(f"{base}/none*") == ()
    assert glob_words("/a b/$(id)/*") == "'/a b/$(id)/'*"


def test_links_are_followed(either: SshRunner, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/usr/../etc")
    assert either.readlink(str(tmp_path / "link")) == "/etc"


def test_calls_share_one_ssh_client(ssh: SshRunner, tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    ssh.write(path, "x")
    for _ in range(3):
        ssh.run(["true"])
        ssh.read(path)
        ssh.read_many([path])
        ssh.glob(path)
        ssh.readlink(path)
    assert len(clients(tmp_path)) == 1


def test_long_and_non_text_content_passes_in_both_directions(
    ssh: SshRunner, tmp_path: Path
) -> None:
    text = "\0\t\r\n\u20ac" * 200_000
    ssh.write(str(tmp_path / "long"), text)
    assert ssh.read(str(tmp_path / "long")) == text
    assert ssh.run(["cat"], stdin="\0\u20ac" * 200_000).stdout == "\0\u20ac" * 200_000
    assert ssh.run(["printf", r"\351"]).stdout == "\ufffd"
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xe9")
    ssh.write(odd, "x")
    assert ssh.glob(f"{tmp_path}/[!a-z]*") == (odd,)


def test_a_null_byte_in_a_path_or_argument_is_refused(ssh: SshRunner) -> None:
    for ask in (lambda: ssh.read("/a\0b"), lambda: ssh.run(["echo", "a\0b"])):
        with pytest.raises(ValueError, match="null"):
            ask()


def test_a_command_that_may_not_be_started_says_why(ssh: SshRunner, tmp_path: Path) -> None:
    with pytest.raises(RemoteError, match="could not be started on box: Permission denied"):
        ssh.run([str(tmp_path)])


def test_a_command_that_a_signal_ended(ssh: SshRunner) -> None:
    assert ssh.run(["sh", "-c", "kill -TERM $$"], check=False).exit_code == -signal.SIGTERM


@contextmanager
def ends(fifo: Path) -> Iterator[int]:
    """Yield the read end; check that a process had the FIFO open for writing and has ended."""
    os.mkfifo(fifo)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield reading
        for expected in (b"x", b""):
            assert select.select([reading], [], [], 20)[0], "it outlived who asked for it"
            assert os.read(reading, 1) == expected
    finally:
        os.close(reading)


def lasting(fifo: Path, first: str = "true") -> list[str]:
    """Return a command that does not end, with a child that has the FIFO open."""
    return ["sh", "-c", f"exec 3>{fifo}; printf x >&3; sleep 600 & {first}; sleep 600"]


def test_a_late_command_is_ended_with_what_it_started(ssh: SshRunner, tmp_path: Path) -> None:
    with ends(tmp_path / "fifo"), pytest.raises(RemoteError, match=r"did not end within 2 s"):
        ssh.run(lasting(tmp_path / "fifo"), timeout_s=2)
    ssh.run(["true"])
    assert len(clients(tmp_path)) == 1


def test_an_agent_that_was_killed_is_reported_and_replaced(ssh: SshRunner, tmp_path: Path) -> None:
    was, fifo = agent_pid(ssh), tmp_path / "fifo"
    fatal = f"exec 3>{fifo}; printf x >&3; kill -KILL $PPID; exec sleep 600"
    with (
        ends(fifo),
        pytest.raises(RemoteError, match="the agent on box ended before it answered: `sh") as told,
    ):
        ssh.run(["sh", "-c", fatal])
    assert not isinstance(told.value, HostLost)
    assert "It may or may not have been done" in told.value.next_step
    now = agent_pid(ssh)
    assert now != was
    ended = os.pidfd_open(now)
    os.kill(now, signal.SIGKILL)
    assert select.select([ended], [], [], 20)[0]
    os.close(ended)
    with pytest.raises(RemoteError, match="ended before it answered: /proc/uptime"):
        ssh.read("/proc/uptime")
    assert ssh.read("/proc/uptime")


def test_an_interrupted_call_does_not_answer_the_next(ssh: SshRunner, tmp_path: Path) -> None:
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with ends(tmp_path / "fifo"), pytest.raises(KeyboardInterrupt):
            ssh.run(lasting(tmp_path / "fifo", first=f"kill -USR1 {os.getpid()}"))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert ssh.run(["echo", "next"]).stdout == "next\n"


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("silent", [True, False])
def test_a_command_ends_with_the_connection(silent: bool, tmp_path: Path) -> None:
    limit = "SILENCE_S = 3.0" if silent else "SILENCE_S = 600.0"
    command = [word.replace("SILENCE_S = 15.0", limit) for word in calls_command()]
    call = {"do": "run", "argv": lasting(tmp_path / "fifo"), "timeout_s": 600, "stdin": None,
            "env": {}}  # fmt: skip
    with (
        ends(tmp_path / "fifo") as reading,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run,
    ):
        assert run.stdin is not None
        assert run.stdout is not None
        run.stdin.write(json.dumps(call).encode() + b"\n")
        run.stdin.flush()
        while not select.select([reading], [], [], 0.1)[0]:
            assert not select.select([run.stdout], [], [], 0)[0], run.stdout.read1()
            run.stdin.write(agent.STILL_HERE)
            run.stdin.flush()
        if not silent:
            run.stdin.close()
        assert run.wait(20) == 0


def test_each_thread_gets_its_own_answers(ssh: SshRunner) -> None:
    got: dict[int, list[str]] = {}

    def ask(number: int) -> None:
        got[number] = [ssh.run(["echo", str(number)]).stdout for _ in range(10)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {number: [f"{number}\n"] * 10 for number in range(4)}


def test_a_host_without_python_says_so_once(
    without_python: SshRunner, caplog: pytest.LogCaptureFixture
) -> None:
    without_python.run(["true"])
    without_python.read("/proc/self/stat")
    [said] = caplog.messages
    assert said.startswith("wirespeed: box is read through its login shell")
    assert "python3 is not installed there" in said
    with pytest.raises(ProgramMissing, match="python3 is not installed on box"):
        without_python.spawn(["true"], log="/dev/null")


def test_a_python_that_is_of_no_use_says_why(
    without_python: SshRunner, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    python = tmp_path / "bin" / "python3"
    python.write_text('#!/bin/sh\necho \'{"refused": "it is 3.6, older than 3.9"}\'; exit 1\n')
    python.chmod(0o755)
    without_python.run(["true"])
    assert "it is 3.6, older than 3.9" in caplog.messages[0]


def test_a_broken_agent_is_an_error_and_no_reason_to_use_the_shell(
    without_python: SshRunner, tmp_path: Path
) -> None:
    python = tmp_path / "bin" / "python3"
    python.write_text("#!/bin/sh\necho 'out of memory' >&2; exit 1\n")
    python.chmod(0o755)
    with pytest.raises(RemoteError, match="the agent on box did not start: out of memory"):
        without_python.run(["true"])


def test_a_lost_host_is_a_lost_host_for_files_too(ssh: SshRunner, tmp_path: Path) -> None:
    ssh.run(["true"])
    cut(tmp_path)
    with pytest.raises(HostLost):
        ssh.read_many(["/etc/hostname"])
