# SPDX-License-Identifier: Apache-2.0
"""Check that wsdp reads what `wirespeed bng tables` writes, and reports errors in others."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.dataplane.bng import down_task, up_task
from tests.dataplane.program import REPOSITORY, check, eal_section
from tests.support.verb_app import verb_app
from wirespeed.cli.verbs import bng
from wirespeed.model.errors import BadInput

RUNNER = CliRunner()
TABLES = verb_app(bng.tables)
PORTS = "".join(f"[port.{name}]\ndevice = net_null_{name}\n" for name in ("cpe", "inet", "slow"))


def write(path: Path, *options: str) -> Path:
    done = RUNNER.invoke(TABLES, [*options, "-o", str(path)], catch_exceptions=False)
    assert done.exit_code == 0
    return path


@pytest.mark.parametrize("options", [(), ("--sparse", "--no-mpls", "--host", "10.0.0.1")])
def test_wsdp_takes_generated_tables(tmp_path: Path, options: tuple[str, ...]) -> None:
    tables = write(tmp_path / "tables.txt", "--users", "131072", "--routes", "8192", *options)
    done = check(eal_section() + PORTS + up_task(tables) + down_task(tables), tmp_path, "--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_wsdp_takes_generated_sessions(tmp_path: Path) -> None:
    options = ("--users", "70000", "--pppoe", "--subscriber", "10.0.0.7")
    tables = write(tmp_path / "tables.txt", *options)
    access = "access = pppoe\n"
    ini = eal_section() + PORTS + up_task(tables, extra=access) + down_task(tables, access)
    done = check(ini, tmp_path, "--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_wsdp_reports_every_error_of_tables_once(tmp_path: Path) -> None:
    tables = tmp_path / "tables.txt"
    tables.write_text(
        "wirespeed-bng-tables 1\nuser 1 4096 5 0\nuser 1 1 7 0\nuser 1 2 7 0\nroute 10.0.0.0/8 3\n"
    )
    done = check(eal_section() + PORTS + up_task(tables) + down_task(tables), tmp_path, "--check")
    assert done.returncode == 2
    where = f"{tmp_path}/wsdp.ini: [task.up] tables = {tables}: {tables}"
    assert done.stderr.splitlines()[:-1] == [
        f'{where}:2: field 2, cvid = "4096": must be a whole number from 0 to 4095',
        f"{where}:4: this key stood in line 3 already",
        f'{where}:5: field 2, hop = "3": there is no such hop',
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("lcore = 1\nrx = inet", "lcore = 2\nrx = inet"), "and must run on one lcore"),
        (("reply_tx = 1\nslow_tx = 2", "reply_tx = 2\nslow_tx = 1"), "must come behind reply_tx"),
        (("slow_tx = 2", "slow_tx = 3"), "slow_tx = 3: must be a whole number from 1 to 2"),
        (("gateway_ip = 10.0.0.1", "gateway_ip = ::1"), "must be an IPv4 address"),
        (("gateway_ip = 10.0.0.1\n", ""), "gateway_ip: this key is required"),
        (("lcore = 1\n", "lcore = 1\nworkers = 65\n"), "must be a whole number from 1 to 64"),
    ],
)
def test_wsdp_refuses_a_layout_that_cannot_work(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    tables = write(tmp_path / "tables.txt", "--users", "2", "--routes", "1")
    ini = eal_section() + PORTS + up_task(tables) + down_task(tables)
    assert change[0] in ini
    done = check(ini.replace(*change), tmp_path, "--check")
    assert done.returncode == 2
    assert message in done.stderr


def test_ports_that_the_layout_has_not_are_refused(tmp_path: Path) -> None:
    tables = write(tmp_path / "tables.txt", "--users", "2", "--routes", "1", "--ports", "2")
    done = check(eal_section() + PORTS + up_task(tables), tmp_path, "--check")
    assert done.returncode == 2
    assert "hop 1 of the tables leaves through port 1; there are 1" in done.stderr


def test_more_users_than_memory_is_one_clear_error(tmp_path: Path) -> None:
    tables = write(tmp_path / "tables.txt", "--users", "1000000", "--routes", "1")
    ini = eal_section(64) + "[pool]\nmbufs = 1024\n" + PORTS + up_task(tables) + down_task(tables)
    done = check(ini, tmp_path)
    assert done.returncode == 1
    assert "1000000 users and 1 routes do not fit into the memory of NUMA node" in done.stderr


def test_a_bad_address_is_named() -> None:
    with pytest.raises(BadInput, match=r'--subscriber "10.0.0": must be an IPv4 address'):
        RUNNER.invoke(TABLES, ["--subscriber", "10.0.0"], catch_exceptions=False)


@pytest.mark.parametrize(
    ("name", "ports", "lcores"), [("bng-one-lcore", "1", 1), ("bng-eight-workers", "2", 11)]
)
def test_shipped_layouts_have_no_faults(tmp_path: Path, name: str, ports: str, lcores: int) -> None:
    write(tmp_path / "tables.txt", "--users", "64", "--routes", "8", "--ports", ports)
    text = (REPOSITORY / f"dataplane/layouts/{name}.ini").read_text()
    ini = text.replace("tables = tables.txt", f"tables = {tmp_path}/tables.txt")
    lcore_list = f"--lcores=(0-{lcores})@0"
    done = check(ini, tmp_path, "--check", "--", lcore_list)
    assert (done.returncode, done.stderr) == (0, "")
