# SPDX-License-Identifier: Apache-2.0
"""Ask a real QEMU, without a machine in it, by its monitor."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.bench.guest import monitor
from wirespeed.bench.host.process import await_true
from wirespeed.bench.interface import BenchError
from wirespeed.remote.local import LocalRunner

QEMU = "qemu-system-x86_64"
pytestmark = pytest.mark.skipif(shutil.which(QEMU) is None, reason=f"needs {QEMU}")


@pytest.fixture
def socket(tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "monitor"
    command = [QEMU, "-machine", "none", "-nodefaults", "-display", "none",
               "-object", "iothread,id=io0", "-qmp", f"unix:{path},server=on,wait=off"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as qemu:
        await_true(
            path.exists, within_s=30.0, otherwise=lambda: "no monitor",
            alive=lambda: None if qemu.poll() is None else str(qemu.communicate()),
        )  # fmt: skip
        yield str(path)
        qemu.kill()


def test_settings_of_a_real_qemu_that_is_paused_differ_in_its_status(socket: str) -> None:
    runner = LocalRunner()
    running = monitor.settings(runner, socket)
    assert running["status"] == "running"
    assert running["I/O thread io0, poll-max-ns"].isdigit()
    monitor.ask(runner, socket, "stop")
    assert monitor.settings(runner, socket) == {**running, "status": "paused"}


def test_ask_refused_command_is_a_bench_error_that_names_it(socket: str) -> None:
    with pytest.raises(BenchError, match="query-nothing"):
        monitor.ask(LocalRunner(), socket, "query-nothing")


def test_ask_monitor_that_is_not_there_is_a_bench_error(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="does not answer"):
        monitor.ask(LocalRunner(), str(tmp_path / "none"), "query-status")
