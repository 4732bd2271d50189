# SPDX-License-Identifier: Apache-2.0
"""Describe the SUT at a point of a run that stored no description.

Only versions before schema 0003 stored none, so only their types are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wirespeed.model.plan.plan import Plan
from wirespeed.model.study.sut import SutDescription

_OVS = SutDescription(
    "ovs-dpdk", "Open vSwitch", "the SUT's first ring (Open vSwitch's PMD thread polls it)",
    more_cpus="sut.vswitch.pmd_cpus, sut.vswitch.rx_queues",
)  # fmt: skip
_POLLED = "the SUT's first ring (the SUT polls it)"
_FUNCTIONS = {
    "wsdp": SutDescription("wsdp", "wsdp", _POLLED),
    "testpmd": SutDescription("testpmd", "testpmd", _POLLED),
    "bng": SutDescription("bng", "bng", _POLLED, more_cpus="sut.vnf.workers"),
}


def describe_old_sut(parameters: Mapping[str, Any], plan: Plan) -> SutDescription:
    """Return the description. parameters: of the point, as in a study file."""
    if any(host.vswitch is not None for host in plan.hosts):
        return _OVS
    if "tcp" in parameters:
        return SutDescription("kernel", "the kernel", "the kernel's cable")
    kind, sut = parameters["topology"]["kind"], parameters["sut"]
    if kind == "wire":
        limited = sut["impair"]["rate_fps"] > 0
        entrance = "the entrance of the reference SUT"
        return SutDescription("reference", "the reference SUT", entrance, True, limited)
    if kind == "external":
        return SutDescription("external", "external", "the SUT's first ring")
    return _FUNCTIONS[sut["vnf"]["kind"]]
