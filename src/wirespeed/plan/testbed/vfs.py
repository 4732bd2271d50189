# SPDX-License-Identifier: Apache-2.0
"""Plan the virtual functions of a bench's guests: their NICs and VLANs.

The bench creates them when it opens. Until then a plan names them like the future VFs of a
deployment.
"""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.needs import FunctionNeeds, PortNeeds, VfNeeds
from wirespeed.model.plan.plan import Decision, NicPlan, PortPlan
from wirespeed.model.plan.policy import InterfaceKind, NetworkType, NicUse
from wirespeed.model.plan.workload import ProviderNetwork

_PHYSICAL_NETWORK = "nic"


def vf_port(port: PortNeeds, vf: VfNeeds, queues: Decision[int]) -> PortPlan:
    """Return the plan of a guest's port that is a virtual function."""
    return PortPlan(
        port.name, _network(vf).name,
        Decision(InterfaceKind.SRIOV, "the NIC's own switch joins the functions"),
        queues, port.mac,
        device=Decision(f"{vf.pf}/vf{vf.number}", "sut.ports; the bench makes it"),
    )  # fmt: skip


def vf_networks(functions: Iterable[FunctionNeeds]) -> tuple[ProviderNetwork, ...]:
    """Return the VLAN of each link with a guest."""
    return tuple(dict.fromkeys(_network(vf) for vf in _vfs(functions)))


def vf_nics(facts: HostFacts, functions: Iterable[FunctionNeeds]) -> tuple[NicPlan, ...]:
    """Return the physical functions of the guests' virtual functions.

    Raises BadInput for a physical function that the host does not have.
    """
    vfs = _vfs(functions)
    return tuple(
        _nic(facts, pf, [vf for vf in vfs if vf.pf == pf])
        for pf in dict.fromkeys(v.pf for v in vfs)
    )


def _nic(facts: HostFacts, pf: str, vfs: list[VfNeeds]) -> NicPlan:
    device = next((each for each in facts.nics if each.address == pf), None)
    if device is None or not device.interfaces:
        what = "no interface, through which its driver would set VFs" if device else "no such NIC"
        known = ", ".join(each.address for each in facts.nics if each.sriov_total) or "none"
        raise BadInput(
            f"sut.ports: {pf}: host {facts.host} has {what}",
            f"NICs with SR-IOV there: {known}.",
        )
    return NicPlan(
        pf, device.node, _network(vfs[0]).name, NicUse.SRIOV,
        Decision(device.driver or "", "the PF keeps its kernel driver, which makes the VFs"),
        Decision(1 + max(vf.number for vf in vfs), "up to the last one that a guest has"),
        device.interfaces[0], vendor=device.vendor, product=device.device,
    )  # fmt: skip


def _network(vf: VfNeeds) -> ProviderNetwork:
    return ProviderNetwork(f"vlan{vf.vlan}", _PHYSICAL_NETWORK, NetworkType.VLAN, vf.vlan)


def _vfs(functions: Iterable[FunctionNeeds]) -> list[VfNeeds]:
    return [port.vf for each in functions if each.in_guest for port in each.ports if port.vf]
