# SPDX-License-Identifier: Apache-2.0
"""Test the cables between two nodes, and that a removed testbed leaves nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.lab_node import LabNode, images
from wirespeed.lab.lab import Lab
from wirespeed.lab.machine import CABLES, port_address
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.socket_paths import local_socket_base
from wirespeed.remote.ssh import SshRunner

pytestmark = pytest.mark.lab(whole=True)
CYCLES = 20
_FIRST_OCTETS = """
import socket
print(socket.create_connection(("192.0.2.2", 22), 60).recv(4).decode())
"""


@pytest.mark.parametrize("cable", CABLES)
def test_frames_cross_each_cable(lab_pair: tuple[LabNode, LabNode], cable: str) -> None:
    with lab_pair[0].runner() as one, lab_pair[1].runner() as two:
        for number, runner in enumerate((one, two), 1):
            name = interface(runner, cable)
            runner.run(["ip", "link", "set", name, "up"])
            runner.run(["ip", "address", "add", f"192.0.2.{number}/24", "dev", name])
        try:
            # sshd of the other node sends its banner first.
            assert one.run(["python3", "-c", _FIRST_OCTETS], timeout_s=120).stdout == "SSH-\n"
        finally:
            for runner in (one, two):
                runner.run(["ip", "address", "flush", "dev", interface(runner, cable)])


def test_labs_that_came_and_went_leave_nothing(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "wirespeed", LocalRunner())
    before = traces()
    for _ in range(CYCLES):
        lab.up(images(), nodes=1)
        assert lab.is_up
        lab.down()
        assert traces() == before
        assert sorted(path.name for path in lab.state.rglob("*")) == ["lab.lock", "ssh"]


def traces() -> tuple[object, ...]:
    """Return everything that a testbed could leave: interfaces, huge pages, sockets, processes."""
    return (
        sorted(os.listdir("/sys/class/net")),
        [path.read_text() for path in Path("/sys/kernel/mm/hugepages").glob("*/nr_hugepages")],
        sorted(Path(local_socket_base()).glob(f"wirespeed-ssh-{os.getpid()}-*")),
        sorted(emulators()),
    )


def emulators() -> Iterator[int]:
    """Yield the QEMU processes of a testbed."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if b"qemu.pid" in words:
                yield int(path.parent.name)


def interface(runner: SshRunner, cable: str) -> str:
    return runner.glob(f"/sys/bus/pci/devices/{port_address(cable)}/net/*")[0].rsplit("/", 1)[1]
