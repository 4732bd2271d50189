# SPDX-License-Identifier: Apache-2.0
"""Test that missing requirements are reported at once, and that any end of `up` leaves nothing.

QEMU is a stand-in with the behaviour that a test needs; the rest is real.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.waiting import until
from wirespeed.bench.host.changes import start_ticks
from wirespeed.image.cache import ImageCache
from wirespeed.lab import needs
from wirespeed.lab.errors import LabError
from wirespeed.lab.lab import Lab, LabBusy, lab_file
from wirespeed.lab.machine import MachineSpec
from wirespeed.lab.node import Node
from wirespeed.model.errors import BadInput
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import keep_ssh_config, ssh_config_of
from wirespeed.study.lab import parse_lab

SPEC = MachineSpec("lab1", 1, 8, 3, 1)
# Writes its pid like QEMU with -pidfile, and stays.
STAYS = ["sh", "-c", "echo $$ > qemu.pid; exec sleep 600"]


def node(lab: Lab, command: list[str], spec: MachineSpec = SPEC) -> Node:
    folder = lab.folder / spec.name
    folder.mkdir(parents=True)
    made = Node(spec, folder)
    made.save(command)
    return made


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "wirespeed", LocalRunner())


def started(made: Node) -> int:
    made.start()
    while made.pid is None:
        assert made.running
    return made.pid


def await_end(pid: int) -> None:
    """Wait for the end of a process: the kernel frees its locks a moment earlier."""
    until(lambda: start_ticks(LocalRunner(), pid) is None, f"the end of process {pid}")


def test_a_node_runs_until_it_is_killed_and_no_longer(lab: Lab) -> None:
    made = node(lab, STAYS)
    assert not made.running
    pid = started(made)
    with pytest.raises(LabError, match="already running"):
        made.start()
    made.kill()
    assert not made.running
    assert made.pid is None
    await_end(pid)


def test_a_node_that_ends_while_it_boots_has_a_reason(lab: Lab) -> None:
    made = node(lab, ["sh", "-c", "echo 'Could not set up host forwarding rule' >&2; exit 1"])
    made.start()
    with pytest.raises(LabError, match="lab1 ended: Could not set up host forwarding rule"):
        made.await_answer()


def test_a_kernel_that_panics_is_reported_from_its_console(lab: Lab) -> None:
    panic = "[ 1.0] Kernel panic - not syncing: no init found"
    made = node(
        lab, ["sh", "-c", f"echo '{panic}' > console.log; echo $$ > qemu.pid; exec sleep 600"]
    )
    made.start()
    try:
        with pytest.raises(LabError, match=r"lab1 stopped: Kernel panic.*no init found"):
            made.await_answer()
    finally:
        made.kill()


def test_a_node_that_hangs_is_given_up(lab: Lab) -> None:
    made = node(lab, STAYS)
    made.start()
    try:
        with pytest.raises(LabError, match="did not answer within 0 s"):
            made.await_answer(0.0)
    finally:
        made.kill()


def test_down_ends_what_a_killed_up_has_started_and_removes_it(lab: Lab) -> None:
    pid = started(node(lab, STAYS))
    keep_ssh_config(lab.state, "lab1", lab.folder / "lab1" / "node.json")
    assert not lab.is_up
    assert lab.remove_leftover() == ("ended lab1", f"removed {lab.folder}")
    await_end(pid)
    assert not lab.folder.exists()
    assert ssh_config_of(lab.state, "lab1") is None
    assert lab.down() == ()


def test_a_lab_that_is_up_is_no_leftover(lab: Lab) -> None:
    made = node(lab, STAYS)
    started(made)
    (lab.folder / "up").touch()
    try:
        assert lab.is_up
        assert lab.remove_leftover() == ()
        with pytest.raises(LabError, match="already up: lab1"):
            lab.up(ImageCache(lab.state / "images", lab.runner))
    finally:
        lab.down()


def test_clean_removes_a_lab_whose_up_was_killed(lab: Lab) -> None:
    pid = started(node(lab, STAYS))
    done = subprocess.run(
        [sys.executable, "-m", "wirespeed.cli.main", "clean"],
        env={**os.environ, "XDG_STATE_HOME": str(lab.state.parent)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "ended lab1" in done.stdout
    await_end(pid)


def test_two_commands_do_not_change_a_lab_at_once(lab: Lab) -> None:
    with lab._changing(), pytest.raises(LabBusy, match="another command"):
        lab.down()


def test_everything_that_is_missing_is_reported_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "bin"
    old.mkdir()
    qemu = old / "qemu-system-x86_64"
    qemu.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "QEMU emulator version 7.2.1 (Debian)" && exit\n'
        'echo "Device igb not found" >&2; exit 1\n'
    )
    qemu.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old}:{os.environ['PATH']}")
    huge = [MachineSpec("lab1", 1, 8, 1 << 20, 1)]
    with pytest.raises(LabError) as fault:
        # As in a fresh container, where nobody has made the state directory yet.
        needs.check(LocalRunner(), huge, tmp_path / "absent" / "state")
    assert "QEMU 7.2.1 emulates no SR-IOV NIC (igb)" in fault.value.what
    assert "1 nodes take 2097152 GiB of memory" in fault.value.what


def test_without_an_image_up_says_how_it_is_built_and_leaves_nothing(lab: Lab) -> None:
    with pytest.raises(LabError, match="image is not built") as fault:
        lab.up(ImageCache(lab.state / "images", lab.runner), nodes=1)
    assert "make lab" in fault.value.next_step
    assert not lab.folder.exists()


@pytest.mark.root
def test_a_full_disk_is_reported_before_anything_is_made(small_disk: Path) -> None:
    lab = Lab(small_disk / "wirespeed", LocalRunner())
    with pytest.raises(LabError, match="MiB of disk"):
        lab.up(ImageCache(small_disk, lab.runner), nodes=1)
    assert not lab.folder.exists()


@pytest.mark.parametrize("nodes", [0, 3])
def test_a_number_of_nodes_that_there_is_not_is_refused(lab: Lab, nodes: int) -> None:
    with pytest.raises(BadInput, match=f"--nodes {nodes}:"):
        lab.up(ImageCache(lab.state, lab.runner), nodes=nodes)


def test_an_unknown_node_is_refused_by_name(lab: Lab) -> None:
    with pytest.raises(BadInput, match="no node 'lab9': the lab is down"):
        lab.node("lab9")


def test_the_testbed_file_is_one_that_a_study_reads(lab: Lab) -> None:
    nodes = [node(lab, [], MachineSpec(f"lab{n}", n, 8, 3, 1)) for n in (1, 2)]
    read = parse_lab(tomllib.loads(lab_file(nodes)), "lab.toml")
    assert list(read.hosts) == ["lab1", "lab2"]
    assert read.hosts["lab2"].ssh == "ssh://lab2"
    assert set(read.hosts["lab1"].ports) == {"east", "west"}


def test_the_process_that_started_a_node_may_die(lab: Lab) -> None:
    made = node(lab, STAYS)
    code = (
        "import os, signal, sys; from pathlib import Path; from wirespeed.lab.node import Node\n"
        "Node.load(Path(sys.argv[1])).start(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(made.folder)], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    try:
        assert made.running
    finally:
        made.kill()


def test_an_interrupted_up_does_not_wait_for_nodes_that_boot(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [node(lab, STAYS, MachineSpec(f"lab{n}", n, 8, 4, 1)) for n in (1, 2)]
    for each in nodes:
        started(each)

    def interrupted(each: Node) -> None:
        if each.name == "lab1":
            raise KeyboardInterrupt
        await_answer(each)

    await_answer = Node.await_answer
    monkeypatch.setattr(Node, "await_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lab._await_all(nodes)
    assert not any(each.running for each in nodes)
