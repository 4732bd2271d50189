# SPDX-License-Identifier: Apache-2.0
"""Check that the layout puts every task where the plan says, in files that wsdp accepts."""

from __future__ import annotations

import subprocess
from configparser import ConfigParser
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tests.unit.plan.test_bench import host
from wirespeed.bench.assembly.kinds import needs_of, topology_of
from wirespeed.bench.assembly.layout import Layout, Place, Places, lay_out, on_one_host
from wirespeed.bench.assembly.parts import site_of
from wirespeed.bench.function.forwarder import Forwarder
from wirespeed.bench.function.testpmd import Testpmd
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.programs import find_program
from wirespeed.bench.program.wsdp import WSDP
from wirespeed.bench.switch.ovs_dpdk.ports import program_ports
from wirespeed.bench.topology import TOPOLOGIES
from wirespeed.bench.topology.plugs import Device, Interface
from wirespeed.model.frame import Encapsulation, FrameSizes
from wirespeed.model.study.spec import (
    Frames,
    Impair,
    Sut,
    Topology,
    Traffic,
    Vnf,
    Vswitch,
)
from wirespeed.plan.testbed.bench import plan_between
from wirespeed.remote.local import LocalRunner
from wirespeed.session.rig import plan_of

DIRS = Directories(PurePosixPath("/run/x"), PurePosixPath("/log"), "abcd1234")


def laid_out(spec: Frames, cores: int) -> Layout:
    plan = plan_of(host(cores=cores), spec).hosts[0]
    places = on_one_host(plan, DIRS)
    functions = topology_of(spec).virtual_functions(spec)
    vfs = {each.port: Device(f"0000:3b:10.{n}") for n, each in enumerate(functions)}
    if vfs:
        place = Place(plan, DIRS, vfs)
        places = Places(place, place)
    return lay_out(site_of(spec, places))


def spec_of(kind: str, vnfs: int = 1, *, both: bool = True) -> Frames:
    ports = {"external": ("net_null0,no-rx=1", "net_null1,no-rx=1"), "sriov": ("0000:3b:00.0",)}
    return Frames(Topology(kind, vnfs, both), sut=Sut(ports=ports.get(kind, ())))


VARIANTS = {
    **{str(kind): spec_of(kind, 3) for kind in (k.name for k in TOPOLOGIES)},
    "one way": spec_of("pvp", both=False),
    "8 in parallel": spec_of("parallel", 8),
    "QinQ, IPv6, IMIX": replace(
        spec_of("p2p"),
        traffic=Traffic(FrameSizes.parse("bbbg"), 6, Encapsulation.QINQ),
    ),
    "2 queues": replace(spec_of("pvp"), sut=Sut(vswitch=Vswitch(rx_queues=2))),
    "impaired": replace(
        spec_of("wire"), sut=Sut(impair=Impair(1e6, 1000, 10, 64))
    ),
}  # fmt: skip


def test_on_two_hosts_the_generators_cables_are_ports_of_the_lab() -> None:
    spec = spec_of("pvp")
    plan = plan_between(host(cores=4), host(cores=6), spec, needs_of(spec))
    there = Directories(PurePosixPath("/run/y"), PurePosixPath("/run/y/log"), "efgh5678")
    pci = {"east": Device("0000:3b:00.0"), "west": Device("0000:3b:00.1")}
    interfaces = {"east": Interface("ens1f0"), "west": Interface("ens1f1")}
    places = Places(Place(plan.generator_host, DIRS, pci), Place(plan.sut_host, there, interfaces))
    site = site_of(spec, places)
    layout = lay_out(site)
    assert [port.device for port in layout.traffic.ports] == ["0000:3b:00.0", "0000:3b:00.1"]
    assert not any(direction.feeds_sut for direction in layout.directions)
    [function] = layout.launches
    assert function.process.file_prefix == "vnf0efgh5678"
    assert all("path=/run/y/vnf0" in port.device for port in function.process.ports)
    ports = program_ports(site.wiring, plan.sut_host.vswitch, there.run, places.uplinks)
    assert [(p.name, p.kind, p.to_generator) for p in ports] == [
        ("east", "dpdk", True), ("west", "dpdk", True),
        ("vnf0a", "dpdkvhostuserclient", False), ("vnf0b", "dpdkvhostuserclient", False),
    ]  # fmt: skip
    assert ports[0].options["dpdk-devargs"] == "net_af_packet1,iface=ens1f0,qpairs=1"


def test_a_function_that_is_the_sut_has_the_ports_of_its_host() -> None:
    spec = spec_of("host")
    plan = plan_between(host(cores=4), host(cores=6), spec, needs_of(spec))
    near = {"east": Interface("e0"), "west": Interface("w0")}
    far = {"east": Device("0000:5e:00.0"), "west": Interface("w1")}
    places = Places(Place(plan.generator_host, DIRS, near), Place(plan.sut_host, DIRS, far))
    layout = lay_out(site_of(spec, places))
    [function] = layout.launches
    own = [port.device.partition(",qpairs")[0] for port in function.process.ports]
    assert own == ["0000:5e:00.0", "net_af_packet1,iface=w1"]
    command = Testpmd().config(function.process, function.setup).command()
    assert command[command.index("-a") + 1] == "0000:5e:00.0"
    assert "--no-pci" not in command
    assert f"--vdev={function.process.ports[1].device}" in command


