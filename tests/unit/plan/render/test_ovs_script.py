# SPDX-License-Identifier: Apache-2.0
"""Check that the Open vSwitch script configures a real ovsdb-server as planned, and again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.examples import plans
from wirespeed.plan.render.targets import render

SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")


class Database:
    """A private Open vSwitch database without a switch."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.remote = f"unix:{folder}/db.sock"

    def run(self, *argv: str) -> str:
        environment = {**os.environ, "OVSDB": self.remote, "OVS_RUNDIR": str(self._folder)}
        done = subprocess.run(
            argv, capture_output=True, text=True, env=environment, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def content(self) -> str:
        """Return every row, without values that change by themselves."""
        text = self.run("ovsdb-client", "dump", self.remote, "--format=json")
        return "\n".join(sorted(text.splitlines()))

    def get(self, table: str, record: str, column: str) -> str:
        text = self.run(
            "ovs-vsctl", f"--db={self.remote}", "--no-wait", "get", table, record, column
        )
        return text.strip().strip('"')


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    if not shutil.which("ovsdb-server") or not SCHEMA.exists():
        pytest.skip("openvswitch-common is not installed")
    subprocess.run(["ovsdb-tool", "create", str(tmp_path / "db"), str(SCHEMA)], check=True)
    server = subprocess.Popen(
        ["ovsdb-server", str(tmp_path / "db"), f"--remote=punix:{tmp_path}/db.sock",
         f"--unixctl={tmp_path}/ctl", "--log-file=" + str(tmp_path / "log"), "--detach",
         f"--pidfile={tmp_path}/pid", "-vconsole:off"],
    )  # fmt: skip
    assert server.wait(timeout=30) == 0  # --detach returns once the socket answers
    opened = Database(tmp_path)
    opened.run("ovs-vsctl", f"--db={opened.remote}", "--no-wait", "init")
    yield opened
    opened.run("ovs-appctl", "-t", str(tmp_path / "ctl"), "exit")


def write(folder: Path, text: str) -> str:
    script = folder / "script.sh"
    script.write_text(text, encoding="utf-8")
    return str(script)


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("s0-speedtest", "s0-compute"),
        ("s2-chains", "s2-r730"),
        ("s3-jumbo", "s3-r740xd"),
        ("lab", "compute-2"),
    ],
)
def test_twice_is_once(name: str, host: str, database: Database, tmp_path: Path) -> None:
    script = write(tmp_path, render(plans()[name], ["ovs"])[f"ovs/{host}.sh"])
    first = database.run("bash", script)
    assert "Restart ovs-vswitchd" in first
    before = database.content()
    second = database.run("bash", script)
    assert second == ""
    assert database.content() == before


def test_s3_is_configured_as_planned(database: Database, tmp_path: Path) -> None:
    plan = plans()["s3-jumbo"]
    database.run("bash", write(tmp_path, render(plan, ["ovs"])["ovs/s3-r740xd.sh"]))

    def other(key: str) -> str:
        return database.get("Open_vSwitch", ".", f"other_config:{key}")

    assert other("dpdk-socket-mem") == "11264,1024"
    assert other("dpdk-lcore-mask") == "0x3000000003"
    assert other("pmd-cpu-mask") == "0x100601004100601004"
    assert other("dpdk-extra") == "-n 6"
    assert database.get("Bridge", "br-physnet0", "datapath_type") == "netdev"
    for number, address in enumerate(
        ("0000:5e:00.0", "0000:60:00.0", "0000:5e:00.1", "0000:60:00.1")
    ):
        port = f"dpdk{number}"
        assert database.get("Interface", port, "type") == "dpdk"
        assert database.get("Interface", port, "options:dpdk-devargs") == address
        assert database.get("Interface", port, "options:n_rxq") == "2"
        assert database.get("Interface", port, "options:n_rxq_desc") == "4096"
        assert database.get("Interface", port, "mtu_request") == "9000"
    bonds = database.run(
        "ovs-vsctl", f"--db={database.remote}", "--no-wait", "list-ports", "br-physnet1"
    )
    assert bonds.split() == ["dpdkbond1"]


def test_a_changed_plan_changes_only_what_differs(database: Database, tmp_path: Path) -> None:
    """Change the PMD mask, which needs no restart, and socket memory, which does."""
    text = render(plans()["s3-jumbo"], ["ovs"])["ovs/s3-r740xd.sh"]
    database.run("bash", write(tmp_path, text))
    live = text.replace("pmd-cpu-mask 0x100601004100601004", "pmd-cpu-mask 0x4")
    assert database.run("bash", write(tmp_path, live)) == ""
    assert database.get("Open_vSwitch", ".", "other_config:pmd-cpu-mask") == "0x4"
    restart = live.replace("dpdk-socket-mem 11264,1024", "dpdk-socket-mem 8192,1024")
    assert "Restart ovs-vswitchd: it reads these when it starts: dpdk-socket-mem" in (
        database.run("bash", write(tmp_path, restart))
    )


def test_vhost_ports_for_libvirt_alone(database: Database, tmp_path: Path) -> None:
    plan = plans()["s2-chains"]
    texts = render(plan, ["ovs", "libvirt"])
    database.run("bash", write(tmp_path, texts["ovs/s2-r730.sh"]))
    sockets = texts["libvirt/s2-r730/vhost-ports.sh"].replace(
        "mkdir -p /var/lib/vhost_sockets", f"mkdir -p {tmp_path}/sockets"
    )
    for _ in range(2):
        database.run("bash", write(tmp_path, sockets))
    rows = json.loads(
        database.run(
            "ovs-vsctl", f"--db={database.remote}", "--no-wait", "--format=json",
            "--columns=name", "find", "Interface", "type=dpdkvhostuserclient",
        )
    )  # fmt: skip
    names = sorted(row[0] for row in rows["data"])
    assert names == ["balancer-data", "dpi-1-data", "dpi-2-data", "firewall-data"]
