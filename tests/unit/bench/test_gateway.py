# SPDX-License-Identifier: Apache-2.0
"""Check that the tasks of a gateway test fit together, in files that wsdp accepts."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tests.unit.plan.test_bench import host
from wirespeed.bench import frame_accounting as accounts
from wirespeed.bench.assembly.layout import Layout, lay_out, on_one_host
from wirespeed.bench.assembly.parts import site_of, wiring_of
from wirespeed.bench.function import FUNCTIONS
from wirespeed.bench.function.bng.kind import BngFunction
from wirespeed.bench.function.wsdp_tasks import WsdpFunctionKind
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.programs import find_program
from wirespeed.bench.placement.process import ProcessLaunch
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.program.wsdp import WSDP
from wirespeed.model.frame import FrameSizes
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.gateway import Access, Bng, GatewayDirection
from wirespeed.model.study.spec import (
    Frames,
    Sut,
    Topology,
    Traffic,
    Vnf,
    VnfMode,
    VnfPages,
    VnfThreads,
    Vswitch,
)
from wirespeed.remote.local import LocalRunner
from wirespeed.session.rig import plan_of

SMALL = Bng(users=10, routes=10, hops=2)
GATEWAY = Frames(Topology("pvp"), sut=Sut(vnf=Vnf("bng")), bng=SMALL)
PLAIN = Sut(vnf=Vnf("wsdp", VnfMode.IO))


def laid_out(spec: Frames, directory: Path, cores: int = 2, *, smt: bool = False) -> Layout:
    dirs = Directories(PurePosixPath(directory), PurePosixPath(directory), "abcd1234")
    plan = plan_of(host(cores=cores, smt=smt), spec).hosts[0]
    site = site_of(spec, on_one_host(plan, dirs))
    site.content.prepare(LocalRunner())
    return lay_out(site)


def config_of(own: ProcessLaunch) -> WsdpConfig:
    function = FUNCTIONS[own.setup.frames.sut.vnf.kind]
    assert isinstance(function, WsdpFunctionKind)
    return function.config(own.process, own.setup)


VARIANTS = {
    "through the vSwitch": GATEWAY,
    "on plain ports": replace(GATEWAY, topology=Topology("host")),
    "upstream": replace(GATEWAY, bng=replace(SMALL, direction=GatewayDirection.UP)),
    "downstream": replace(GATEWAY, bng=replace(SMALL, direction=GatewayDirection.DOWN)),
    "in PPPoE sessions": replace(GATEWAY, bng=replace(SMALL, access=Access.PPPOE)),
    "two queues": replace(GATEWAY, sut=Sut(Vswitch(rx_queues=2), Vnf("bng", placement="process"))),
    "eight workers": replace(
        GATEWAY, topology=Topology("host"), sut=Sut(vnf=Vnf("bng", workers=8))
    ),
    "sixteen workers downstream through the vSwitch": replace(
        GATEWAY,
        sut=Sut(vnf=Vnf("bng", workers=16)),
        bng=replace(SMALL, direction=GatewayDirection.DOWN),
    ),
    "a plain forwarder": replace(GATEWAY, sut=PLAIN),
    "the vSwitch alone": replace(GATEWAY, topology=Topology("p2p"), sut=PLAIN),
}


@pytest.mark.parametrize("cores", [2, 20])
@pytest.mark.parametrize("spec", VARIANTS.values(), ids=VARIANTS.keys())
def test_wsdp_accepts_every_file(spec: Frames, cores: int, tmp_path: Path) -> None:
    layout = laid_out(spec, tmp_path, cores)
    for number, config in enumerate([layout.traffic, *map(config_of, layout.launches)]):
        file = tmp_path / f"{number}.ini"
        file.write_text(config.render())
        done = subprocess.run(
            [find_program(LocalRunner(), WSDP), "--config", str(file), "--check"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")


def test_senders_and_receivers_agree_with_the_gateway(tmp_path: Path) -> None:
    tasks = {task.name: task for task in laid_out(GATEWAY, tmp_path).traffic.tasks}
    assert {name: task.type for name, task in tasks.items()} == {
        "gen0_0": "gen", "sink0": "sink", "gen1_0": "gen", "sink1": "sink",
        "vnf0_a0": "bng_up", "vnf0_b0": "bng_down",
    }  # fmt: skip
    for key in ("tables", "local_ip", "gateway_mac", "inet_mac"):
        assert len({task.keys[key] for task in tasks.values()}) == 1
    assert [tasks[name].keys["bng"] for name in ("gen0_0", "sink0")] == ["up", "up"]
    assert [tasks[name].keys["bng"] for name in ("gen1_0", "sink1")] == ["down", "down"]
    assert tasks["gen0_0"].keys["arp_every"] == "500"
    assert "arp_every" not in tasks["gen1_0"].keys


def test_pppoe_subscribers_send_no_arp(tmp_path: Path) -> None:
    spec = replace(GATEWAY, bng=replace(SMALL, access=Access.PPPOE))
    tasks = laid_out(spec, tmp_path).traffic.tasks
    assert {task.keys["access"] for task in tasks} == {"pppoe"}
    assert not any("arp_every" in task.keys for task in tasks)
    assert spec.wire_bytes == (78,)
    assert replace(spec, traffic=Traffic(FrameSizes.parse("256"))).wire_bytes == (272,)


def test_the_vswitch_knows_the_blocks_behind_the_gateway() -> None:
    """There is one rule each, for any number of subscribers and next hops."""
    flows = {(flow.in_port, flow.out_port): flow.dst_mac for flow in wiring_of(GATEWAY).flows}
    assert flows == {
        ("east", "vnf0a"): "02:01:00:00:00:00",
        ("vnf0b", "west"): "02:00:10:00:00:00/ff:ff:ff:00:00:00",
        ("west", "vnf0b"): "02:01:01:00:00:00",
        ("vnf0a", "east"): "02:00:00:00:00:00/ff:ff:ff:00:00:00",
    }


@pytest.mark.parametrize(
    ("threads", "lcore"),
    [
        (VnfThreads.ANYWHERE, "1@(0,1)"),
        (VnfThreads.NODE, "1@(0,1)"),
        (VnfThreads.PINNED, "1@1"),
    ],
)
@pytest.mark.parametrize("pages", VnfPages)
def test_pages_and_threads_of_a_process_are_chosen_apart(
    tmp_path: Path, pages: VnfPages, threads: VnfThreads, lcore: str
) -> None:
    vnf = Vnf("bng", pages=pages, threads=threads)
    spec = replace(GATEWAY, topology=Topology("host"), sut=Sut(vnf=vnf))
    [function] = laid_out(spec, tmp_path).launches
    ini = config_of(function).render()
    assert f"{lcore}\n" in ini
    assert ("--no-huge" in ini) == (pages is VnfPages.SMALL)


WORKERS = replace(GATEWAY, topology=Topology("host"), sut=Sut(vnf=Vnf("bng", workers=8)))


@pytest.mark.parametrize(
    ("cores", "smt", "lcores"), [(2, False, 1), (20, False, 6), (20, True, 10)]
)
def test_workers_are_two_to_a_core_or_all_on_one(
    tmp_path: Path, cores: int, smt: bool, lcores: int
) -> None:
    [function] = laid_out(WORKERS, tmp_path, cores, smt=smt).launches
    tasks = {task.name: task for task in config_of(function).tasks}
    assert len(tasks) == 2 * (1 + 8 + 1)
    assert {task.lcore for task in tasks.values()} == set(range(1, lcores + 1))
    for number in range(8):
        up, down = tasks[f"vnf0_a_w{number}"], tasks[f"vnf0_b_w{number}"]
        assert (up.type, down.type) == ("bng_up", "bng_down")
        assert up.lcore == down.lcore
        assert {up.keys["worker"], down.keys["worker"]} == {str(number)}
        if lcores > 1:
            alone = {tasks[name].lcore for name in ("vnf0_a_lb", "vnf0_to_b")}
            assert len(alone) == 2
            assert up.lcore not in alone


def test_the_counts_of_many_workers(tmp_path: Path) -> None:
    """The aggregation released what the load balancers took; a full ring's drops are inside."""
    two = replace(WORKERS, sut=Sut(vnf=Vnf("bng", workers=2)))
    [own] = laid_out(two, tmp_path).launches
    counted = BngFunction().counts(own.setup)
    idle = {"rx": 0, "tx": 0, "tx_fail": 0, "discard": 0, "handled": 0}
    stats = {
        "vnf0_a_lb": idle | {"rx": 10, "tx": 9, "tx_fail": 1},
        "vnf0_a_w0": idle | {"rx": 5, "tx": 4, "handled": 1},
        "vnf0_a_w1": idle | {"rx": 4, "tx": 3, "discard": 1},
        "vnf0_to_b": idle | {"rx": 7, "tx": 5, "tx_fail": 2},
        "vnf0_b_lb": idle | {"rx": 3, "tx": 3},
        "vnf0_b_w0": idle | {"rx": 3, "tx": 3},
        "vnf0_b_w1": idle,
        "vnf0_to_a": idle | {"rx": 3, "tx": 3},
    }
    seen = counted.read(stats, {})
    assert (seen.entered, seen.left) == ({"a": 10, "b": 3}, {"b": 5, "a": 3})
    assert {cause: frames for (_, cause), frames in seen.drops.items()} == {
        DropCause.VNF_RING_FULL: 1, DropCause.TG_RX_RING_FULL: 2,
        DropCause.VNF_DISCARD: 1, DropCause.VNF_HANDLED: 1,
    }  # fmt: skip
    nothing = replace(seen, workers=dict.fromkeys(seen.workers, 0))
    shares = accounts.shares(accounts.since([nothing], [seen]))
    assert [(share.hop, share.number, share.frames) for share in shares] == [
        ("vnf0", 0, 8), ("vnf0", 1, 4)
    ]  # fmt: skip
