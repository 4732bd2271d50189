# SPDX-License-Identifier: Apache-2.0
"""Check a generator and Open vSwitch with DPDK on two hosts: rates, and nothing left behind.

The hosts are network namespaces with an sshd each, cabled by two veth pairs.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.lab_hosts import Lab, lab
from wirespeed.bench.host.changes import ProcessStarted
from wirespeed.bench.host.journal_file import of_living_runs
from wirespeed.bench.host.leftovers import hosts_left

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="needs a CPU for each host"
)
# Both hosts are this machine: the switch polls on one CPU, the generator on another.
STUDY = """
[topology]
kind = "p2p"
[sut.vswitch]
pmd_cpus = [0]
[hosts]
generator = "tester"
sut = "dut"
[search]
kind = "fixed"
load_fps = 10e3
trial_s = 0.5
latency = false
time_limit_s = 60
"""


@dataclass(frozen=True)
class TwoHosts:
    """The testbed, and wirespeed on this machine with its own state directory."""

    lab: Lab
    folder: Path

    @property
    def state(self) -> Path:
        return self.folder / "state" / "wirespeed"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{self.lab.ssh.parent}:{os.environ['PATH']}",
            "XDG_STATE_HOME": str(self.folder / "state"),
            "WIRESPEED_STORE": str(self.folder / "runs.sqlite"),
        }

    def wirespeed(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "wirespeed.cli.main", *arguments],
            env=self.environment, capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip

    def children(self) -> list[int]:
        """Return descriptors of what the living run has started on both hosts."""
        changes = [c for h in self.lab.hosts.values() for c in of_living_runs(self.state, h.url)]
        return [os.pidfd_open(c.pid) for c in changes if isinstance(c, ProcessStarted)]

    def as_before(self) -> None:
        """Check that nothing of a run is left on either host, nor in a journal."""
        assert hosts_left(self.state) == ()
        assert list((self.state / "journal").glob("*")) == []
        for host in self.lab.hosts.values():
            assert interfaces(host.namespace) == UNTOUCHED


# The interfaces of a host, and the flags that a run may change.
UNTOUCHED = {name: {"UP"} for name in ("lo", "control", "east", "west")}


def interfaces(namespace: str) -> dict[str, set[str]]:
    words = ["ip", "-n", namespace, "-json", "link", "show"]
    links = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return {link["ifname"]: {"UP", "PROMISC"} & set(link["flags"]) for link in links}


@pytest.fixture(scope="module")
def cabled() -> Iterator[Lab]:
    with (
        tempfile.TemporaryDirectory(prefix="wl") as folder,
        lab(Path(folder), ["tester", "dut"], ["east", "west"]) as made,
    ):
        yield made


@pytest.fixture
def hosts(cabled: Lab, tmp_path: Path) -> TwoHosts:
    (tmp_path / "study.toml").write_text(STUDY)
    tables = [
        f'[hosts.{name}]\nssh = "{host.url}"\nports = {{ east = "east", west = "west" }}\n'
        for name, host in cabled.hosts.items()
    ]
    (tmp_path / "lab.toml").write_text("".join(tables))
    return TwoHosts(cabled, tmp_path)


def test_a_switch_on_another_host_is_measured(hosts: TwoHosts) -> None:
    study, lab_file = str(hosts.folder / "study.toml"), str(hosts.folder / "lab.toml")
    done = hosts.wirespeed("run", study, "--lab", lab_file, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["hosts"][0]["host"] == "dut"
    [point] = record["points"]
    trials = point["trials"]
    assert {cause for t in trials for cause in causes(t)} <= {"tg_rx_ring_full", "rx_ring_full"}
    assert any(trial["received"] == trial["offered"] > 0 for trial in trials)
    polled = {(thread["host"], thread["role"]) for thread in trials[-1]["threads"]}
    assert polled == {("tester", "generator"), ("dut", "sut")}
    assert 0 < trials[-1]["clock_error_ns"] < 1e9
    roles = point["bench"]["hosts"]
    assert [roles[role]["host"] for role in ("generator", "sut")] == ["tester", "dut"]
    logs = {str(p.relative_to(p.parents[1])) for p in hosts.state.glob("logs/*/*/*/*.log")}
    assert {"tester/generator.log", "dut/ovs-vswitchd.log", "dut/watcher.log"} <= logs
    hosts.as_before()


def causes(trial: dict[str, Any]) -> set[str]:
    return {drop["cause"] for drop in trial["drops"]}


# A silent connection counts as broken after 6 s instead of 12 s.
RUN = """
import sys
from pathlib import Path
from wirespeed.remote import ssh_client
from wirespeed.session.lab_rig import rig_for
from wirespeed.model.errors import WirespeedError
from wirespeed.study.load import load_study
ssh_client._ALIVE_S = 2
study, lab = load_study(sys.argv[1]), Path(sys.argv[2])
try:
    with rig_for(study, lab) as rig:
        frames = study.points[0].workload
        with rig.open_bench(frames, rig.plan(frames), "test") as bench:
            print("open", flush=True)
            bench.measure(10e3, 600)
except WirespeedError as error:
    print(error.what)
"""


@pytest.fixture
def measuring(hosts: TwoHosts) -> Iterator[subprocess.Popen[str]]:
    """Yield a run in the middle of a trial."""
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, str(hosts.folder / "study.toml"),
         str(hosts.folder / "lab.toml")],
        env=hosts.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert run.stdout is not None
    assert run.stderr is not None
    with run.stdout, run.stderr:
        try:
            assert run.stdout.readline() == "open\n", run.stderr.read()
            yield run
        finally:
            run.kill()
            run.wait(30)


def await_ends(children: list[int]) -> None:
    for child in children:
        assert select.select([child], [], [], 60)[0], "a child outlived the run"
        os.close(child)


def test_kill_9_leaves_nothing_that_clean_does_not_undo(
    hosts: TwoHosts, measuring: subprocess.Popen[str]
) -> None:
    children = hosts.children()
    assert len(children) == 4  # database, vSwitch, watcher; generator
    measuring.send_signal(signal.SIGKILL)
    await_ends(children)
    assert hosts_left(hosts.state) == tuple(sorted(h.url for h in hosts.lab.hosts.values()))
    done = hosts.wirespeed("clean")
    assert (done.returncode, done.stderr) == (0, "")
    hosts.as_before()


def test_a_link_that_is_cut_in_a_trial_ends_it_and_both_hosts_are_undone(
    hosts: TwoHosts, measuring: subprocess.Popen[str]
) -> None:
    dut, children = hosts.lab["dut"], hosts.children()
    dut.cut_off()
    try:
        said, _ = measuring.communicate(timeout=120)
        assert "the connection to dut broke" in said
        await_ends(children)
        assert hosts_left(hosts.state) == (dut.url,)
        assert interfaces(hosts.lab["tester"].namespace) == UNTOUCHED
        failed = hosts.wirespeed("clean")
        assert failed.returncode == 1
        assert f"the changes on {dut.url} are not undone" in failed.stderr
    finally:
        dut.plug_in()
    done = hosts.wirespeed("clean")
    assert (done.returncode, done.stderr) == (0, "")
    hosts.as_before()
