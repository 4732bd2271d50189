# SPDX-License-Identifier: Apache-2.0
"""Check the sriov topology as data: links, VLANs, physical functions, rejected points."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wirespeed.bench.assembly.kinds import needs_of, physical_functions, topology_of, wiring_of
from wirespeed.bench.assembly.nic import functions_on
from wirespeed.bench.topology.interface import VirtualFunction
from wirespeed.bench.topology.wiring import NIC, SWITCH, End
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.study.spec import (
    Frames,
    Roles,
    Sriov,
    Sut,
    Topology,
    Traffic,
    Vnf,
    VnfMode,
    Vswitch,
)

PF, PF2 = "0000:3b:00.0", "0000:3b:00.1"


def point(vnfs: int = 1, ports: tuple[str, ...] = (PF,), sriov: Sriov | None = None) -> Frames:
    return Frames(Topology("sriov", vnfs), Traffic(), Sut(ports=ports), sriov=sriov)


def faults(frames: Frames) -> list[str]:
    return [fault.key for fault in topology_of(frames).faults(frames)]


def functions(frames: Frames) -> dict[str, VirtualFunction]:
    return {each.port: each for each in topology_of(frames).virtual_functions(frames)}


def test_north_south_has_two_links_and_each_its_own_vlan() -> None:
    found = functions(point())
    vlans = {port: each.settings.vlan for port, each in found.items()}
    assert vlans == {"east": 101, "vnf0a": 101, "vnf0b": 102, "west": 102}


@pytest.mark.parametrize("vnfs", [2, 3, 4])
def test_every_link_of_a_chain_is_the_only_one_in_its_vlan(vnfs: int) -> None:
    found = functions(point(vnfs, sriov=Sriov(first_vlan=7)))
    assert len(found) == 2 * vnfs + 2
    by_vlan: dict[int, list[str]] = {}
    for port, each in found.items():
        by_vlan.setdefault(each.settings.vlan, []).append(port)
    assert sorted(by_vlan) == list(range(7, 7 + vnfs + 1))
    assert all(len(ports) == 2 for ports in by_vlan.values())
    assert by_vlan[8] == ["vnf0b", "vnf1a"]


def test_a_virtual_function_has_the_address_that_frames_are_sent_to() -> None:
    frames = point(2)
    macs = {each.settings.mac for each in functions(frames).values()}
    assert len(macs) == 6
    wiring = wiring_of(frames)
    [stream] = wiring.streams
    assert stream.dst_mac == functions(frames)["vnf0a"].settings.mac
    told = {forward.vnf: forward.dst_mac for forward in wiring.forwards}
    assert told["vnf0"] == functions(frames)["vnf1a"].settings.mac
    assert told["vnf1"] == functions(frames)["west"].settings.mac
    assert wiring.peer(End("vnf0", "b")) == End(NIC, "vnf0b")


def test_two_physical_functions_share_the_links() -> None:
    four = functions(point(4, (PF, PF2))).values()
    assert [each.pf for each in four] == ["east"] * 6 + ["west"] * 4
    found = functions(point(2))
    assert {port for port, each in found.items() if each.pf == "west"} == {"vnf1b", "west"}
    assert physical_functions(point(2), {}) == {"east": PF, "west": PF}
    assert physical_functions(point(2, (PF, PF2)), {}) == {"east": PF, "west": PF2}
    assert physical_functions(point(2, ()), {"east": PF2}) == {"east": PF2, "west": PF2}


def test_each_host_takes_the_ports_of_its_own_programs() -> None:
    frames = point(2)
    near = [each.port for each in functions_on(frames, generator=True, others=False)]
    far = [each.port for each in functions_on(frames, generator=False, others=True)]
    assert near == ["east", "west"]
    assert far == ["vnf0a", "vnf0b", "vnf1a", "vnf1b"]


def test_the_bench_is_planned_near_the_physical_functions() -> None:
    assert needs_of(point(1, (PF, PF2))).devices == (PF, PF2)


def test_vf_settings_come_from_the_study() -> None:
    told = Sriov(qos=3, spoofchk=False, trust=True, max_tx_rate_mbps=500)
    settings = functions(point(sriov=told))["vnf0a"].settings
    assert (settings.qos, settings.spoofchk, settings.trust) == (3, False, True)
    assert settings.max_tx_rate_mbps == 500


def test_a_point_that_the_nic_could_carry_has_no_fault() -> None:
    assert faults(point(4)) == []


@pytest.mark.parametrize(
    ("frames", "key"),
    [
        (point(1, ()), "sut.ports"),
        (point(1, (PF, PF2, "0000:3b:00.2")), "sut.ports"),
        (point(1, ("eth0",)), "sut.ports"),
        (point(1, (PF, PF)), "sut.ports"),
        (replace(point(), hosts=Roles("a", "b")), "sut.ports"),
        (point(5), "topology.vnfs"),
        (replace(point(), sut=Sut(vnf=Vnf(mode=VnfMode.IO), ports=(PF,))), "sut.vnf.mode"),
        (replace(point(), traffic=Traffic(encapsulation=Encapsulation.VLAN)),
         "traffic.encapsulation"),
        (replace(point(), traffic=Traffic(flow_field=FlowField.DST_MAC)), "traffic.flow_field"),
        (point(2, sriov=Sriov(first_vlan=4093)), "sriov.first_vlan"),
    ],
)  # fmt: skip
def test_a_point_that_the_nic_cannot_carry_is_refused(frames: Frames, key: str) -> None:
    assert faults(frames) == [key]


def sriov_vhost(vnfs: int = 1, ports: tuple[str, ...] = (PF,)) -> Frames:
    return Frames(Topology("sriov-vhost", vnfs), Traffic(), Sut(ports=ports))


def test_next_to_the_switch_only_the_first_link_is_the_nics() -> None:
    frames = sriov_vhost(2)
    assert {p: each.settings.vlan for p, each in functions(frames).items()} == {
        "east": 101, "vnf0a": 101,
    }  # fmt: skip
    wiring = wiring_of(frames)
    assert wiring.ports_of(NIC) == ("east", "vnf0a")
    assert wiring.ports_of(SWITCH) == ("west", "vnf0b", "vnf1a", "vnf1b")
    assert {flow.in_port for flow in wiring.flows} == {"vnf0b", "vnf1b"}


def test_a_functions_ports_are_planned_as_what_they_are() -> None:
    needs = needs_of(sriov_vhost())
    assert needs.switch is not None
    [function] = needs.functions
    assert [port.vf is not None for port in function.ports] == [True, False]
    assert needs.devices == (PF,)


@pytest.mark.parametrize(
    ("frames", "key"),
    [
        (sriov_vhost(1, (PF, PF2)), "sut.ports"),
        (sriov_vhost(1, ()), "sut.ports"),
        (replace(sriov_vhost(), hosts=Roles("a", "b")), "hosts"),
        (
            replace(sriov_vhost(), sut=Sut(Vswitch(kind="linux-bridge"), ports=(PF,))),
            "sut.vswitch.kind",
        ),
        (replace(sriov_vhost(), sut=Sut(vnf=Vnf(mode=VnfMode.IO), ports=(PF,))), "sut.vnf.mode"),
    ],
)
def test_a_point_that_does_not_fit_sriov_vhost_is_refused(frames: Frames, key: str) -> None:
    assert faults(frames) == [key]
