# SPDX-License-Identifier: Apache-2.0
"""Test functions on the virtual functions of an emulated NIC.

Frames are conserved, links are separate, and nothing is left on the node. The node is emulated, so
rates are meaningless.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.nic import EAST, PCI, interface, management, nic, set_vf
from tests.support.lab_node import LabNode
from tests.support.real_bench import drops, frames_are_conserved
from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.host.host import changing_host
from wirespeed.bench.host.leftovers import hosts_left
from wirespeed.bench.host.vf import give_vfs_to_dpdk
from wirespeed.bench.host.vf_settings import VfSettings
from wirespeed.bench.session import RealBench, open_bench
from wirespeed.host.collect import collect
from wirespeed.lab.lab import WSDP, Lab
from wirespeed.model.errors import WirespeedError
from wirespeed.model.frame import FrameSizes
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, Sut, Topology, Vswitch
from wirespeed.model.study.traffic import Traffic
from wirespeed.remote.interface import Runner
from wirespeed.remote.state import state_directory
from wirespeed.session.rig import plan_of

VF = VfSettings("02:00:00:00:00:01", vlan=101, qos=3, spoofchk=False, trust=True,
                max_tx_rate_mbps=100)  # fmt: skip
# Enough frames for a trial, few enough for an emulated core.
LOAD_FPS, TRIAL_S = 300.0, 0.5
# At this load frames of this size have three times the lowest rate that a VF can be limited to.
POINT = Frames(
    Topology("sriov", 1),
    traffic=Traffic(FrameSizes.parse("1518")),
    sut=Sut(Vswitch(descriptors=512), ports=(EAST,)),
)


@pytest.fixture(scope="module")
def runner(lab_node: LabNode) -> Iterator[Runner]:
    with lab_node.runner() as found:
        # Hosts are prepared in this way; see docs/howto/sriov.md.
        found.run(["modprobe", "vfio-pci"])
        yield found


@pytest.fixture
def unused(lab_way: str, runner: Runner) -> Iterator[Runner]:
    del lab_way
    if runner.read(f"{PCI}/{EAST}/sriov_numvfs").strip() != "0":
        pytest.fail("a test before this one has left virtual functions")
    before = nic(runner)
    yield runner
    assert nic(runner) == before
    assert hosts_left(state_directory(os.environ)) == ()


@pytest.mark.parametrize(
    ("pf", "count", "said"),
    [
        (EAST, 8, "8 virtual functions are needed of"),
        ("0000:7f:00.0", 1, "there is no PCI device 0000:7f:00.0"),
        ("management", 1, "which carries"),
    ],
)
def test_one_clear_error_and_the_node_is_as_before(
    unused: Runner, pf: str, count: int, said: str
) -> None:
    address = management(unused) if pf == "management" else pf
    state = state_directory(os.environ)
    with pytest.raises(WirespeedError) as caught, changing_host(unused, state) as host:
        give_vfs_to_dpdk(host, address, [VF] * count, 1500)
    assert said in caught.value.what


TAKE = """
import os, sys
from wirespeed.bench.host.host import changing_host
from wirespeed.bench.host.vf import give_vfs_to_dpdk
from wirespeed.bench.host.vf_settings import VfSettings
from wirespeed.remote.reach import reach
from wirespeed.remote.state import state_directory
settings = [VfSettings(f"02:00:00:00:00:0{n}", vlan=101) for n in range(3)]
with reach(sys.argv[1]) as runner, changing_host(runner, state_directory(os.environ)) as host:
    print(give_vfs_to_dpdk(host, sys.argv[2], settings, 9000), flush=True)
    sys.stdin.read()
