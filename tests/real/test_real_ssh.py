# SPDX-License-Identifier: Apache-2.0
"""Test the Runner of a host behind a real sshd, also when the link to it is cut."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from tests.support.lab_hosts import Lab, lab
from wirespeed.remote.interface import HostLost, HostUnreachable
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_target import SshTarget


@pytest.fixture(scope="module")
def one_host() -> Iterator[Lab]:
    with tempfile.TemporaryDirectory(prefix="wl") as folder, lab(Path(folder), ["box"]) as made:
        yield made


@pytest.fixture
def box(one_host: Lab) -> Iterator[SshRunner]:
    with one_host.runner("box") as runner:
        yield runner


def test_commands_files_and_children_are_the_other_hosts(box: SshRunner, tmp_path: Path) -> None:
    assert "control" in box.run(["ip", "-brief", "link"]).stdout
    assert box.glob("/sys/class/net/*") == ("/sys/class/net/control", "/sys/class/net/lo")
    path = str(tmp_path / "file")
    box.write(path, "text")
    assert box.read(path) == "text"
    with pytest.raises(PermissionError):
        box.write("/proc/sys/kernel/ostype", "x")
    cpu = min(os.sched_getaffinity(0))
    child = box.spawn(["sh", "-c", "nice; exec sleep 60"], log=path, cpus={cpu}, nice=-20)
    assert os.sched_getaffinity(child.pid) == {cpu}
    assert os.getpriority(os.PRIO_PROCESS, child.pid) == -20
    child.signal(signal.SIGTERM)
    assert child.wait(20) == -signal.SIGTERM


def test_stream_sockets_are_forwarded(box: SshRunner, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(tmp_path / "socket"))
        listening.listen()
        for _ in range(2):  # the second time through the same forward
            with box.connect(listening.getsockname(), socket.SOCK_STREAM) as near:
                near.sendall(b"asked")
                far, _ = listening.accept()
                with far:
                    assert far.recv(100) == b"asked"
                    far.sendall(b"told")
                assert near.recv(100) == b"told"
                assert near.recv(100) == b""


def test_lock_and_children_end_with_their_holder(one_host: Lab, tmp_path: Path) -> None:
    lock = str(tmp_path / "lock")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(one_host.ssh), one_host["box"].url, lock],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdout is not None
    with holder.stdout as said:
        child = os.pidfd_open(int(said.readline()))
    assert subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 1
    holder.kill()
    holder.wait(20)
    assert select.select([child], [], [], 20)[0], "the child outlived who started it"
    os.close(child)
    subprocess.run(["flock", "-w", "20", lock, "true"], check=True)


HOLDER = """
import sys
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_target import SshTarget
program, url, lock = sys.argv[1:]
runner = SshRunner(SshTarget.parse(url), program=program)
with runner.lock(lock):
    child = runner.spawn(["sleep", "600"], log="/dev/null")
    print(child.pid, flush=True)
    child.wait(600)
"""


def test_a_host_without_an_sshd_is_unreachable(one_host: Lab) -> None:
    nobody_listens = SshTarget.parse(one_host["box"].url + ":9")
    away = SshRunner(nobody_listens, program=str(one_host.ssh))
    with away, pytest.raises(HostUnreachable, match="Connection refused") as told:
        away.run(["true"])
    assert not isinstance(told.value, HostLost)


def test_a_cut_link_is_noticed_at_both_ends(one_host: Lab, tmp_path: Path) -> None:
    # One cut serves all checks, because each takes as long as the longest silence.
    lock, path = str(tmp_path / "lock"), str(tmp_path / "socket")
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening,
        one_host.runner("box") as box,
        one_host.runner("box") as other,
    ):
        listening.bind(path)
        listening.listen()
        with box.lock(lock), other.lock(f"{lock} of another"):
            child = box.spawn(["sleep", "600"], log="/dev/null")
            agent = int(box.run(["sh", "-c", "echo $PPID"]).stdout)
            there = [os.pidfd_open(pid) for pid in (child.pid, agent)]
            talk = box.connect(path, socket.SOCK_SEQPACKET)
            far, _ = listening.accept()
            one_host["box"].cut_off()
            try:
                waiting = [in_background(ask) for ask in (
                    lambda: box.run(["true"], timeout_s=60),
                    lambda: box.read("/proc/uptime"),
                    lambda: other.read("/proc/uptime"),  # its first call
                    lambda: talk.recv(100),
                    lambda: child.wait(60),
                )]  # fmt: skip
                for ask in waiting:
                    with pytest.raises(HostLost, match="connection to box broke"):
                        ask.result(60)
                with pytest.raises(HostLost):
                    child.poll()
                for each in there:
                    assert select.select([each], [], [], 60)[0], "it outlived the connection"
                assert far.recv(100) == b""  # the relay has ended
                subprocess.run(["flock", "-w", "20", lock, "true"], check=True)
            finally:
                one_host["box"].plug_in()
                far.close()
                for each in there:
                    os.close(each)


def in_background(ask: Any) -> Future[Any]:
    """Return a future for the result."""
    found: Future[Any] = Future()

    def run() -> None:
        try:
            found.set_result(ask())
        except BaseException as fault:
            found.set_exception(fault)

    threading.Thread(target=run, daemon=True).start()
    return found
