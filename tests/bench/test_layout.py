# SPDX-License-Identifier: Apache-2.0
"""Does the layout put every task where the plan says, in files that wsdp itself accepts?"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tests.plan.test_bench import host
from wirespeed.bench.dpdk import Directories
from wirespeed.bench.layout import Layout, WsdpLayout, lay_out
from wirespeed.bench.nf import testpmd
from wirespeed.bench.plugs import Plugs
from wirespeed.bench.topology import wiring
from wirespeed.bench.vswitch.ports import switch_ports
from wirespeed.bench.wsdp.program import find_program
from wirespeed.model.frame import Encapsulation, FrameSizes
from wirespeed.model.spec import (
    Impair,
    PointSpec,
    Sut,
    Topology,
    TopologyKind,
    Traffic,
    Vnf,
    VnfKind,
    Vswitch,
)
from wirespeed.plan.bench import plan_bench

DIRS = Directories(PurePosixPath("/run/x"), PurePosixPath("/log"), "abcd1234")


def laid_out(spec: PointSpec, cores: int) -> Layout:
    plan = plan_bench(host(cores=cores), spec).hosts[0]
    wired = wiring(spec)
    ports = switch_ports(wired, plan.vswitch, DIRS.run) if plan.vswitch else ()
    return lay_out(spec, plan, wired, Plugs(spec, wired, DIRS, 1500, ports), DIRS)


def spec_of(kind: TopologyKind, vnfs: int = 1, *, both: bool = True) -> PointSpec:
    ports = ("net_null0,no-rx=1", "net_null1,no-rx=1") if kind is TopologyKind.EXTERNAL else ()
    return PointSpec(Topology(kind, vnfs, both), sut=Sut(ports=ports))


VARIANTS = {
    **{str(kind): spec_of(kind, 3) for kind in TopologyKind},
    "one way": spec_of(TopologyKind.PVP, both=False),
    "8 in parallel": spec_of(TopologyKind.PARALLEL, 8),
    "QinQ, IPv6, IMIX": replace(
        spec_of(TopologyKind.P2P),
        traffic=Traffic(FrameSizes.parse("bbbg"), 6, Encapsulation.QINQ),
    ),
    "2 queues": replace(spec_of(TopologyKind.PVP), sut=Sut(vswitch=Vswitch(rx_queues=2))),
    "impaired": replace(
        spec_of(TopologyKind.WIRE), sut=Sut(impair=Impair(1e6, 1000, 10, 64))
    ),
}  # fmt: skip


@pytest.mark.parametrize("cores", [2, 20])
@pytest.mark.parametrize("spec", VARIANTS.values(), ids=VARIANTS.keys())
def test_wsdp_accepts_every_file(spec: PointSpec, cores: int, tmp_path: Path) -> None:
    layout = laid_out(spec, cores)
    processes = [layout.traffic, *layout.functions]
    for number, process in enumerate(processes):
        assert isinstance(process, WsdpLayout)
        file = tmp_path / f"{number}.ini"
        file.write_text(process.config.render())
        done = subprocess.run(
            [find_program(), "--config", str(file), "--check"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")


def test_on_two_cpus_one_lcore_runs_everything_but_the_vswitch() -> None:
    layout = laid_out(spec_of(TopologyKind.CHAIN, 2), cores=2)
    assert layout.functions == ()
    assert layout.traffic.config.cpus == (0,)
    assert {task.lcore for task in layout.traffic.config.tasks} == {1}
    assert [f.name for f in layout.traffic.functions] == ["vnf0", "vnf1"]


def test_on_many_cores_each_role_and_function_has_its_own() -> None:
    layout = laid_out(spec_of(TopologyKind.CHAIN, 2), cores=20)
    lcores = {task.name: task.lcore for task in layout.traffic.config.tasks}
    assert lcores == {"gen0_0": 1, "sink0": 2, "gen1_0": 3, "sink1": 4}
    cpus = [f.config.cpus for f in layout.functions if isinstance(f, WsdpLayout)]
    assert len({*layout.traffic.config.cpus, *(c for group in cpus for c in group)}) == 6


def test_only_a_ring_of_the_sut_refuses_frames_at_its_cost() -> None:
    external = spec_of(TopologyKind.EXTERNAL)
    for ports, feeds_sut in (
        (("0000:81:00.0", "0000:81:00.1"), False),
        (("net_memif0,id=0", "net_memif1,id=1"), True),
        (("net_af_packet0,iface=a", "net_af_packet1,iface=b"), False),
    ):
        layout = laid_out(replace(external, sut=Sut(ports=ports)), cores=4)
        assert [d.feeds_sut for d in layout.directions] == [feeds_sut, feeds_sut]


def test_testpmd_sends_to_the_next_address() -> None:
    spec = replace(spec_of(TopologyKind.PVP), sut=Sut(vnf=Vnf(VnfKind.TESTPMD)))
    [function] = laid_out(spec, cores=8).functions
    assert isinstance(function, testpmd.TestpmdConfig)
    command = function.command()
    assert "--forward-mode=mac" in command
    assert "--eth-peer=1,02:00:01:00:00:00" in command
    assert "--eth-peer=0,02:00:00:00:00:00" in command
