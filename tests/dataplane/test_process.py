# SPDX-License-Identifier: Apache-2.0
"""Check that wsdp starts, rejects and ends as a parent process relies on."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.dataplane.program import WSDP, check, eal_section, running

LOOP = """
[port.p]
device = net_ring0
[task.t]
type = io
lcore = 1
rx = p:0
tx = p:0
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number: signal.Signals) -> None:
    with running(LOOP) as wsdp:
        assert wsdp.end(number) == 0
        assert not list(wsdp.directory.glob("dpdk/*/dpdk_telemetry*"))


def test_check_starts_nothing_and_says_so(tmp_path: Path) -> None:
    done = check(eal_section() + LOOP, tmp_path, "--check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path}/wsdp.ini: no faults\n"
    assert not (tmp_path / "dpdk").exists()


@pytest.mark.parametrize("options", [(), ("--check",)])
def test_faults_end_it_before_dpdk_starts(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = check(eal_section() + LOOP + "bogus = 1\n[ring.r]\nsize = 0\n", tmp_path, *options)
    assert done.returncode == 2
    file = tmp_path / "wsdp.ini"
    assert done.stderr.splitlines() == [
        f"{file}: [ring.r] size = 0: must be a whole number from 1 to 1048576",
        f"{file}: [ring.r]: no task writes to this ring: one must have tx = ring:r",
        f"{file}: [ring.r]: no task reads from this ring: one must have rx = ring:r",
        f"{file}: [task.t] bogus = 1: unknown key",
        f"wsdp: {file}: 4 faults; nothing was started",
    ]
    assert not (tmp_path / "dpdk").exists()


def test_lines_that_are_no_ini_are_named(tmp_path: Path) -> None:
    done = check("key = 1\n[port.p] ; fine\n\n  device net_ring0 ; what?\n", tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f'{tmp_path}/wsdp.ini: line 1: "key = 1" must be in a section; none has begun yet',
        f'{tmp_path}/wsdp.ini: line 4: "device net_ring0 " must be [section] or key = value '
        "(a comment starts with ;)",
    ]


@pytest.mark.parametrize(
    ("ini", "message"),
    [
        (
            LOOP.replace("net_ring0", "net_nonsense0"),
            "wsdp: [port.p] device = net_nonsense0: cannot be created; does a DPDK driver have this"
            " name?",
        ),
        (
            LOOP.replace("net_ring0", "0000:ff:1f.7"),
            "wsdp: [port.p] device = 0000:ff:1f.7: no DPDK driver took this PCI device",
        ),
        (
            LOOP.replace("net_ring0", "net_ring0\nrx_queues = 17\n"),
            "wsdp: [port.p] rx_queues = 17, tx_queues = 1: this device has 16 and 16",
        ),
        (
            LOOP.replace("net_ring0", "net_memif0\nmtu = 9000\n") + "[pool]\nmbufs = 4096\n",
            "wsdp: [port.p] device = net_memif0: cannot be configured with these queues and this "
            "MTU",
        ),
        (
            LOOP + "[pool]\nmbufs = 1000000\n",
            "wsdp: [pool] 1000000 mbufs of 2176 octets do not fit on NUMA node 0: ",
        ),
        (
            LOOP.replace("lcore = 1", "lcore = 7"),
            "wsdp: [task.t] lcore = 7: --lcores does not name it",
        ),
        (
            LOOP.replace("lcore = 1", "lcore = 0"),
            "wsdp: [task.t] lcore = 0: this is the main lcore, which runs no task",
        ),
    ],
    ids=["device", "pci", "queues", "mtu", "memory", "lcore", "main"],
)
def test_check_device_that_dpdk_refuses_is_named(tmp_path: Path, ini: str, message: str) -> None:
    done = check(eal_section() + ini, tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
    assert "ready" not in done.stdout


def test_eal_that_does_not_start_shows_its_options(tmp_path: Path) -> None:
    done = check(eal_section().replace("-m 512", "-m 512 --nonsense") + LOOP, tmp_path)
    assert done.returncode == 1
    assert "wsdp: DPDK does not start: " in done.stderr
    assert "--nonsense" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "wsdp: --config FILE is missing"),
        (["--config", "{absent}"], "wsdp: {absent}: cannot be read: No such file or directory"),
        (["--config", "x", "y"], 'wsdp: unexpected argument "y"; EAL options come after --'),
        (["--bogus"], "unrecognized option '--bogus'"),
    ],
)
def test_mistakes_on_the_command_line(options: list[str], message: str, tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    words = [option.replace("{absent}", absent) for option in options]
    done = subprocess.run([WSDP, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message.replace("{absent}", absent) in done.stderr


def test_help_and_version() -> None:
    text = subprocess.run([WSDP, "--help"], capture_output=True, text=True, check=True).stdout
    for word in ("--config FILE", "--check", "--version", "EAL OPTIONS", "impair", "macswap"):
        assert word in text
    version = subprocess.run([WSDP, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("wsdp 0.1.0, DPDK 2")


def test_eal_options_after_two_dashes_win(tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    ini = "[eal]\noptions = --no-huge\n" + LOOP.replace("lcore = 1", "lcore = 5")
    # Were --lcores not passed on, lcore 5 would mean CPU 5; without -m, memory would not suffice.
    done = check(
        ini + "[pool]\nmbufs = 1000000\n", tmp_path,
        "--", f"--lcores=0@{cpu},5@{cpu}", "-m", "64", "--file-prefix=other",
    )  # fmt: skip
    assert done.returncode == 1
    assert "[pool] 1000000 mbufs" in done.stderr
    assert (tmp_path / "dpdk" / "other").is_dir()
