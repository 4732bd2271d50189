# SPDX-License-Identifier: Apache-2.0
"""List the VFs of a plan with their attributes, and the driver of each port."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from wirespeed.apply.step import Step
from wirespeed.apply.steps.drivers import Driver, bound_to
from wirespeed.apply.steps.vfs import KERNEL_DRIVER, Vfs, unset_vf, value_of, vf_addresses
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import GuestPlan, HostPlan, NicPlan, Plan, PortPlan
from wirespeed.model.plan.policy import InterfaceKind, NetworkType, NicUse
from wirespeed.remote.interface import Runner
from wirespeed.remote.pci import VFIO

# Nova may take another VF of the port than the plan names. With the plan's MAC address and VLAN set
# as well, two VFs of a NIC would have them.
_NOVA_GIVES = "Nova chooses among them and sets the MAC and VLAN of the one it gives"
_TO_COME = re.compile(r"(.+)/vf(\d+)")


def nic_steps(plan: Plan, host: HostPlan, facts: HostFacts, runner: Runner) -> list[Step]:
    """Return the steps for each PF's driver and VFs, then for drivers of guests' VFs and DPDK."""
    steps: list[Step] = []
    drivers: list[Step] = []
    for nic in host.nics:
        device = next((d for d in facts.pci if d.address == nic.address), None)
        (drivers if nic.use is NicUse.DPDK else steps).append(_driver(nic))
        if nic.vfs.value and device is not None:
            interface = nic.interface or next(iter(device.interfaces), "")
            setting = Vfs(nic.address, interface, vf_addresses(runner, nic.address))
            wanted = [unset_vf() for _ in range(nic.vfs.value)]
            # Without addresses, the setting itself reports why it cannot be set.
            ports = list(_ports_on(host, nic, setting.addresses)) if setting.addresses else []
            why = f"{nic.vfs.because}; MAC and VLAN of the ports in the plan"
            if _nova_sets_them(facts, ports):
                ports, why = [], f"{nic.vfs.because}; {_NOVA_GIVES}"
            for guest, port, number in ports:
                wanted[number] = _vf(plan, port)
                drivers += _vf_driver(guest, port, setting.addresses[number])
            steps.append(Step(setting, value_of(wanted), f"nics[{nic.address}].vfs", why))
    return steps + drivers


def _driver(nic: NicPlan) -> Step:
    driver = "" if nic.driver.value == "(none)" else nic.driver.value
    value = bound_to(driver, VFIO if driver == VFIO else None)
    return Step(Driver(nic.address), value, f"nics[{nic.address}].driver", nic.driver.because)


def _nova_sets_them(facts: HostFacts, ports: list[tuple[GuestPlan, PortPlan, int]]) -> bool:
    """Return whether Nova sets MAC and VLAN itself.

    A macvtap port's VF must have the kernel's driver before Nova takes it.
    """
    kinds = {port.kind.value for _, port, _ in ports}
    return facts.nova is not None and InterfaceKind.MACVTAP not in kinds


def _ports_on(
    host: HostPlan, nic: NicPlan, addresses: tuple[str, ...]
) -> Iterator[tuple[GuestPlan, PortPlan, int]]:
    """Yield the ports that take a VF of this PF, with the VF's number."""
    for guest in host.guests:
        for port in guest.ports:
            if port.device is None:
                continue
            to_come = _TO_COME.fullmatch(port.device.value)
            if to_come and to_come[1] == nic.address:
                yield guest, port, int(to_come[2])
            elif port.device.value in addresses:
                yield guest, port, addresses.index(port.device.value)


def _vf(plan: Plan, port: PortPlan) -> dict[str, Any]:
    """Return a VF's attributes.

    Without port security a guest may send from other addresses and change its own.
    """
    network = plan.network(port.network)
    tagged = network.type is NetworkType.VLAN and not network.transparent_vlan
    return {
        **unset_vf(),
        "mac": port.mac,
        "vlan": (network.segment or 0) if tagged else 0,
        "spoofchk": "on" if port.port_security else "off",
        "trust": "off" if port.port_security else "on",
        # A macvtap device needs the VF's kernel interface.
        "driver": KERNEL_DRIVER if port.kind.value is InterfaceKind.MACVTAP else None,
    }


def _vf_driver(guest: GuestPlan, port: PortPlan, address: str) -> Iterator[Step]:
    if port.kind.value is InterfaceKind.SRIOV and port.device is not None:
        decision = f"guests[{guest.name}].ports[{port.name}].device"
        because = f"QEMU gives it to {guest.name}; {port.device.because}"
        yield Step(Driver(address), bound_to(VFIO, VFIO), decision, because)
