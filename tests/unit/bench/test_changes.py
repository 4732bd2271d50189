# SPDX-License-Identifier: Apache-2.0
"""Check that each kind of change to a host undoes itself."""

from __future__ import annotations

import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.waiting import state_of
from tests.unit.bench.fake_host import FakeHost
from tests.unit.bench.test_journal import RUNNER
from wirespeed.bench.host.change import Change
from wirespeed.bench.host.changes import (
    HugePagesAdded,
    PciBound,
    ProcessStarted,
    change_from_json,
    start_ticks,
)
from wirespeed.bench.host.host import changing_host
from wirespeed.bench.host.network_changes import InterfaceMade, InterfaceMoved, InterfaceSet
from wirespeed.bench.interface import BenchError
from wirespeed.remote.interface import Completed


def test_a_change_of_a_newer_version_is_refused_by_name() -> None:
    with pytest.raises(BenchError, match="'Teleported'"):
        change_from_json({"kind": "Teleported"})


def test_a_process_is_ended_only_if_it_is_the_one_that_was_started(tmp_path: Path) -> None:
    with changing_host(RUNNER, tmp_path) as state:
        child = state.spawn(["sleep", "600"], log=str(tmp_path / "log"))
        assert ProcessStarted(child.pid, 1, "sleep").undo(RUNNER) is None
        assert child.poll() is None
    assert child.wait(20) == -signal.SIGKILL


# The main thread ends alone when it has read a line.
_HEADLESS = """
import ctypes, sys, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
sys.stdin.readline()
ctypes.CDLL(None).syscall(int(sys.argv[1]), 0)
"""
_SYS_EXIT = {"x86_64": 60, "aarch64": 93}


@pytest.mark.skipif(platform.machine() not in _SYS_EXIT, reason="number of exit(2) is not known")
def test_process_whose_main_thread_ended_alone_still_runs_and_is_ended() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", _HEADLESS, str(_SYS_EXIT[platform.machine()])],
        stdin=subprocess.PIPE,
    )
    try:
        ticks = start_ticks(RUNNER, child.pid)
        assert ticks is not None
        assert child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.close()
        while state_of(child.pid) != "Z":
            assert child.poll() is None
        started = ProcessStarted(child.pid, ticks, "python3")
        assert started.undo(RUNNER) == f"ended python3 (process {child.pid})"
        assert started.undo(RUNNER) is None  # a zombie without threads, until the line below
        assert child.wait(20) == -signal.SIGKILL
    finally:
        child.kill()
        child.wait()


def test_huge_pages_are_given_back_but_never_below_zero() -> None:
    change = HugePagesAdded(node=1, size_kib=2048, count=8)
    host = FakeHost({f"{change.pool}/nr_hugepages": "20\n"})
    assert change.undo(host) == "gave back 8 huge pages of 2048 KiB on node 1"
    assert host.files[f"{change.pool}/nr_hugepages"] == "12"
    host.files[f"{change.pool}/nr_hugepages"] = "0"
    assert change.undo(host) is None


class Recorded(FakeHost):
    """Records the commands that it was given."""

    def __init__(self, files: dict[str, str], exit_code: int = 0) -> None:
        super().__init__(files)
        self.commands: list[str] = []
        self.exit_code = exit_code

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        self.commands.append(" ".join(argv))
        return Completed(tuple(argv), self.exit_code, "", "")


@pytest.mark.parametrize(
    ("change", "command"),
    [
        (InterfaceMade("eth7"), "ip link delete eth7"),
        (InterfaceSet("eth7", was_up=False, was_mtu=1500, was_promiscuous=False),
         "ip link set eth7 mtu 1500 promisc off down"),
        (InterfaceSet("eth7", was_up=True, was_mtu=9000, was_promiscuous=True),
         "ip link set eth7 mtu 9000 promisc on up"),
    ],
)  # fmt: skip
def test_interfaces_become_what_they_were(change: Change, command: str) -> None:
    host = Recorded({"/sys/class/net/eth7": ""})
    assert change.undo(host) is not None
    assert host.commands == [command]
    unplugged = Recorded({})
    assert change.undo(unplugged) is None
    assert unplugged.commands == []


def test_an_interface_is_taken_back_from_a_namespace() -> None:
    host = Recorded({})
    assert InterfaceMoved("ens1f0v0", "wsx-server", "eth0").undo(host) is not None
    assert host.commands[1:] == [
        "ip -n wsx-server link set dev eth0 down",
        "ip -n wsx-server link set dev eth0 netns 1 name ens1f0v0",
    ]
    never_moved = Recorded({}, exit_code=1)
    assert InterfaceMoved("ens1f0v0", "wsx-server", "eth0").undo(never_moved) is None
    assert len(never_moved.commands) == 1


def test_a_pci_device_goes_back_to_its_driver() -> None:
    device = "/sys/bus/pci/devices/0000:01:00.0"
    files = {
        f"{device}/driver_override": "vfio-pci\n",
        f"{device}/driver": "/sys/bus/pci/drivers/vfio-pci",
    }
    host = FakeHost(files)
    done = PciBound("0000:01:00.0", "ixgbe").undo(host)
    assert done == "gave 0000:01:00.0 back to ixgbe"
    assert files[f"{device}/driver/unbind"] == "0000:01:00.0"
    assert files["/sys/bus/pci/drivers/ixgbe/bind"] == "0000:01:00.0"
    assert files[f"{device}/driver_override"] == "\n"


@pytest.mark.parametrize(("enable", "said"), [("1\n", "gave 0000:01:10.0 back to no driver"),
                                              ("0\n", None)])  # fmt: skip
def test_a_vf_enabled_and_not_yet_bound_is_disabled(enable: str, said: str | None) -> None:
    device = "/sys/bus/pci/devices/0000:01:10.0"
    files = {f"{device}/driver_override": "vfio-pci\n", f"{device}/enable": enable}
    assert PciBound("0000:01:10.0", "", enabled=True).undo(FakeHost(files)) == said
    assert files[f"{device}/enable"].strip() == "0"
