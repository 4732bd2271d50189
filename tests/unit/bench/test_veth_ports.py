# SPDX-License-Identifier: Apache-2.0
"""Check ports that are kernel interfaces: settings, programs, and the place of every frame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.plan.test_bench import host
from wirespeed.bench.assembly.kinds import needs_of, wiring_of
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.program.attachment import PortSettings, attach
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.switch.ovs_dpdk import counters
from wirespeed.bench.switch.ovs_dpdk.counters import Answers, PortCount
from wirespeed.bench.switch.ovs_dpdk.factors import lacking
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort, program_ports
from wirespeed.bench.switch.veth.counters import InterfaceCount, cable_count, parse_sockets
from wirespeed.bench.switch.veth.polled import VethCount
from wirespeed.bench.topology.plugs import Interface
from wirespeed.bench.topology.wiring import SWITCH
from wirespeed.model.frame import FrameSizes
from wirespeed.model.plan.plan import Decision, VswitchPlan
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.injected import InjectedFault
from wirespeed.model.study.ovs import BondMode, Ovs, OvsPorts
from wirespeed.model.study.spec import (
    Frames,
    KernelDriver,
    Roles,
    Sut,
    Topology,
    Traffic,
    Vnf,
    Vswitch,
)
from wirespeed.plan.testbed.bench import plan_bench
from wirespeed.study.kinds.registry import Tables, broken_rules

PLAN = VswitchPlan(
    Decision((0,), ""), Decision((1,), ""), Decision((256,), ""), Decision(1, ""),
    Decision(512, ""), Decision(1500, ""),
)  # fmt: skip
RUN = PurePosixPath("/run/x")
PVP = wiring_of(Frames(Topology("pvp")))


def on_veth(ports: OvsPorts, **vswitch: object) -> Frames:
    return Frames(Topology("pvp"), sut=Sut(Vswitch(ovs=Ovs(ports=ports), **vswitch)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "kind", "interface", "polled"),
    [
        (OvsPorts.KERNEL, "system", "vnf0a", False),
        (OvsPorts.AF_PACKET, "dpdk", "vnf0a-s", True),
        (OvsPorts.AF_XDP, "afxdp", "vnf0a", True),
    ],
)
def test_a_port_on_veth_is_what_the_study_says(
    wanted: OvsPorts, kind: str, interface: str, polled: bool
) -> None:
    made = program_ports(PVP, PLAN, RUN, wanted=wanted)
    port = next(port for port in made if port.name == "vnf0a")
    assert (port.kind, port.interface, port.polled) == (kind, interface, polled)
    assert [port.name for port in made if port.to_generator] == ["east", "west"]
    assert len({port.number for port in made}) == 4
    assert (wanted is OvsPorts.AF_PACKET) is any(
        "framecnt=512" in text for text in port.options.values()
    )


def test_programs_use_the_other_ends_by_the_driver_asked_for() -> None:
    dirs = Directories(RUN, RUN, "tag")
    vswitch = on_veth(OvsPorts.KERNEL).sut.vswitch
    plugs = SWITCHES["ovs-dpdk"].plugs(vswitch, PVP, PLAN, dirs)
    assert plugs["vnf0a"] == Interface("vnf0a-p", "wstag-switch")
    for driver, device in ((KernelDriver.AF_PACKET, "net_af_packet3,iface=vnf0a-p,"),
                           (KernelDriver.AF_XDP, "net_af_xdp3,iface=vnf0a-p,")):  # fmt: skip
        settings = PortSettings(1, 512, 1500, driver=driver)
        attached = attach(plugs["vnf0a"], "vnf0a", 3, "02:00:00:00:00:01", settings)
        assert attached.port is not None
        assert attached.port.device.startswith(device)
        assert not attached.feeds_sut


def test_a_main_thread_that_forwards_has_the_cpu_of_the_sut() -> None:
    def planned(ports: OvsPorts) -> VswitchPlan:
        frames = on_veth(ports)
        [plan] = plan_bench(host(cores=8), frames, needs_of(frames)).hosts
        assert plan.vswitch is not None
        return plan.vswitch

    kernel, polled = planned(OvsPorts.KERNEL), planned(OvsPorts.AF_PACKET)
    assert kernel.main_cpus.value == kernel.pmd_cpus.value
    assert set(polled.main_cpus.value).isdisjoint(polled.pmd_cpus.value)


@pytest.mark.parametrize(
    ("key", "frames"),
    [
        ("traffic.frame", replace(on_veth(OvsPorts.AF_XDP),
                                  traffic=Traffic(FrameSizes.parse("4096")))),
        ("sut.vswitch.rx_queues", on_veth(OvsPorts.AF_PACKET, rx_queues=2)),
        ("sut.vnf.placement", replace(on_veth(OvsPorts.KERNEL), sut=Sut(
            Vswitch(ovs=Ovs(ports=OvsPorts.KERNEL)), Vnf(placement="guest")))),
        ("sut.vswitch.ovs.bond", replace(on_veth(OvsPorts.KERNEL), sut=Sut(
            Vswitch(ovs=Ovs(ports=OvsPorts.KERNEL, bond=BondMode.BALANCE_SLB))))),
        ("sut.vswitch.ovs.pmd_max_sleep_us", replace(on_veth(OvsPorts.KERNEL), sut=Sut(
            Vswitch(ovs=Ovs(ports=OvsPorts.KERNEL, pmd_max_sleep_us=50))))),
        ("sut.vswitch.driver", on_veth(OvsPorts.VHOST_USER, driver=KernelDriver.AF_XDP)),
        ("sut.vswitch.driver", Frames(Topology("host"),
                                      sut=Sut(Vswitch(driver=KernelDriver.AF_XDP)))),
        ("sut.vswitch.ovs.ports", replace(on_veth(OvsPorts.KERNEL), hosts=Roles("a", "b"))),
    ],
)  # fmt: skip
def test_a_point_that_veth_ports_cannot_carry_is_refused(key: str, frames: Frames) -> None:
    tables = Tables(frames.topology, frames.traffic, frames.sut, frames.search, hosts=frames.hosts)
    assert key in [fault.key for fault in broken_rules(tables)]


def test_faults_of_open_vswitch_s_ports_are_caused_in_memory_that_it_shares() -> None:
    missing = InjectedFault("missing-flow")
    for ports in OvsPorts:
        frames = on_veth(ports)
        tables = Tables(frames.topology, frames.traffic, frames.sut, fault=missing)
        refused = [fault.key for fault in broken_rules(tables)]
        assert refused == (["fault.kind"] if ports.on_veth else [])


@pytest.mark.parametrize("ports", [each for each in OvsPorts if each.on_veth])
@pytest.mark.parametrize("driver", KernelDriver)
def test_any_driver_goes_with_any_port_on_veth(ports: OvsPorts, driver: KernelDriver) -> None:
    frames = on_veth(ports, driver=driver)
    assert broken_rules(Tables(frames.topology, frames.traffic, frames.sut)) == []
    bridged = Sut(Vswitch(kind="linux-bridge", driver=driver))
    assert broken_rules(Tables(frames.topology, frames.traffic, bridged)) == []


def test_an_open_vswitch_without_xdp_sockets_is_reported() -> None:
    wanted, version = Ovs(ports=OvsPorts.AF_XDP), "ovs-vswitchd (Open vSwitch) 3.1.0"
    assert lacking(wanted, version, ["afxdp", "dpdk"]) is None
    assert "built with AF_XDP" in (lacking(wanted, version, ["dpdk"]) or "")
    assert lacking(Ovs(ports=OvsPorts.KERNEL), version, ["dpdk"]) is None


# `ss --packet --extended --memory --oneline`, as measured.
SOCKETS = """\
p_raw 0      0        *:west   * ino:4970465 sk:cb ver:0 cpy_thresh:0 flags( running auxdata ) \
skmem:(r0,rb212992,t0,tb67108864,f0,w0,o176,bl0,d0)
p_raw 0      0        *:east   * ino:4970466 sk:cc ver:0 cpy_thresh:0 flags( running auxdata ) \
skmem:(r0,rb212992,t0,tb67108864,f0,w0,o176,bl0,d280974)
p_raw 0      0      [0]:*      * ino:4971153 sk:cf ver:0 cpy_thresh:0 flags( 0 ) \
skmem:(r0,rb212992,t0,tb67108864,f0,w0,o0,bl0,d0)
"""


def test_packet_socket_drops_are_counted_by_interface() -> None:
    assert parse_sockets(SOCKETS) == {"west": 0, "east": 280974}


FRAMES = st.integers(0, 10**6)


@given(
    passed=FRAMES,
    refused=FRAMES,
    unread=FRAMES,
    blocked=FRAMES,
    told_by=st.sampled_from(["Open vSwitch", "socket", "interface"]),
)
def test_frames_counted_by_the_kernel_are_conserved(
    passed: int, refused: int, unread: int, blocked: int, told_by: str
) -> None:
    """Check conservation.

    told_by: who knows the unread frames. Open vSwitch counts what it took, or repeats the
    interface's count.
    """
    taken, arrived = passed + blocked, passed + blocked + unread
    cable = cable_count(
        InterfaceCount(0, 0, arrived, unread if told_by == "interface" else 0),
        InterfaceCount(arrived, refused, 0, 0),
    )
    out = cable_count(InterfaceCount(passed, blocked, 0, 0), InterfaceCount(0, 0, passed, 0))
    veths = {
        "east": VethCount(cable, unread if told_by == "socket" else 0),
        "west": VethCount(out, 0),
    }
    took = taken if told_by == "Open vSwitch" else arrived
    dumped = {1: PortCount(took, 0, 0, 0), 2: PortCount(0, passed, 0, 0)}
    ports = [SwitchPort(name, number, "system", {}, "", False, True, interface=name)
             for number, name in enumerate(veths, 1)]  # fmt: skip
    seen = counters.hop(SWITCH, ports, Answers(dumped, veths=veths))
    assert seen.entered == {"east": arrived + refused, "west": 0}
    assert seen.left == {"east": 0, "west": passed}
    assert seen.drops["switch:east", DropCause.BACKLOG_FULL] == refused
    assert seen.drops["switch:east", DropCause.SOCKET_FULL] == unread
    assert seen.drops["switch:west", DropCause.BACKLOG_FULL] == blocked
    assert sum(seen.entered.values()) == sum(seen.left.values()) + sum(seen.drops.values())
