# SPDX-License-Identifier: Apache-2.0
"""Ask a real QEMU, without a machine in it, by its monitor."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wirespeed.bench.guest import monitor
from wirespeed.bench.host.process import await_true
from wirespeed.bench.interface import BenchError
from wirespeed.remote.local import LocalRunner

QEMU = "qemu-system-x86_64"
pytestmark = pytest.mark.skipif(shutil.which(QEMU) is None, reason=f"needs {QEMU}")


NIC = ("-netdev", "hubport,id=net0,hubid=0",
       "-device", "virtio-net-pci,netdev=net0,id=nic0,mac=02:00:00:00:00:01")  # fmt: skip


@pytest.fixture
def socket(tmp_path: Path) -> Iterator[str]:
    with qemu("none", tmp_path, "-object", "iothread,id=io0") as path:
        yield path


def answers(path: Path) -> bool:
    """Return whether QEMU answers; it listens before it has built the machine."""
    try:
        monitor.ask(LocalRunner(), str(path))
    except BenchError:
        return False
    return True


@contextmanager
def qemu(machine: str, tmp_path: Path, *words: str) -> Iterator[str]:
    """Run a QEMU with these further words; yield the path of its monitor."""
    path = tmp_path / "monitor"
    command = [QEMU, "-machine", machine, "-nodefaults", "-display", "none", *words,
               "-qmp", f"unix:{path},server=on,wait=off"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            await_true(
                lambda: answers(path), within_s=30.0, otherwise=lambda: "no monitor",
                alive=lambda: None if process.poll() is None else str(process.communicate()),
            )  # fmt: skip
            yield str(path)
        finally:
            process.kill()


def test_settings_of_a_real_qemu_that_is_paused_differ_in_its_status(socket: str) -> None:
    runner = LocalRunner()
    running = monitor.settings(runner, socket)
    assert running["status"] == "running"
    assert running["I/O thread io0, poll-max-ns"].isdigit()
    monitor.ask(runner, socket, "stop")
    assert monitor.settings(runner, socket) == {**running, "status": "paused"}


def test_settings_of_a_real_qemu_with_a_nic_have_its_filter_and_its_memory(tmp_path: Path) -> None:
    words = ("-m", "64M", "-S", *NIC, "-chardev", "null,id=charnet0")
    with qemu("q35,accel=tcg", tmp_path, *words) as path:
        found = monitor.settings(LocalRunner(), path)
    assert found["memory in octets"] == str(64 << 20)
    assert found["NIC nic0, main-mac"] == "02:00:00:00:00:01"
    assert found["NIC nic0, vlan"]
    assert found["migration"] == "none"
    assert found["socket charnet0"] == "connected"


def test_ask_refused_command_is_a_bench_error_that_names_it(socket: str) -> None:
    with pytest.raises(BenchError, match="query-nothing"):
        monitor.ask(LocalRunner(), socket, "query-nothing")


def test_ask_monitor_that_is_not_there_is_a_bench_error(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="does not answer"):
        monitor.ask(LocalRunner(), str(tmp_path / "none"), "query-status")
