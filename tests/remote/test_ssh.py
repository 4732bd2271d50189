# SPDX-License-Identifier: Apache-2.0
"""Does the ssh Runner run exactly what it is told, and refuse names that ssh would misread?

A stand-in for ssh runs the command line with `sh -c`, as sshd does with a POSIX login shell.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wirespeed.model.errors import BadInput
from wirespeed.remote.interface import HostUnreachable, ProgramMissing, RemoteError
from wirespeed.remote.ssh import SshRunner, SshTarget, glob_words, shell_line

# Options come before "--", then the host, then one word: the command line.
STAND_IN = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
for word; do last=$word; done
case " $* " in *" -O "*) exit 0;; esac
case "$*" in *unreachable*) echo "ssh: connect to host: Connection refused" >&2; exit 255;; esac
exec sh -c "$last"
"""
WORDS = st.lists(
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=12),
    max_size=4,
)


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[SshRunner]:
    program = tmp_path / "ssh"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    with SshRunner(SshTarget("box", "me", 2222), program=str(program)) as runner:
        yield runner


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
    call = (tmp_path / "calls").read_text().split("\n")[0]
    assert call.endswith("-p 2222 -l me -- box true")
    assert "BatchMode=yes" in call
    assert "ControlMaster=auto" in call


def test_failure_absence_and_unreachable_are_told_apart(ssh: SshRunner) -> None:
    assert ssh.run(["sh", "-c", "exit 3"], check=False).exit_code == 3
    with pytest.raises(RemoteError, match="ended with 3: oops"):
        ssh.run(["sh", "-c", "echo oops >&2; exit 3"])
    with pytest.raises(ProgramMissing, match="no-such-program is not installed on box"):
        ssh.run(["no-such-program"])
    with pytest.raises(HostUnreachable, match=r"could not be reached: .*Connection refused") as far:
        ssh.run(["echo", "unreachable"])
    assert far.value.exit_code == 2
    assert "`ssh ssh://me@box:2222 true`" in far.value.next_step


def test_files_are_read_in_one_call(ssh: SshRunner, tmp_path: Path) -> None:
    odd = tmp_path / "a: b\tc"
    odd.write_text("x\n\ny\n")
    (tmp_path / "empty").write_text("")
    before = (
        len((tmp_path / "calls").read_text().splitlines()) if (tmp_path / "calls").exists() else 0
    )
    paths = [str(odd), str(tmp_path / "empty"), "/no/such", str(tmp_path)]
    got = ssh.read_many(paths)
    assert len((tmp_path / "calls").read_text().splitlines()) == before + 1
    assert got[str(odd)] == "x\n\ny\n"
    assert got[str(tmp_path / "empty")] == ""
    assert isinstance(got["/no/such"], FileNotFoundError)
    assert isinstance(got[str(tmp_path)], IsADirectoryError)


def test_read_and_write_are_exact(ssh: SshRunner, tmp_path: Path) -> None:
    path = str(tmp_path / "it's $HOME")
    ssh.write(path, "no newline at the end")
    assert ssh.read(path) == "no newline at the end"
    with pytest.raises(FileNotFoundError):
        ssh.read("/no/such")


def test_globs_match_and_nothing_else_expands(ssh: SshRunner, tmp_path: Path) -> None:
    for name in ("a1", "a2", "b c", "$x"):
        (tmp_path / name).write_text("")
    base = str(tmp_path)
    assert ssh.glob(f"{base}/a[0-9]", f"{base}/b *") == (f"{base}/a1", f"{base}/a2", f"{base}/b c")
    assert ssh.glob(f"{base}/$?") == (f"{base}/$x",)
    assert ssh.glob(f"{base}/none*") == ()
    assert glob_words("/a b/$(id)/*") == "'/a b/$(id)/'*"


def test_links_are_followed(ssh: SshRunner, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/usr/../etc")
    assert ssh.readlink(str(tmp_path / "link")) == "/etc"


def test_a_child_is_started_signalled_and_its_end_is_told(ssh: SshRunner, tmp_path: Path) -> None:
    child = ssh.spawn(["sleep", "60"], log=str(tmp_path / "log"))
    assert child.poll() is None
    child.signal(signal.SIGTERM)
    assert child.wait(10) == -signal.SIGTERM
    failed = ssh.spawn(["sh", "-c", "echo said; exit 7"], log=str(tmp_path / "log 2"))
    assert failed.wait(10) == 7
    assert (tmp_path / "log 2").read_text() == "said\n"


def test_a_child_dies_with_the_connection(ssh: SshRunner, tmp_path: Path) -> None:
    child = ssh.spawn(["sleep", "60"], log=str(tmp_path / "log"), env={"A": "1"}, cpus={0})
    pidfd = os.pidfd_open(child.pid)
    try:
        child._popen.stdin.close()  # what sshd does when the connection breaks
        poller = select.poll()
        poller.register(pidfd)
        assert poller.poll(10_000)
    finally:
        os.close(pidfd)


def test_only_stream_sockets_can_be_forwarded(ssh: SshRunner) -> None:
    with pytest.raises(RemoteError, match="SOCK_SEQPACKET"):
        ssh.connect("/run/x", socket.SOCK_SEQPACKET)


def test_without_an_ssh_client_it_says_what_to_install(tmp_path: Path) -> None:
    runner = SshRunner(SshTarget("box"), program=str(tmp_path / "none"))
    with pytest.raises(RemoteError) as caught:
        runner.run(["true"])
    assert "openssh-client" in caught.value.next_step
