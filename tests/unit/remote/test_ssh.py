# SPDX-License-Identifier: Apache-2.0
"""Test that the ssh Runner runs exact words, and rejects names that ssh would misread."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.remote.ssh_stand_in import clients, cut
from wirespeed.model.errors import BadInput
from wirespeed.remote.interface import HostLost, HostUnreachable, ProgramMissing, RemoteError
from wirespeed.remote.shell_words import shell_line
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_held import agent_command
from wirespeed.remote.ssh_target import SshTarget

WORDS = st.lists(
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=12),
    max_size=4,
)


@settings(deadline=None)
@given(WORDS)
def test_the_login_shell_gets_back_exactly_the_words(words: list[str]) -> None:
    line = shell_line(["printf", "%s\\0", *words])
    printed = subprocess.run(["sh", "-c", line], capture_output=True, check=True).stdout
    assert printed.decode().split("\0")[:-1] == (words or [""])


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None
)
@given(st.text("ab $`'\"\\;|&()!#~{}\n", min_size=1, max_size=10))
def test_environment_reaches_the_command_unchanged(ssh: SshRunner, value: str) -> None:
    assert ssh.run(["printenv", "WIRE"], env={"WIRE": value}).stdout == f"{value}\n"


@pytest.mark.parametrize(
    "url",
    [
        "ssh://-oProxyCommand=id",
        "ssh://-l@box",
        "ssh://me@-box",
        "ssh://box;id",
        "ssh://$(id)",
        "ssh://me:secret@box",
        "ssh://box/path",
        "ssh://box:port",
        "ssh://",
        "http://box",
        "box",
    ],
)
def test_names_that_ssh_would_misread_are_refused(url: str) -> None:
    with pytest.raises(BadInput, match="ssh://user@host"):
        SshTarget.parse(url)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("ssh://box", SshTarget("box")),
        ("ssh://me@box.lab:2222", SshTarget("box.lab", "me", 2222)),
        ("ssh://[2001:db8::1]:22", SshTarget("2001:db8::1", None, 22)),
    ],
)
def test_targets(url: str, target: SshTarget) -> None:
    assert SshTarget.parse(url) == target
    assert SshTarget.parse(target.url) == target


def test_options_come_before_the_host(ssh: SshRunner, tmp_path: Path) -> None:
    ssh.run(["true"])
    [call] = clients(tmp_path)
    assert "-p 2222 -l me -- box python3 -I -S -c" in call
    assert "BatchMode=yes" in call
    assert "ControlMaster=auto" in call


def test_a_host_that_never_answered_is_bad_input(ssh: SshRunner, tmp_path: Path) -> None:
    (tmp_path / "cut").touch()
    with pytest.raises(HostUnreachable, match=r"could not be reached: .*Connection refused") as far:
        ssh.run(["true"])
    assert far.value.exit_code == 2
    assert "`ssh ssh://me@box:2222 true`" in far.value.next_step
    (tmp_path / "cut").unlink()
    ssh.run(["true"])


def test_a_lost_host_is_a_failure_and_not_asked_again(ssh: SshRunner, tmp_path: Path) -> None:
    ssh.run(["true"])
    cut(tmp_path)
    with pytest.raises(HostLost, match=r"connection to box broke: nothing came back") as lost:
        ssh.run(["true"])
    assert lost.value.exit_code == 1
    (tmp_path / "cut").unlink()
    calls = (tmp_path / "calls").read_text()
    for ask in (
        lambda: ssh.run(["true"]),
        lambda: ssh.read("/etc/hostname"),
        lambda: ssh.spawn(["true"], log="/dev/null"),
        lambda: ssh.connect("/run/x", socket.SOCK_STREAM),
    ):
        with pytest.raises(HostLost, match="connection to box broke"):
            ask()
    assert (tmp_path / "calls").read_text() == calls


def test_a_child_is_started_signalled_and_its_end_is_reported(
    ssh: SshRunner, tmp_path: Path
) -> None:
    child = ssh.spawn(["sleep", "60"], log=str(tmp_path / "log"))
    assert child.poll() is None
    child.signal(signal.SIGTERM)
    assert child.wait(10) == -signal.SIGTERM
    failed = ssh.spawn(["sh", "-c", "echo said; exit 7"], log=str(tmp_path / "log 2"))
    assert failed.wait(10) == 7
    assert (tmp_path / "log 2").read_text() == "said\n"


def test_a_child_dies_with_the_connection(ssh: SshRunner, tmp_path: Path) -> None:
    child = ssh.spawn(["sleep", "60"], log=str(tmp_path / "log"))
    pidfd = os.pidfd_open(child.pid)
    try:
        child._held.let_go()  # what sshd does when the connection breaks
        poller = select.poll()
        poller.register(pidfd)
        assert poller.poll(10_000)
    finally:
        os.close(pidfd)


def test_a_child_gets_environment_cpus_and_nice(ssh: SshRunner, tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = 'echo "$GREETING $HOME"; nice; taskset -pc $$'
    child = ssh.spawn(["sh", "-c", script], log=str(log), env={"GREETING": "hi"}, cpus={0}, nice=7)
    assert child.wait(10) == 0
    greeting, nice, cpus = log.read_text().splitlines()
    assert (greeting, nice) == (f"hi {os.environ['HOME']}", "7")
    assert cpus.endswith("affinity list: 0")


def test_a_program_that_cannot_start_has_a_reason(ssh: SshRunner, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    with pytest.raises(ProgramMissing, match="no-such-program is not installed on box"):
        ssh.spawn(["no-such-program"], log=log)
    with pytest.raises(RemoteError, match="could not be started on box: Permission denied"):
        ssh.spawn([str(tmp_path)], log=log)
    with pytest.raises(RemoteError, match="could not be started on box: "):
        ssh.spawn(["true"], log=log, cpus={1000})
    with pytest.raises(FileNotFoundError, match="no-folder/log"):
        ssh.spawn(["true"], log=str(tmp_path / "no-folder" / "log"))


def test_a_child_whose_connection_broke_has_no_exit_code(ssh: SshRunner, tmp_path: Path) -> None:
    child = ssh.spawn(["sleep", "60"], log=str(tmp_path / "log"))
    (tmp_path / "cut").touch()
    child._held.let_go()
    assert select.select([child], [], [], 20)[0]
    with pytest.raises(HostLost):
        child.poll()
    with pytest.raises(HostLost):
        child.wait(10)


def test_an_agent_that_hears_nobody_ends_its_child(tmp_path: Path) -> None:
    words = {"argv": ["sleep", "60"], "log": str(tmp_path / "log"), "env": {}, "cpus": [],
             "nice": None}  # fmt: skip
    command = [word.replace("SILENCE_S = 15.0", "SILENCE_S = 0.2")
               for word in agent_command("child", words)]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        lines = [json.loads(line) for line in run.stdout]  # its standard input stays open
        assert run.wait(20) == 0
    assert lines[1:] == [{"code": -signal.SIGKILL}]


def test_a_lock_is_held_until_it_is_released(ssh: SshRunner, tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with ssh.lock(path):
        assert ssh.run(["flock", "-n", path, "true"], check=False).exit_code == 1
    assert ssh.run(["flock", "-n", path, "true"], check=False).exit_code == 0


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(tmp_path / "socket"))
        listening.listen()
        yield listening


def test_messages_keep_their_borders(
    ssh: SshRunner, listener: socket.socket, tmp_path: Path
) -> None:
    with ssh.connect(listener.getsockname(), socket.SOCK_SEQPACKET) as near:
        far, _ = listener.accept()
        calls = (tmp_path / "calls").read_text()
        with far:
            sent = [b"a", b"\n\0", bytes(16 * 1024)]
            for message in sent:
                far.send(message)
            assert [near.recv(1 << 20) for _ in sent] == sent
            far.send(b"longer")
            far.send(b"next")
            assert [near.recv(4), near.recv(4)] == [b"long", b"next"]
            for message in (b"x", b"yz"):
                near.sendall(message)
            assert [far.recv(100), far.recv(100)] == [b"x", b"yz"]
        assert (tmp_path / "calls").read_text() == calls, "a message took more than a round trip"
        near.settimeout(20)
        assert near.recv(100) == b""


def test_silence_is_a_timeout_and_a_broken_connection_a_lost_host(
    ssh: SshRunner, listener: socket.socket, tmp_path: Path
) -> None:
    with ssh.connect(listener.getsockname(), socket.SOCK_SEQPACKET) as near:
        near.settimeout(0.01)
        with pytest.raises(TimeoutError):
            near.recv(100)
        (tmp_path / "cut").touch()
        with pytest.raises(HostLost):
            near.recv(100)


def test_a_socket_that_is_not_there_is_the_error_that_connect_would_raise(
    ssh: SshRunner, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        ssh.connect(str(tmp_path / "none"), socket.SOCK_SEQPACKET)


def test_without_an_ssh_client_it_says_what_to_install(tmp_path: Path) -> None:
    runner = SshRunner(SshTarget("box"), program=str(tmp_path / "none"))
    with pytest.raises(RemoteError) as caught:
        runner.run(["true"])
    assert "openssh-client" in caught.value.next_step


def test_folders_of_killed_processes_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    with tempfile.TemporaryDirectory(prefix="ws-", dir="/tmp") as base:
        monkeypatch.setenv("XDG_RUNTIME_DIR", base)
        stale, ours = (Path(base) / f"wirespeed-ssh-{pid}-x" for pid in (ended.pid, os.getpid()))
        stale.mkdir()
        ours.mkdir()
        SshRunner(SshTarget("box"), program="/no/ssh")
        assert not stale.exists()
        assert ours.exists()
