# SPDX-License-Identifier: Apache-2.0
"""Test that fault types reject points that cannot have them, and change only what they declare."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fake_rig import FACTS
from wirespeed.bench.fault import FAULTS
from wirespeed.bench.fault.inject import as_built, place_of, refusals, strength_of
from wirespeed.model.frame import FrameSizes
from wirespeed.model.study.injected import NO_FAULT, InjectedFault
from wirespeed.model.study.spec import Frames, Sut, Topology, Traffic, Vnf, Vswitch
from wirespeed.session.rig import plan_of
from wirespeed.study.errors import StudyError
from wirespeed.study.load import load_study

KINDS = [kind.name for kind in FAULTS if kind.name != NO_FAULT]
ON_SWITCH = {"missing-flow", "small-mtu", "ingress-policer", "egress-policer", "upcall-storm",
             "revalidator-churn", "pmd-core-hog", "one-queue", "wrong-vlan"}  # fmt: skip
OF_VNF = {"slow-vnf", "stopped-vnf", "crashing-vnf", "few-mbufs"}


def point(kind: str, topology: str = "pvp", *, frame: str = "512", **fault: object) -> Frames:
    wanted = InjectedFault(kind, **fault)  # type: ignore[arg-type]
    sut = Sut(vswitch=Vswitch(rx_queues=2))
    traffic = Traffic(FrameSizes.parse(frame))
    return Frames(Topology(topology), traffic, sut, fault=wanted)


def test_there_are_at_least_sixteen_that_any_host_can_have() -> None:
    assert len([kind for kind in FAULTS if not kind.needs]) - 1 >= 16


@pytest.mark.parametrize("name", sorted(ON_SWITCH | OF_VNF))
def test_a_fault_of_switch_or_vnf_is_refused_on_the_wire(name: str) -> None:
    [fault] = refusals(point(name, "wire"))
    assert fault.key == "fault.kind"
    assert 'topology.kind = "wire"' in fault.allowed


@pytest.mark.parametrize("name", sorted(ON_SWITCH - {"pmd-core-hog"}))
def test_a_kernel_bridge_has_none_of_open_vswitchs(name: str) -> None:
    frames = point(name, "p2p")
    bridge = replace(frames.sut.vswitch, kind="linux-bridge")
    found = refusals(replace(frames, sut=replace(frames.sut, vswitch=bridge)))
    assert 'sut.vswitch.kind = "linux-bridge"' in next(found).allowed


@pytest.mark.parametrize("name", sorted(OF_VNF))
def test_a_vnf_in_the_generators_process_is_refused(name: str) -> None:
    frames = point(name)
    shared = replace(frames, sut=replace(frames.sut, vnf=Vnf(placement="shared")))
    assert [fault.allowed for fault in refusals(shared)] == [
        'needs sut.vnf.placement = "process", not "shared"'
    ]
    assert not list(refusals(frames))
    assert as_built(frames).sut.vnf.placement == "process"


def test_a_strength_out_of_range_is_reported_with_its_range() -> None:
    [fault] = refusals(point("stopped-vnf", strength=1.5))
    assert str(fault) == ("fault.strength = 1.5: must be 0.05 to 1 (the share of the trial)")
    [fault] = refusals(point("missing-flow", strength=1.0))
    assert "has no strength" in fault.allowed


def test_a_place_that_is_not_there_is_reported_with_those_that_are() -> None:
    [fault] = refusals(point("missing-flow", at="vnf7a"))
    assert fault.allowed == "must be one of east, vnf0b"


def test_frames_that_every_mtu_holds_cannot_be_above_one() -> None:
    [fault] = refusals(point("small-mtu", frame="64"))
    assert "traffic.frame of 128" in fault.allowed


@given(
    name=st.sampled_from([n for n in KINDS if not FAULTS[n].needs and n != "wrong-vlan"]),
    topology=st.sampled_from(["p2p", "pvp", "chain", "parallel", "wire"]),
    seed=st.integers(0, 1000),
    share=st.floats(0, 1),
)
def test_a_fault_that_is_not_refused_can_be_planned(
    name: str, topology: str, seed: int, share: float
) -> None:
    """A point is refused, or its place is one of the kind's, its strength in range, and the plan of
    what is built has a place for everything."""
    strength = FAULTS[name].strength
    wanted = None
    if strength is not None:
        wanted = strength.least + share * (strength.most - strength.least)
    frames = point(name, topology, seed=seed, strength=wanted)
    if list(refusals(frames)):
        return
    assert place_of(frames) in FAULTS[name].places(frames)
    assert place_of(frames) == place_of(frames)
    if strength is not None and frames.fault is not None:
        assert strength.least <= strength_of(frames.fault) <= strength.most
    plan = plan_of(FACTS, frames)
    healthy = plan_of(FACTS, replace(frames, fault=None))
    changed = as_built(frames) != frames or plan != healthy
    assert not changed or name in OF_VNF | {"upcall-storm", "one-queue", "small-ring"}


def test_few_mbufs_are_those_of_one_vnf() -> None:
    frames = replace(point("few-mbufs", "chain", strength=2000.0, at="vnf1"),
                     topology=Topology("chain", 2))  # fmt: skip
    guests = {guest.name: guest.process for guest in plan_of(FACTS, frames).sut_host.guests}
    first, second = guests["vnf0"], guests["vnf1"]
    assert first is not None
    assert second is not None
    assert second.value.mbufs == 2000 < first.value.mbufs
    assert "few-mbufs" in second.because


def test_an_unknown_fault_is_one_error_with_the_names() -> None:
    with pytest.raises(StudyError) as told:
        load_study("quickstart", ["fault.kind=slow-vnff"])
    assert len(told.value.faults) == 1
    assert 'did you mean "slow-vnf"?' in str(told.value.faults[0])
    assert all(kind.name in str(told.value.faults[0]) for kind in FAULTS)


def test_no_fault_is_the_same_point_as_ever() -> None:
    [plain, *_] = load_study("quickstart").points
    [none, *_] = load_study("quickstart", ["fault.kind=none"]).points
    assert none.id == plain.id
    assert "fault" not in none.parameters


def test_a_fault_is_varied_like_any_other_key() -> None:
    study = load_study("quickstart", ['vary.fault.kind=["none","missing-flow","stolen-generator"]'])
    kinds = [point.parameters.get("fault", {}).get("kind") for point in study.points]
    assert set(kinds) == {None, "missing-flow", "stolen-generator"}
    assert any("fault missing-flow" in point.label for point in study.points)


def test_points_take_over_the_needs_of_their_fault() -> None:
    study = load_study("quickstart", ["fault.kind=pmd-off-node"])
    assert all(point.needs == ("numa_nodes >= 2",) for point in study.points)
