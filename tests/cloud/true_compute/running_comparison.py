# SPDX-License-Identifier: Apache-2.0
"""Compare the running guest with its plan. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tests.cloud.true_compute.running import RunningGuest
from wirespeed.model.plan.plan import GuestPlan, Plan, PortPlan
from wirespeed.model.plan.policy import InterfaceKind

_SWITCH = "ovs-vswitchd"


@dataclass(frozen=True, slots=True)
class Compared:
    what: str
    planned: object
    found: object

    @property
    def same(self) -> bool:
        return self.planned == self.found


def compared(plan: Plan, guest: GuestPlan, seen: RunningGuest) -> list[Compared]:
    """Return a line for each decision of the plan."""
    pins = {vcpu: (cpu,) for node in guest.nodes for vcpu, cpu in node.pins}
    emulator = tuple(sorted(guest.emulator_cpus.value)) if guest.emulator_cpus else ()
    lines = [
        Compared("CPUs of the vCPUs' threads", pins, dict(sorted(seen.vcpus.items()))),
        Compared("CPUs of all other threads", emulator, seen.others),
        Compared(
            "MiB of huge pages by node",
            {node.node: node.memory_mib for node in guest.nodes},
            dict(seen.huge_mib),
        ),
        Compared("page size in KiB", {node.page_kib for node in guest.nodes}, {seen.page_kib}),
    ]
    for port in guest.ports:
        lines += _port(plan, port, seen)
    return lines


def _port(plan: Plan, port: PortPlan, seen: RunningGuest) -> list[Compared]:
    vlan = plan.network(port.network).segment
    if port.kind.value is InterfaceKind.SRIOV:
        assert port.device
        pf = port.device.value.partition("/vf")[0]
        vfs = [(vf.pf, vf.vlan, vf.driver) for vf in seen.vfs if vf.mac == port.mac]
        return [Compared(f"port {port.name}: PF, VLAN, driver", [(pf, vlan, "vfio-pci")], vfs)]
    ends = [(p.wire_vlan, p.peer) for p in seen.vhost if p.mac == port.mac]
    return [Compared(f"port {port.name}: VLAN, program at its socket", [(vlan, _SWITCH)], ends)]


def table(lines: list[Compared]) -> str:
    return "\n".join(
        f"{'same' if line.same else 'DIFFERS':8} {line.what:40} planned {line.planned}, "
        f"found {line.found}"
        for line in lines
    )
