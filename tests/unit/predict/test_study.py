# SPDX-License-Identifier: Apache-2.0
"""Check which points of studies the model knows, and the resulting cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.model.plan.prediction import Arrangement, Attachment, Case, Resource
from wirespeed.model.study.ovs import Ovs
from wirespeed.model.study.spec import (
    Frames,
    Sut,
    Topology,
    Traffic,
    Vnf,
    Vswitch,
)
from wirespeed.model.study.study import Point
from wirespeed.predict.predict import predict
from wirespeed.predict.published import shipped_parameters
from wirespeed.predict.study import case_of, predictable

S2 = shipped_parameters()


def case(**tables: object) -> Case:
    return case_of(Point("", "a point", Frames(**tables), {}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("topology", "attachment", "functions", "idle"),
    [
        (Topology("p2p"), Attachment.NONE, 0, 1),
        (Topology("p2p", bidirectional=True), Attachment.NONE, 0, 0),
        (Topology("pvp"), Attachment.VHOST, 1, 2),
        (Topology("chain", 3), Attachment.VHOST, 3, 4),
        (Topology("parallel", 2), Attachment.VHOST, 2, 3),
        (Topology("sriov", 4), Attachment.SRIOV, 4, 0),
    ],
)
def test_topologies(topology: Topology, attachment: Attachment, functions: int, idle: int) -> None:
    found = case(topology=topology)
    assert (found.attachment, found.functions, found.idle_ports) == (attachment, functions, idle)
    assert (found.arrangement is Arrangement.PARALLEL) is (topology.kind == "parallel")


def test_cores_are_those_of_the_study() -> None:
    assert case().pmds == 1
    assert case(sut=Sut(vswitch=Vswitch(pmd_cpus=(2, 3)))).pmds == 2
    shared = Sut(vnf=Vnf(placement="shared"))
    assert case(topology=Topology("pvp"), sut=shared).shared_core


@pytest.mark.parametrize(("link_bps", "bound"), [(1e9, True), (1e12, False)])
def test_links_of_virtual_ports_bound_the_rate(link_bps: float, bound: bool) -> None:
    free = predict([case()], S2)[0]
    spec = Traffic(link_bps=link_bps, link_bound=True)
    found = predict([case(traffic=spec)], S2)[0]
    if bound:
        assert found.rate_fps == found.high_fps == pytest.approx(link_bps / (84 * 8))
        assert found.limit.resource is Resource.OFFERED
    else:
        assert found.rate_fps == pytest.approx(free.rate_fps)
        assert found.limit.resource is free.limit.resource


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"topology": Topology("external")}, "topology.kind = 'external'"),
        ({"sut": Sut(vswitch=Vswitch(kind="linux-bridge"))}, "sut.vswitch.kind"),
        ({"topology": Topology("pvp"), "sut": Sut(vnf=Vnf(kind="magic"))}, "sut.vnf.kind"),
        ({"sut": Sut(vswitch=Vswitch(ovs=Ovs(bridges=2)))}, "sut.vswitch.ovs"),
    ],
)
def test_case_outside_the_model_is_rejected(tables: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput) as error:
        case(**tables)
    assert said in error.value.what
    assert "The model knows" in error.value.next_step
    assert not predictable(replace(Frames(), **tables))  # type: ignore[arg-type]