"""


@pytest.mark.lab(whole=True)
def test_after_kill_9_clean_gives_the_nic_back(unused: Runner, lab_node: LabNode) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", TAKE, lab_node.url, EAST],
        env=lab_node.environ, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with run:
        assert run.stdout is not None
        assert run.stdout.readline().startswith("('0000:")
        assert nic(unused).count.strip() == "3"
        run.send_signal(signal.SIGKILL)
    assert len(hosts_left(state_directory(os.environ))) == 1
    done = lab_node.wirespeed("clean")
    assert (done.returncode, done.stderr) == (0, "")


def test_settings_are_kept_by_the_driver(unused: Runner) -> None:
    with changing_host(unused, state_directory(os.environ)) as host:
        [address] = give_vfs_to_dpdk(host, EAST, [VF], 1500)
        words = ["ip", "-json", "-details", "link", "show", "dev", interface(unused)]
        [seen] = json.loads(unused.run(words).stdout)
        [entry] = seen["vfinfo_list"]
        assert entry["address"] == VF.mac
        assert entry["vlan_list"] == [{"vlan": 101, "qos": 3}]
        assert (entry["spoofchk"], entry["trust"]) == (False, True)
        assert entry["rate"]["max_tx"] == 100
        driver = unused.readlink(f"{PCI}/{address}/driver")
        assert os.path.basename(driver) == "vfio-pci"


STUDY = """
[topology]
kind = "sriov"
[sut.vswitch]
descriptors = 512
[hosts]
generator = "lab1"
sut = "lab2"
[search]
kind = "fixed"
load_fps = 300
trial_s = 0.5
latency = false
time_limit_s = 5
[vary]
"topology.vnfs" = [1, 2, 3, 4]
"""


@pytest.mark.lab(whole=True)
def test_over_two_hosts_from_one_to_four_functions(
    lab_pair: tuple[LabNode, LabNode], emulated_lab: Lab, tmp_path: Path
) -> None:
    # A chain of four takes five VFs of the SUT's NIC in the east and three in the west.
    #
    # The wire between the hosts carries the first and the last link, each in its VLAN.
    near, far = lab_pair
    for node in (near, far):
        with node.runner() as there:
            there.run(["modprobe", "vfio-pci"])
    (tmp_path / "study.toml").write_text(STUDY)
    store = f"--store={tmp_path}/runs.sqlite"
    done = near.wirespeed(
        "run", str(tmp_path / "study.toml"), "--lab", str(emulated_lab.file), store, "--json",
        timeout_s=1800,
    )  # fmt: skip
    # 1: CPUs that take turns may give no rate. Frames are accounted for all the same.
    assert done.returncode in {0, 1}, done.stderr
    points = json.loads(done.stdout)["points"]
    assert len(points) == 4
    for each in points:
        for trial in each["trials"]:
            explained = sum(d["frames"] for d in trial["drops"] if d["cause"] != "unknown")
            assert trial["offered"] == trial["received"] + explained > 0
        assert any(trial["received"] for trial in each["trials"])
    for node in (near, far):
        with node.runner() as there:
            assert there.read(f"{PCI}/{EAST}/sriov_numvfs").strip() == "0"


@pytest.fixture(scope="module")
def bench(
    lab_node: LabNode, runner: Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealBench]:
    """Open a bench: one function between two VFs, the generator on two more.

    It holds the NIC until the end of this file; tests that need an unused NIC come before.
    """
    before = nic(runner)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", lab_node.environ["XDG_STATE_HOME"])
        logs = tmp_path_factory.mktemp("logs")
        plan = plan_of(collect(runner), POINT)
        [function] = plan.sut_host.guests
        assert {collect(runner).node_of(cpu) for cpu in function.cpus.value} == {1}
        with open_bench(POINT, plan, BenchHosts(BenchHost(runner, {}, WSDP)), logs) as opened:
            assert isinstance(opened, RealBench)
            yield opened
        assert hosts_left(state_directory(os.environ)) == ()
    assert nic(runner) == before


def test_every_frame_is_received_or_dropped_for_a_known_cause(bench: RealBench) -> None:
    seen = bench.measure(LOAD_FPS, TRIAL_S)
    assert frames_are_conserved(seen)
    assert seen.total("received") == seen.total("offered") > 0
    flooded = bench.measure(math.inf, 0.2)
    assert frames_are_conserved(flooded)
    # The rings overflow or not, depending on how much CPU time this machine gives.
    assert {cause for _, cause in drops(flooded)} <= {
        DropCause.VNF_RX_RING_FULL, DropCause.TG_RX_RING_FULL, DropCause.VNF_TX_RING_FULL,
    }  # fmt: skip


@pytest.mark.usefixtures("bench")
def test_the_kernel_reports_no_vf_while_it_is_opened(runner: Runner) -> None:
    # The journal would look it up, which locks it: opening fails if that takes a moment too long.
    messages = runner.run(["dmesg"]).stdout.splitlines()
    assert [text for text in messages if "vfio-pci" in text and "enabling device" in text] == []


@pytest.mark.lab(whole=True)
def test_no_frame_leaves_its_vlan(bench: RealBench, runner: Runner) -> None:
    # The function's first VF, number 1, gets no frames in another link's VLAN.
    assert bench.measure(LOAD_FPS, TRIAL_S).total("received") > 0
    set_vf(runner, 1, "vlan", "102")
    try:
        apart = bench.measure(LOAD_FPS, TRIAL_S)
    finally:
        set_vf(runner, 1, "vlan", "101")
    assert apart.total("offered") > 0
    assert apart.total("received") == 0
    assert bench.measure(LOAD_FPS, TRIAL_S).total("received") > 0


@pytest.mark.lab(whole=True)
def test_settings_reported_as_not_emulated_have_no_effect(bench: RealBench, runner: Runner) -> None:
    # When QEMU learns to emulate them, this fails and the description must be corrected.
    told = bench.describe()["NIC"]["east"]  # type: ignore[index]
    assert told["set"]["spoofchk"] is True
    assert told["carried_out"]["spoofchk"].startswith("not emulated")
    assert told["carried_out"]["max_tx_rate"].startswith("not emulated")
    set_vf(runner, 0, "mac", "02:00:00:00:00:77")  # the generator sends frames with another source
    spoofed = bench.measure(LOAD_FPS, TRIAL_S)
    assert spoofed.total("received") == spoofed.total("offered") > 0
    set_vf(runner, 0, "max_tx_rate", "1")
    # Of two seconds' frames a limited VF would have sent a third when the trial ends.
    unlimited = bench.measure(LOAD_FPS, 2)
    assert unlimited.total("received") == unlimited.total("offered") > 0