@pytest.mark.parametrize("cores", [2, 20])
@pytest.mark.parametrize("spec", VARIANTS.values(), ids=VARIANTS.keys())
def test_wsdp_accepts_every_file(spec: Frames, cores: int, tmp_path: Path) -> None:
    layout = laid_out(spec, cores)
    own = [Forwarder().config(each.process, each.setup) for each in layout.launches]
    for number, config in enumerate([layout.traffic, *own]):
        file = tmp_path / f"{number}.ini"
        file.write_text(config.render())
        done = subprocess.run(
            [find_program(LocalRunner(), WSDP), "--config", str(file), "--check"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")


def test_only_several_queues_need_somebody_who_spreads() -> None:
    """Each queue of a ring is filled by its own sender; a NIC has RSS."""
    for ports, queues, spread in (
        (("net_virtio_user0,path=a", "net_virtio_user1,path=b"), 2, "peer"),
        (("net_virtio_user0,path=a", "net_virtio_user1,path=b"), 1, None),
        (("0000:81:00.0", "0000:81:00.1"), 2, None),
    ):
        spec = replace(spec_of("external"), sut=Sut(ports=ports))
        traffic = laid_out(spec, cores=4).traffic
        config = replace(
            traffic, ports=tuple(replace(port, queues=queues) for port in traffic.ports)
        )
        ini = ConfigParser()
        ini.read_string(config.render())
        assert [ini[f"port.{port.name}"].get("spread") for port in config.ports] == [spread] * 2


def test_on_two_cpus_one_lcore_runs_everything_but_the_vswitch() -> None:
    layout = laid_out(spec_of("chain", 2), cores=2)
    assert layout.launches == ()
    assert layout.traffic.cpus == (0,)
    assert {task.lcore for task in layout.traffic.tasks} == {1}
    assert [counts.name for counts in layout.shared] == ["vnf0", "vnf1"]


def test_on_many_cores_each_role_and_function_has_its_own() -> None:
    layout = laid_out(spec_of("chain", 2), cores=20)
    lcores = {task.name: task.lcore for task in layout.traffic.tasks}
    assert lcores == {"gen0_0": 1, "sink0": 2, "gen1_0": 3, "sink1": 4}
    cpus = [own.process.cpus for own in layout.launches]
    assert len({*layout.traffic.cpus, *(c for group in cpus for c in group)}) == 6


def test_only_a_ring_of_the_sut_refuses_frames_at_its_cost() -> None:
    external = spec_of("external")
    for ports, feeds_sut in (
        (("0000:81:00.0", "0000:81:00.1"), False),
        (("net_memif0,id=0", "net_memif1,id=1"), True),
        (("net_af_packet0,iface=a", "net_af_packet1,iface=b"), False),
    ):
        layout = laid_out(replace(external, sut=Sut(ports=ports)), cores=4)
        assert [d.feeds_sut for d in layout.directions] == [feeds_sut, feeds_sut]


def test_testpmd_sends_to_the_next_address() -> None:
    spec = replace(spec_of("pvp"), sut=Sut(vnf=Vnf("testpmd")))
    [own] = laid_out(spec, cores=8).launches
    command = Testpmd().config(own.process, own.setup).command()
    assert "--forward-mode=mac" in command
    assert "--eth-peer=1,02:00:01:00:00:00" in command
    assert "--eth-peer=0,02:00:00:00:00:00" in command


def test_testpmd_sends_to_the_next_address_where_dpdk_numbers_its_ports_otherwise() -> None:
    # The west's physical function is named first, and DPDK goes by address.
    spec = spec_of("sriov")
    spec = replace(spec, sut=replace(spec.sut, vnf=Vnf("testpmd")))
    [own] = laid_out(spec, cores=8).launches
    a, b = own.process.ports
    swapped = replace(own.process, ports=(replace(a, device=b.device), replace(b, device=a.device)))
    before = Testpmd().config(own.process, own.setup).command()
    after = Testpmd().config(swapped, own.setup).command()
    peers = [[w for w in words if w.startswith("--eth-peer")] for words in (before, after)]
    assert {w.partition(",")[2] for w in peers[0]} == {w.partition(",")[2] for w in peers[1]}
    assert not set(peers[0]) & set(peers[1])


def test_on_virtual_functions_every_program_polls_its_own() -> None:
    layout = laid_out(spec_of("sriov", 2), cores=20)
    assert [port.device for port in layout.traffic.ports] == ["0000:3b:10.0", "0000:3b:10.5"]
    devices = [[port.device for port in each.process.ports] for each in layout.launches]
    assert devices == [["0000:3b:10.1", "0000:3b:10.2"], ["0000:3b:10.3", "0000:3b:10.4"]]
    assert not any(direction.feeds_sut for direction in layout.directions)
