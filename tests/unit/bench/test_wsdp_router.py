# SPDX-License-Identifier: Apache-2.0
"""Check the plan and the counts of this project's router as a switch, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tests.unit.bench.test_kernel_router import Notes, Recording
from tests.unit.plan.test_bench import host as server
from wirespeed.bench.assembly.kinds import needs_of, wiring_of
from wirespeed.bench.function.kernel_router import KernelRouter
from wirespeed.bench.function.wsdp_tasks import WsdpFunction
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.veth.counters import CableCount
from wirespeed.bench.switch.veth.polled import VethCount
from wirespeed.bench.switch.wsdp_router.part import SwitchCounts
from wirespeed.bench.topology.plugs import Device
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import (
    Frames,
    KernelDriver,
    Routing,
    Sut,
    Topology,
    Traffic,
    Vswitch,
)
from wirespeed.plan.testbed.bench import plan_bench
from wirespeed.study.kinds.registry import Tables, broken_rules

ROUTED = Routing(ipv4=500, ipv6=200, next_hops=2)


def point(ports: str = "vhost-user", *, both: bool = True, **keys: object) -> Frames:
    vswitch = replace(Vswitch(kind="wsdp-router", own=(("ports", ports),)), **keys)
    return Frames(Topology("p2p", bidirectional=both), Traffic(), Sut(vswitch))


def parts_of(frames: Frames, **keys: object) -> tuple[Part, ...]:
    vswitch = plan_bench(server(cores=6), frames, needs_of(frames)).hosts[0].vswitch
    assert vswitch is not None
    host = Host(Recording(), Path("/state"), Notes())
    dirs = Directories(PurePosixPath("/run/wirespeed-t"), PurePosixPath("/log"), "t")
    setup = SwitchSetup(
        host, dirs, vswitch, wiring_of(frames), frames.sut.vswitch, frames=frames,
        control_cpus=(0,),
    )  # fmt: skip
    return SWITCHES["wsdp-router"].parts(replace(setup, **keys))


def router_of(frames: Frames, **keys: object) -> WsdpFunction:
    [router] = [part for part in parts_of(frames, **keys) if isinstance(part, WsdpFunction)]
    return router


def test_plan_gives_its_process_the_memory_of_its_tables() -> None:
    sizes = []
    for prefixes in (10_000, 1_000_000):
        frames = replace(point(), routing=Routing(ipv4=prefixes))
        host = plan_bench(server(cores=6), frames, needs_of(frames)).hosts[0]
        assert host.vswitch is not None
        assert host.vswitch.process is not None
        assert set(host.vswitch.socket_memory_mib.value) == {0}
        sizes.append(host.vswitch.process.value.memory_mib)
        assert "wsdp router" in host.huge_pages.because
        taken = sum(pages.count * pages.size_kib // 1024 for pages in host.huge_pages.value)
        assert taken > sizes[-1]
        assert host.generator is not None
        assert host.generator.process.value.memory_mib < sizes[0]
    assert sizes[1] > 2 * sizes[0]


def test_static_router_has_the_routes_of_the_wiring() -> None:
    frames = point()
    router = router_of(frames)
    assert not isinstance(router, KernelRouter)
    config = router.program.config
    assert [port.name for port in config.ports] == ["switcheast", "switchwest"]
    assert [task.rx for task in config.tasks] == [("switcheast:0",), ("switchwest:0",)]
    assert config.namespace is None
    runner = router.program._host.runner
    assert isinstance(runner, Recording)
    text = runner.written["/run/wirespeed-t/router.routes"]
    assert text.splitlines()[1:] == [
        "hop 1 1 02:00:00:00:00:00 02:00:01:00:00:00", "route 198.19.0.1/32 1",
        "hop 0 0 02:00:01:00:00:00 02:00:00:00:00:00", "route 198.19.1.1/32 0",
    ]  # fmt: skip


def test_router_with_routing_follows_a_kernel_in_a_namespace_of_its_own() -> None:
    router = router_of(replace(point("veth"), routing=ROUTED))
    assert isinstance(router, KernelRouter)
    config = router.program.config
    assert config.namespace == "wst-switch"
    assert {task.keys["kernel_netns"] for task in config.tasks} == {"/run/netns/wst-router"}
    assert all(port.device.startswith("net_af_packet") for port in config.ports)


def test_directions_take_turns_on_its_cpus() -> None:
    router = router_of(point(pmd_cpus=(2, 3), rx_queues=2))
    assert [task.lcore for task in router.program.config.tasks] == [1, 2, 1, 2]
    router = router_of(point(pmd_cpus=(2, 3)))
    assert [task.lcore for task in router.program.config.tasks] == [1, 2]


def test_port_to_another_host_is_its_device() -> None:
    router = router_of(point(), uplinks={"east": Device("0000:03:00.0")})
    devices = [port.device for port in router.program.config.ports]
    assert devices == ["0000:03:00.0", "net_vhost1,iface=/run/wirespeed-t/west.sock,queues=1"]


def test_frames_that_the_kernel_drops_at_a_port_are_the_switchs() -> None:
    def veths() -> dict[str, VethCount]:
        east = CableCount(entered=100, arrived=90, missed=5, left=0, backlogged=10)
        west = CableCount(entered=0, arrived=0, missed=0, left=79, backlogged=1)
        return {"east": VethCount(east, 0), "west": VethCount(west, 0)}

    counts = router_of(point("veth", both=False))._counts[0]
    assert isinstance(counts, SwitchCounts)
    seen = dict.fromkeys((*counts.causes, "handled", "discard", "tx_fail"), 0)
    stats = {role.task: seen | {"rx": 80, "tx": 80} for role in counts.roles}
    hop = replace(counts, veths=veths).read(stats, {"switcheast": 5})
    assert (hop.hop, hop.entered, hop.left) == (
        "switch",
        {"east": 100, "west": 0},
        {"west": 79, "east": 0},
    )
    assert {at: n for at, n in hop.drops.items() if n} == {
        ("switch:east", DropCause.BACKLOG_FULL): 10,
        ("switch:east", DropCause.SOCKET_FULL): 10,
        ("switch:west", DropCause.BACKLOG_FULL): 1,
    }


@pytest.mark.parametrize(
    ("key", "frames"),
    [
        ("topology.kind", replace(point(), topology=Topology("pvp"))),
        ("traffic.flow_field", replace(point(), traffic=Traffic(flow_field=FlowField.DST_MAC))),
        ("traffic.encapsulation",
         replace(point(), traffic=Traffic(encapsulation=Encapsulation.VLAN))),
        ("sut.vswitch.socket_memory_mib", point(socket_memory_mib=64)),
        ("sut.vswitch.driver", point(driver=KernelDriver.AF_XDP)),
        ("sut.vswitch.rx_queues", point("veth", rx_queues=2)),
    ],
)  # fmt: skip
def test_points_that_it_cannot_forward_are_refused(key: str, frames: Frames) -> None:
    tables = Tables(frames.topology, frames.traffic, frames.sut, frames.search)
    assert [fault.key for fault in broken_rules(tables)] == [key]
