# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.support.fake_rig import PLAN, plan_of
from wirespeed.store.sut import describe_old_sut
from wirespeed.study.kinds.registry import kind_of
from wirespeed.study.load import load_study


@pytest.mark.parametrize(
    ("study", "overrides", "kind"),
    [
        ("quickstart", ["topology.kind=pvp"], "ovs-dpdk"),
        ("quickstart", ["topology.kind=host"], "wsdp"),
        ("quickstart", ["topology.kind=host", "sut.vnf.kind=testpmd"], "testpmd"),
        ("wire", [], "reference"),
        ("s1-bng", [], "bng"),
        ("s0-speedtest", ["tcp.path=veth"], "kernel"),
        ("s0-speedtest", ["tcp.path=ovs"], "ovs-dpdk"),
    ],
)
def test_an_old_run_is_described_as_a_new_one_describes_itself(
    study: str, overrides: list[str], kind: str
) -> None:
    point = load_study(study, overrides).points[0]
    assert kind_of(point.workload).sut.kind == kind
    assert describe_old_sut(point.parameters, plan_of(point.workload)).kind == kind


def test_the_reference_sut_limits_itself_only_if_it_was_given_a_rate() -> None:
    told, free = (load_study("wire", [f"sut.impair.rate_fps={rate}"]) for rate in (1e6, 0))
    assert describe_old_sut(told.points[0].parameters, PLAN).limits_itself
    found = describe_old_sut(free.points[0].parameters, PLAN)
    assert found.reference
    assert not found.limits_itself
