# SPDX-License-Identifier: Apache-2.0
"""Test TCP between virtual functions of an emulated NIC.

Each octet arrives or is in a frame that the NIC lost. VLANs are separate, and nothing is left on
the node. The node is emulated, so rates are meaningless.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.nic import EAST, interface, management, nic, set_vf
from tests.support.lab_node import LabNode
from wirespeed.bench.host.leftovers import hosts_left
from wirespeed.bench.site import Site
from wirespeed.bench.tcp_session.streams import RealTcpBench, open_tcp_bench
from wirespeed.host.collect import collect
from wirespeed.model.errors import WirespeedError
from wirespeed.model.study.spec import TcpStreams
from wirespeed.model.study.tcp import Tcp, TcpDirection, TcpTool
from wirespeed.remote.interface import Runner
from wirespeed.remote.state import state_directory
from wirespeed.session.rig import plan_of

pytestmark = pytest.mark.lab(whole=True)
TCP = Tcp(path="sriov", tool=TcpTool.IPERF3, seconds=1, omit_s=0)
POINT = TcpStreams(TCP, ports=(EAST,))
# Octets of the headers of Ethernet, IPv4 and TCP with time stamps, and of the longest frame.
HEADERS, LONGEST = 66, 1514


@pytest.fixture(scope="module")
def runner(lab_node: LabNode) -> Iterator[Runner]:
    with lab_node.runner() as found:
        yield found


@pytest.fixture
def unused(lab_way: str, runner: Runner) -> Iterator[Runner]:
    """Provide the node, and check that it is unchanged afterwards."""
    del lab_way
    before = nic(runner), links(runner)
    yield runner
    assert (nic(runner), links(runner)) == before
    assert runner.run(["ip", "netns"]).stdout == ""
    assert hosts_left(state_directory(os.environ)) == ()


def links(runner: Runner) -> list[str]:
    told = json.loads(runner.run(["ip", "-json", "link"]).stdout)
    return sorted(link["ifname"] for link in told)


def at_both_ends(bench: RealTcpBench) -> list[dict[str, int]]:
    """Return what the server's VF has sent, and what the client's has received."""
    return [counters(bench, "server")["tx"], counters(bench, "client0")["rx"]]


def counters(bench: RealTcpBench, host: str) -> dict[str, dict[str, int]]:
    """Return what the VF of this host has received and sent."""
    words = [
        *bench.hosts.ends[host].place.words,
        "ip",
        "-json",
        "-s",
        "link",
        "show",
        "dev",
        "eth0",
    ]
    [seen] = json.loads(bench.hosts.host.runner.run(words).stdout)
    return seen["stats64"]  # type: ignore[no-any-return]


def reaches(bench: RealTcpBench) -> bool:
    """Return whether the client's packets reach the server."""
    words = [*bench.hosts.ends["client0"].place.words, "timeout", "3", "bash", "-c",
             "exec 3<>/dev/tcp/198.18.0.1/5201"]  # fmt: skip
    return bench.hosts.host.runner.run(words, check=False).exit_code == 0


def test_octets_are_conserved_and_vlans_kept_apart(unused: Runner, tmp_path: Path) -> None:
    with open_tcp_bench(POINT, plan_of(collect(unused), POINT), Site(unused, tmp_path)) as bench:
        assert isinstance(bench, RealTcpBench)
        assert bench.emulated is not None
        told = bench.describe()["NIC"]
        assert isinstance(told, dict)
        assert {host: vf["set"]["vlan_list"] for host, vf in told.items()} == {
            "server": [{"vlan": 101}], "client0": [{"vlan": 101}],
        }  # fmt: skip
        before = at_both_ends(bench)
        run = bench.run()
        after = at_both_ends(bench)
        sent, got = (
            {key: now[key] - then[key] for key in now}
            for then, now in zip(before, after, strict=True)
        )
        [result] = run.directions
        assert result.direction is TcpDirection.DOWN
        assert 0 < result.bytes <= got["bytes"] - HEADERS * got["packets"]
        lost = sent["packets"] - got["packets"]
        assert HEADERS * lost <= sent["bytes"] - got["bytes"] <= LONGEST * lost
        assert reaches(bench)
        set_vf(unused, 1, "vlan", "102")
        assert not reaches(bench)
        set_vf(unused, 1, "vlan", "101")
        assert reaches(bench)


OPEN = """
import sys
from pathlib import Path
from tests.lab.test_tcp_sriov import POINT, collect, open_tcp_bench, plan_of
from wirespeed.bench.site import Site
from wirespeed.remote.reach import reach
with reach(sys.argv[1]) as runner:
    plan = plan_of(collect(runner), POINT)
    with open_tcp_bench(POINT, plan, Site(runner, Path(sys.argv[2]))):
        print("open", flush=True)
        sys.stdin.read()
"""


def test_after_kill_9_clean_gives_the_nic_back(
    unused: Runner, lab_node: LabNode, tmp_path: Path
) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", OPEN, lab_node.url, str(tmp_path)],
        env=lab_node.environ, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with run:
        assert run.stdout is not None
        assert run.stdout.readline() == "open\n"
        assert "-server" in unused.run(["ip", "netns"]).stdout
        run.send_signal(signal.SIGKILL)
    done = lab_node.wirespeed("clean")
    assert (done.returncode, done.stderr) == (0, "")
    assert unused.run(["pgrep", "iperf3"], check=False).stdout == ""


@pytest.mark.parametrize("port", ["management", "0000:7f:00.0"])
def test_a_port_that_cannot_be_had_is_one_clear_error(
    unused: Runner, tmp_path: Path, port: str
) -> None:
    address = management(unused) if port == "management" else port
    point = TcpStreams(TCP, ports=(address,))
    said = "which carries" if port == "management" else "there is no PCI device"
    with (
        pytest.raises(WirespeedError, match=said),
        open_tcp_bench(point, plan_of(collect(unused), point), Site(unused, tmp_path)),
    ):
        pytest.fail("the bench opened")


def test_virtual_functions_that_are_there_are_left_alone(unused: Runner, tmp_path: Path) -> None:
    count = f"/sys/bus/pci/devices/{EAST}/sriov_numvfs"
    unused.write(count, "1")
    try:
        with (
            pytest.raises(WirespeedError, match="1 virtual functions already"),
            open_tcp_bench(POINT, plan_of(collect(unused), POINT), Site(unused, tmp_path)),
        ):
            pytest.fail("the bench opened")
        assert unused.read(count) == "1\n"
    finally:
        unused.write(count, "0")
    assert interface(unused)
