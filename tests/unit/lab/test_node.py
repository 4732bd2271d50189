# SPDX-License-Identifier: Apache-2.0
"""Test races of a node: a reboot, a slow sshd, and a reader of its file.

Time, the sshd and the connections over ssh are stand-ins; the lock of a running QEMU is real.
"""

from __future__ import annotations

import fcntl
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

import pytest

from wirespeed.lab import node as node_module
from wirespeed.lab.errors import LabError
from wirespeed.lab.machine import MachineSpec
from wirespeed.lab.node import Node
from wirespeed.remote.interface import HostLost, HostUnreachable, RemoteError

OLD, NEW = "old boot\n", "new boot\n"
PANIC = "[ 1.0] Kernel panic - not syncing: no init found\n"


class Clock:
    """Time that passes only while someone waits."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass(frozen=True)
class FakeRunner:
    """A connection over ssh; `run` or `read` raises the error that is given for it."""

    on_run: RemoteError | None = None
    on_read: RemoteError | None = None
    boot_id: str = NEW

    def __enter__(self) -> FakeRunner:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def run(self, _: list[str], **__: float) -> None:
        if self.on_run is not None:
            raise self.on_run

    def read(self, _: str) -> str:
        if self.on_read is not None:
            raise self.on_read
        return self.boot_id


class FakeSshd:
    """A connection whose banner takes this number of seconds."""

    def __init__(self, clock: Clock, banner_s: float, timeout_s: float) -> None:
        self._clock, self._banner_s, self._timeout_s = clock, banner_s, timeout_s

    def __enter__(self) -> FakeSshd:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def recv(self, most: int) -> bytes:
        self._clock.sleep(min(self._banner_s, self._timeout_s))
        if self._timeout_s < self._banner_s:
            raise TimeoutError
        return b"SSH-2.0-OpenSSH\r\n"[:most]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(node_module, "time", made)
    return made


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Node]:
    with open(tmp_path / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Node(MachineSpec("lab1", 1, 8, 4, 1), tmp_path)


def reached_by(monkeypatch: pytest.MonkeyPatch, runners: Iterator[FakeRunner]) -> None:
    monkeypatch.setattr(Node, "runner", lambda _: next(runners))


def greeted_after(monkeypatch: pytest.MonkeyPatch, clock: Clock, banner_s: float) -> None:
    """Let each connection's banner take this number of seconds."""

    def connected(_: tuple[str, int], timeout: float) -> FakeSshd:
        return FakeSshd(clock, banner_s, timeout)

    monkeypatch.setattr(socket, "create_connection", connected)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    "old_sshd",
    [
        FakeRunner(on_run=HostUnreachable("lab1 could not be reached")),
        FakeRunner(on_run=HostLost("the connection to lab1 broke")),
        FakeRunner(on_read=HostLost("the connection to lab1 broke")),
        FakeRunner(boot_id=OLD),
    ],
)
def test_await_reboot_old_sshd_answers_waits_for_the_new_boot(
    old_sshd: FakeRunner, running: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = iter([old_sshd, old_sshd])
    reached_by(monkeypatch, chain(old, repeat(FakeRunner())))
    monkeypatch.setattr(Node, "_listens", lambda *_: True)
    running.await_reboot(OLD)
    assert next(old, None) is None


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    "runner", [FakeRunner(on_run=HostUnreachable("refused")), FakeRunner(boot_id=OLD)]
)
def test_await_reboot_no_new_boot_raises_at_the_deadline(
    runner: FakeRunner, running: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached_by(monkeypatch, repeat(runner, 200))
    monkeypatch.setattr(Node, "_listens", lambda *_: True)
    with pytest.raises(LabError, match="lab1 did not reboot within 5 s"):
        running.await_reboot(OLD, 5.0)


@pytest.mark.usefixtures("clock")
def test_await_reboot_kernel_panics_raises(running: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Node, "_listens", lambda *_: False)
    running.console.write_text(PANIC)
    with pytest.raises(LabError, match="lab1 stopped: Kernel panic"):
        running.await_reboot(OLD)


@pytest.mark.usefixtures("clock")
def test_await_reboot_qemu_ends_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = Node(MachineSpec("lab1", 1, 8, 4, 1), tmp_path)
    ended.log.write_text("terminating on signal 15\n")
    monkeypatch.setattr(Node, "_listens", lambda *_: False)
    with pytest.raises(LabError, match="lab1 ended: terminating on signal 15"):
        ended.await_reboot(OLD)


def test_await_answer_banner_takes_seconds_waits_for_it(
    clock: Clock, running: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached_by(monkeypatch, repeat(FakeRunner()))
    greeted_after(monkeypatch, clock, banner_s=8.0)
    running.await_answer(60.0)
    assert clock.now == 8.0


def test_await_answer_banner_never_comes_ends_at_the_deadline(
    clock: Clock, running: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    greeted_after(monkeypatch, clock, banner_s=1e9)
    with pytest.raises(LabError, match="lab1 did not answer within 15 s"):
        running.await_answer(15.0)
    assert clock.now < 16.0


def test_await_answer_kernel_panics_between_probes_raises(
    clock: Clock, running: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    greeted_after(monkeypatch, clock, banner_s=1e9)
    running.console.write_text(PANIC)
    with pytest.raises(LabError, match="lab1 stopped: Kernel panic"):
        running.await_answer()
    assert clock.now <= 10.0


def test_node_save_meanwhile_read_is_whole_or_absent(tmp_path: Path) -> None:
    node = Node(MachineSpec("lab1", 1, 8, 4, 1), tmp_path)
    read: list[Node] = []

    def look(*_: object) -> None:
        """Read the file as `lab status` does, at each call that `save` makes."""
        if (tmp_path / "node.json").exists():
            read.append(Node.load(tmp_path))

    sys.setprofile(look)
    try:
        node.save(["qemu-system-x86_64"])
        node.save(["qemu-system-x86_64", "-nodefaults"])
    finally:
        sys.setprofile(None)
    assert set(read) == {node}
