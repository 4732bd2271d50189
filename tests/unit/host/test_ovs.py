# SPDX-License-Identifier: Apache-2.0
"""Test the reading of Open vSwitch, in layouts of old and new versions and from a real daemon."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.papers import S3
from tests.hosts.server import runner
from tests.hosts.vswitch import APPCTL
from wirespeed.host.collect import collect
from wirespeed.host.ovs import read_ovs
from wirespeed.host.reader import Reader
from wirespeed.model.host.ovs_facts import OvsFacts, PmdThread, Rxq
from wirespeed.remote.local import LocalRunner
from wirespeed.sources.pmd_rxq import parse_pmd_rxq_show

VSWITCHD = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"

# ovs-appctl dpif-netdev/pmd-rxq-show of Open vSwitch 3.1.
SHOWN = """Displaying last 60 seconds pmd usage %
pmd thread numa_id 1 core_id 21:
  isolated : true
  port: dpdk0             queue-id:  1 (disabled)  pmd usage: NOT AVAIL
  overhead: NOT AVAIL
pmd thread numa_id 0 core_id 2:
  isolated : false
  port: dpdk0             queue-id:  0 (enabled)   pmd usage: 14 %
  port: vhu-0             queue-id:  0 (enabled)   pmd usage:  0 %
  overhead:  0 %
"""


def test_pmd_threads_are_listed_by_core_with_their_rxqs() -> None:
    assert parse_pmd_rxq_show(SHOWN) == (
        PmdThread(2, 0, False, (Rxq("dpdk0", 0, True, 14), Rxq("vhu-0", 0, True, 0))),
        PmdThread(21, 1, True, (Rxq("dpdk0", 1, False, None),)),
    )


def test_pmds_without_brackets_as_older_versions_print_them() -> None:
    text = "pmd thread numa_id 0 core_id 3:\n\tport: dpdk0 \tqueue-id: 0\tpmd usage: 5 %\n"
    assert parse_pmd_rxq_show(text) == (PmdThread(3, 0, False, (Rxq("dpdk0", 0, True, 5),)),)


def test_new_versions_tell_the_request_in_dpctl_and_the_outcome_in_the_status() -> None:
    fake = runner(S3)
    shown = "  port 2: dpdk0 (dpdk: n_rxq=4, n_rxq_desc=2048, n_txq_desc=1024, mtu=9000)\n"
    fake.answer([*APPCTL, "dpctl/show", "--statistics"], shown)
    columns = "--columns=_uuid,name,type,options,mtu,mtu_request,status,error"
    argv = ("ovs-vsctl", "--timeout=5", "--format=json", columns, "list", "Interface")
    text = fake.commands[argv].stdout
    fake.answer(argv, text.replace('[["numa_id", "0"]]', '[["numa_id", "0"], ["n_rxq", "2"]]'))
    ovs = collect(fake).ovs
    assert ovs
    dpdk0 = next(i for i in ovs.interfaces if i.name == "dpdk0")
    assert (dpdk0.requested_rx_queues, dpdk0.configured_rx_queues) == (4, 2)
    assert (dpdk0.rx_descriptors, dpdk0.tx_descriptors) == (2048, 1024)


def test_a_daemon_that_may_not_be_asked_leaves_the_pmds_unknown() -> None:
    fake = runner(S3)
    denied = "ovs-appctl: cannot connect to /run/ovs-vswitchd.1.ctl (Permission denied)"
    fake.answer([*APPCTL, "dpif-netdev/pmd-rxq-show"], "", denied, 1)
    facts = collect(fake)
    assert facts.ovs
    assert facts.ovs.pmds is None
    assert (facts.why_missing("ovs.pmds") or "").startswith("needs root")


@pytest.fixture
def real_ovs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start a userspace Open vSwitch: two dummy ports in a bond on one PMD thread."""
    if not os.path.exists(VSWITCHD) or not shutil.which("ovsdb-server"):
        pytest.skip("needs openvswitch-switch-dpdk")
    for name in ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    run = _run_in(tmp_path)
    run("ovsdb-tool", "create", "conf.db", "/usr/share/openvswitch/vswitch.ovsschema")
    run("ovsdb-server", "conf.db", "--remote=punix:db.sock", "--pidfile", "--detach", "--no-chdir")
    run("ovs-vsctl", "--no-wait", "init")
    # The daemon names its control socket after the program name it was started under.
    (tmp_path / "ovs-vswitchd").symlink_to(VSWITCHD)
    try:
        daemon = [str(tmp_path / "ovs-vswitchd"), f"unix:{tmp_path}/db.sock", "--pidfile"]
        run(*daemon, "--detach", "--no-chdir", "--enable-dummy=override", "--disable-system")
        vsctl = ["ovs-vsctl", "--timeout=10"]
        run(*vsctl, "set", "Open_vSwitch", ".", "other_config:pmd-cpu-mask=1")
        run(*vsctl, "add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=dummy")
        run(*vsctl, "add-bond", "br0", "bond0", "p0", "p1",
            "--", "set", "Interface", "p0", "type=dummy-pmd", "options:n_rxq=2",
            "--", "set", "Interface", "p1", "type=dummy-pmd")  # fmt: skip
        yield
        run("ovs-appctl", "exit")
    finally:
        pid = (tmp_path / "ovsdb-server.pid").read_text().strip()
        run("ovs-appctl", "-t", str(tmp_path / f"ovsdb-server.{pid}.ctl"), "exit")


def _run_in(folder: Path):  # type: ignore[no-untyped-def]
    def run(*argv: str) -> None:
        subprocess.run(argv, cwd=folder, check=True, timeout=30, capture_output=True)

    return run


@pytest.mark.root
@pytest.mark.usefixtures("real_ovs")
def test_a_real_open_vswitch_is_read() -> None:
    ovs = read_ovs(Reader(LocalRunner()))
    assert isinstance(ovs, OvsFacts)
    assert ovs.other_config == {"pmd-cpu-mask": "1"}
    assert {i.name: i.bond for i in ovs.interfaces} == {"br0": None, "p0": "bond0", "p1": "bond0"}
