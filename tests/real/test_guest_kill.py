# SPDX-License-Identifier: Apache-2.0
"""Check that a guest ends with the wirespeed that started it, however that ends.

QEMU needs no system to boot for that: it runs with an empty disk.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.real_bench import RUNNER, leftovers
from wirespeed.bench.host.changes import GuestStarted, start_ticks
from wirespeed.bench.host.host import tidy_up

REPOSITORY = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("needs_root")

RUN = """
import os, sys
from pathlib import Path
from wirespeed.bench.guest.process import GuestProcess
from wirespeed.bench.host.directories import run_directories
from wirespeed.bench.host.host import changing_host
from wirespeed.remote.state import state_directory
from wirespeed.bench.host.process import await_true
from wirespeed.remote.local import LocalRunner
domain = '''<domain type="qemu"><name>idle</name><memory unit="MiB">64</memory><vcpu>1</vcpu>
<os><type arch="x86_64" machine="q35">hvm</type></os><features><acpi/></features>
<devices/></domain>'''
with (
    changing_host(LocalRunner(), state_directory(os.environ)) as host,
    run_directories(host, Path(sys.argv[1])) as dirs,
):
    guest = GuestProcess("idle", host, dirs)
    guest.prepare()
    guest.start(domain)
    await_true(guest.pid, within_s=300, alive=guest.ended, otherwise=guest.last_lines)
    # Until then QEMU ends by itself when libvirt does.
    started = Path(f"{guest.root}/run/qemu/idle.xml")
    await_true(
        lambda: started.exists() and "state='running'" in started.read_text(),
        within_s=300, alive=guest.ended, otherwise=guest.last_lines,
    )
    print(guest.pid(), guest.root, flush=True)
    sys.stdin.readline()
    guest.stop()
    print("stopped", flush=True)
"""


def started(logs: Path) -> tuple[subprocess.Popen[str], int, str]:
    """Start a wirespeed with a guest; return it, QEMU's PID and libvirt's root."""
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, str(logs)],
        cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert run.stdout is not None
    pid, root = run.stdout.readline().split()
    return run, int(pid), root


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while start_ticks(RUNNER, pid) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    return start_ticks(RUNNER, pid) is None


def test_stopped_in_good_order_nothing_is_left(tmp_path: Path) -> None:
    run, pid, _ = started(tmp_path)
    assert run.communicate("now\n", timeout=60)[0] == "stopped\n"
    assert gone(pid)
    assert leftovers() == []


def test_killed_the_next_command_ends_its_qemu(tmp_path: Path) -> None:
    run, pid, root = started(tmp_path)
    run.kill()
    run.wait(60)
    state = Path(os.environ["XDG_STATE_HOME"]) / "wirespeed"
    undone = tidy_up(RUNNER, state)
    assert not undone.failed
    assert f"ended guest idle (process {pid})" in "\n".join(undone.done)
    assert gone(pid)
    assert not Path(root).exists()


def test_another_process_with_the_number_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        (tmp_path / "run" / "qemu").mkdir(parents=True)
        (tmp_path / "run" / "qemu" / "idle.pid").write_text(str(stranger.pid))
        change = GuestStarted("idle", str(tmp_path))
        assert change.pid(RUNNER) is None
        assert change.undo(RUNNER) is None
        assert stranger.poll() is None
    finally:
        stranger.send_signal(signal.SIGTERM)
        stranger.wait(10)


def test_process_that_becomes_another_program_is_there_all_the_time(tmp_path: Path) -> None:
    """libvirt writes the PID before its child becomes QEMU, and execve(2) takes a moment."""
    (tmp_path / "run" / "qemu").mkdir(parents=True)
    again = 'exec sh -c "$0" "$0" "$1"'
    with subprocess.Popen(["sh", "-c", again, again, f"{tmp_path}/"]) as changing:
        try:
            (tmp_path / "run" / "qemu" / "idle.pid").write_text(str(changing.pid))
            change = GuestStarted("idle", str(tmp_path))
            assert {change.pid(RUNNER) for _ in range(1000)} == {changing.pid}
        finally:
            changing.kill()
    assert change.pid(RUNNER) is None
