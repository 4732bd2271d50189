# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.study.convergence import Convergence
from wirespeed.model.study.gateway import Bng
from wirespeed.model.study.injected import InjectedFault
from wirespeed.model.study.sessions import Sessions
from wirespeed.model.study.spec import (
    Frames,
    Guest,
    Roles,
    RouterConvergence,
    Routing,
    Sriov,
    Sut,
    TcpSessions,
    TcpStreams,
    Vswitch,
    Workload,
)
from wirespeed.model.study.tcp import Tcp
from wirespeed.study.expand import MAX_POINTS, expand, parameters, point_id
from wirespeed.study.keys import parameter_keys
from wirespeed.study.validate import validate_point


def points_of(vary: dict[str, Any], base: dict[str, Any] | None = None) -> list[str]:
    points, faults = expand(base or {}, vary)
    assert not faults
    return [point.label for point in points]


def test_points_are_the_product_of_varied_keys_first_key_slowest() -> None:
    vary = {"topology.kind": ["p2p", "pvp"], "traffic.frame": [64, "imix:ag"]}
    assert points_of(vary) == ["p2p, 64 B", "p2p, IMIX ag", "pvp, 64 B", "pvp, IMIX ag"]


def test_a_varied_key_is_part_of_the_label() -> None:
    assert points_of({"traffic.flows": [1, 1000]}) == [
        "p2p, 64 B, flows 1",
        "p2p, 64 B, flows 1000",
    ]


def test_the_same_point_twice_is_measured_once() -> None:
    assert points_of({"traffic.frame": [64, "64"]}) == ["p2p, 64 B"]


def test_a_study_without_varied_keys_has_one_point() -> None:
    assert points_of({}) == ["p2p, 64 B"]


def test_tcp_has_only_what_it_depends_on_and_frames_know_nothing_of_it() -> None:
    vary = {"tcp.path": ["veth", "ovs"], "tcp.offloads": [True, False]}
    points, faults = expand({}, vary)
    assert not faults
    assert [point.label for point in points] == [
        "TCP over veth, offloads on",
        "TCP over veth, offloads off",
        "TCP over ovs, offloads on",
        "TCP over ovs, offloads off",
    ]
    assert [set(point.parameters) for point in points[1:3]] == [{"tcp"}, {"tcp", "sut"}]
    assert set(points[2].parameters["sut"]) == {"vswitch"}
    assert "tcp" not in parameters(Frames())


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ({"traffic": {"frame": 128}}, "traffic"),
        ({"search": {"kind": "mrr"}}, "search"),
        ({"sut": {"vswitch": {"socket_memory_mib": 512}}}, "sut.vswitch"),
        ({"tcp": {"path": "ovs"}, "sut": {"vswitch": {"rx_queues": 2}}}, "sut.vswitch.rx_queues"),
        ({"tcp": {"path": "ovs"}, "sut": {"vswitch": {"pmd_cpus": [1]}}}, "sut.vswitch.pmd_cpus"),
        ({"tcp": {"path": "ovs-pmd"}}, "tcp.offloads"),
        ({"tcp": {"path": "ovs-pmd", "offloads": False, "mtu": 9000}}, "tcp.mtu"),
        ({"tcp": {"processes": 2}}, "tcp.processes"),
        ({"tcp": {"mss": 1500}}, "tcp.mss"),
        ({"tcp": {"stream": 2}}, "tcp.stream"),
    ],
)
def test_keys_that_do_not_apply_to_tcp_are_refused(raw: dict[str, Any], key: str) -> None:
    _, faults = validate_point({"tcp": {}} | raw)
    assert [fault.key for fault in faults] == [key]


def test_pmd_masks_are_a_factor_of_tcp() -> None:
    vary = {"sut.vswitch.pmd_cpus": [[1], [0, 1]], "tcp.queues": [1, 2]}
    points, faults = expand({"tcp": {"path": "ovs-pmd", "offloads": False}}, vary)
    assert not faults
    assert points[-1].label == "TCP over ovs-pmd, pmd_cpus [0, 1], queues 2"
    assert len({point.id for point in points}) == 4


@pytest.mark.parametrize(
    "vary",
    [{"traffic.frames": [64]}, {"traffic.frame": 64}, {"traffic.frame": []}, {"traffic": [1]}],
)
def test_a_wrong_vary_is_a_fault(vary: dict[str, Any]) -> None:
    points, faults = expand({}, vary)
    assert not points
    assert faults[0].key.startswith("vary.")


def test_one_wrong_value_among_many_is_reported_once() -> None:
    points, faults = expand({}, {"traffic.frame": [64, 60], "traffic.flows": [1, 2]})
    assert not points
    assert {(fault.key, fault.value) for fault in faults} == {("traffic.frame", 60)}


def test_too_many_points_are_refused_before_they_are_made() -> None:
    vary = {"traffic.flows": list(range(1, 202)), "traffic.burst": list(range(1, 61))}
    assert MAX_POINTS < 201 * 60
    _, faults = expand({}, vary)
    assert "12060 points" in str(faults[0])


def test_an_id_depends_on_the_parameters_alone() -> None:
    written = {"traffic": {"frame": 64, "flows": 64}, "topology": {"kind": "p2p"}}
    explicit, _ = validate_point(written)
    assert explicit is not None
    assert point_id(parameters(explicit)) == point_id(parameters(Frames()))


def test_an_id_does_not_depend_on_the_order_of_the_keys() -> None:
    plain = parameters(Frames())
    assert point_id(dict(reversed(plain.items()))) == point_id(plain)


@given(st.integers(1, 60_000), st.integers(64, 9216))
def test_parameters_read_back_as_the_same_point(flows: int, frame: int) -> None:
    spec, faults = validate_point({"traffic": {"flows": flows, "frame": frame}})
    assert not faults
    assert spec is not None
    plain = parameters(spec)
    written = {
        section: {k: v for k, v in table.items() if not isinstance(v, dict) and v not in (None, [])}
        for section, table in plain.items()
    }
    again, faults = validate_point(written)
    assert not faults
    assert again == spec


def test_every_key_changes_the_id() -> None:
    """Check every key, because one that the ID ignores would merge different points."""
    whole = Frames(
        bng=Bng(), hosts=Roles("tester", "dut"), guest=Guest(), sriov=Sriov(),
        fault=InjectedFault("hog"), routing=Routing(),
    )  # fmt: skip
    own: dict[str, Workload] = {
        "tcp": TcpStreams(Tcp()),
        "sessions": TcpSessions(Sessions(), TcpStreams(Tcp())),
        "convergence": RouterConvergence(Convergence(), Frames()),
    }
    router = Vswitch(kind="wsdp-router", own=(("ports", "veth"),))
    for key in parameter_keys():
        spec = own.get(key.partition(".")[0], whole)
        if key.startswith("sut.vswitch.wsdp."):
            spec = replace(whole, sut=Sut(router))
        plain, changed = parameters(spec), parameters(spec)
        table = changed
        *sections, name = key.split(".")
        for section in sections:
            table = table[section]
        table[name] = "something else"
        assert point_id(changed) != point_id(plain), key
