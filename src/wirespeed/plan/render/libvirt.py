# SPDX-License-Identifier: Apache-2.0
"""Render guests as libvirt domains, with the networks of their VFs and their vhost-user ports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.model.input.text import PCI_ADDRESS
from wirespeed.model.plan.plan import GuestPlan, HostPlan, Plan, PortPlan
from wirespeed.model.plan.policy import InterfaceKind, NetworkType
from wirespeed.plan.render.interface import Files, RenderError, fill
from wirespeed.plan.render.ovs import bridge_name

SOCKET_DIR = "/var/lib/vhost_sockets"
_VF_TO_COME = re.compile(r"(.+)/vf\d+")


@dataclass(frozen=True, slots=True)
class PciAddress:
    domain: str
    bus: str
    slot: str
    function: str


@dataclass(frozen=True, slots=True)
class DomainInterface:
    """A port as a domain's <interface>."""

    kind: str
    """vhostuser, hostdev, pool or bridge."""
    port: PortPlan
    socket: str = ""
    address: PciAddress | None = None
    source: str = ""
    vlan: int | None = None


@dataclass(frozen=True, slots=True)
class VfPool:
    """A libvirt network that assigns the VFs of one PF."""

    name: str
    interface: str
    mode: str


def render(plan: Plan) -> Files:
    """Return libvirt/HOST/GUEST.xml, net-*.xml for future VFs, and vhost-ports.sh."""
    files: dict[str, str] = {}
    for host in plan.hosts:
        pools: dict[str, VfPool] = {}
        sockets: list[tuple[str, DomainInterface, str]] = []
        for guest in host.guests:
            interfaces = [_interface(plan, host, guest, port, pools) for port in guest.ports]
            files[f"libvirt/{host.host}/{guest.name}.xml"] = _domain(host, guest, interfaces)
            sockets += [
                (_port_name(guest, i.port), i, bridge_name(_physical(plan, i.port)))
                for i in interfaces
                if i.kind == "vhostuser"
            ]
        for pool in pools.values():
            files[f"libvirt/{host.host}/net-{pool.name}.xml"] = fill("pool.xml.j2", pool=pool)
        if sockets:
            files[f"libvirt/{host.host}/vhost-ports.sh"] = fill(
                "vhost_ports.sh.j2", host=host, sockets=sockets, directory=SOCKET_DIR
            )
    return files


def bench_domains(plan: Plan) -> Mapping[str, str]:
    """Return the XML of each guest of a bench that is a virtual machine, by name."""
    return {
        guest.name: _domain(
            host, guest, [_interface(plan, host, guest, port, {}) for port in guest.ports]
        )
        for host in plan.hosts
        for guest in host.guests
        if guest.vcpus
    }


def _domain(host: HostPlan, guest: GuestPlan, interfaces: Sequence[DomainInterface]) -> str:
    return fill(
        "domain.xml.j2", guest=guest, interfaces=interfaces,
        devices=[_pci(device.address) for device in guest.devices],
        shared=host.cores.shared.value if host.cores else (),
    )  # fmt: skip


def _interface(
    plan: Plan, host: HostPlan, guest: GuestPlan, port: PortPlan, pools: dict[str, VfPool]
) -> DomainInterface:
    network = plan.network(port.network)
    vlan = network.segment if network.type is NetworkType.VLAN else None
    if port.kind.value is InterfaceKind.VHOST:
        socket = f"{SOCKET_DIR}/{_port_name(guest, port)}"
        return DomainInterface("vhostuser", port, socket=socket, vlan=vlan)
    if port.kind.value is InterfaceKind.VIRTIO:
        source = bridge_name(network.physical_network)
        return DomainInterface("bridge", port, source=source, vlan=vlan)
    if port.device is None:
        raise RenderError(f"guest {guest.name}: port {port.name} has no VF in the plan")
    if network.transparent_vlan:
        vlan = None
    to_come = _VF_TO_COME.fullmatch(port.device.value)
    macvtap = port.kind.value is InterfaceKind.MACVTAP
    if to_come or macvtap:
        # A macvtap device needs the VF's interface, which libvirt finds through the PF's.
        parent = to_come[1] if to_come else _parent(host, port)
        pool = _vf_pool(host, parent, "passthrough" if macvtap else "hostdev")
        pools[pool.name] = pool
        return DomainInterface("pool", port, source=pool.name, vlan=vlan)
    return DomainInterface("hostdev", port, address=_pci(port.device.value), vlan=vlan)


_PLAN_AGAIN = "Correct the plan, or make it again with `wirespeed plan make`."


def _parent(host: HostPlan, port: PortPlan) -> str:
    """Return the PF of a network, for a VF that does not name it."""
    for nic in host.nics:
        if nic.network == port.network and nic.vfs.value:
            return nic.address
    raise RenderError(f"host {host.host}: no NIC has VFs on network {port.network}", _PLAN_AGAIN)


def _vf_pool(host: HostPlan, parent: str, mode: str) -> VfPool:
    nic = next((nic for nic in host.nics if nic.address == parent), None)
    if nic is None:
        raise RenderError(f"host {host.host}: has no NIC {parent} for a VF", _PLAN_AGAIN)
    if nic.interface is None:
        raise RenderError(
            f"host {host.host}: the VFs of {parent} do not exist yet and the PF has no network "
            "interface by which libvirt could find them",
            f"Create them (sriov_numvfs = {nic.vfs.value}), inspect the host again, plan again.",
        )
    return VfPool(f"{mode}-{nic.interface}", nic.interface, mode)


def _pci(address: str) -> PciAddress:
    if not PCI_ADDRESS.fits(address):
        raise RenderError(
            f"{address!r} is not the PCI address of a device that exists",
            "Create the VFs, inspect the host again, plan again.",
        )
    domain, bus, rest = address.split(":")
    return PciAddress(domain, bus, *rest.split("."))


def _port_name(guest: GuestPlan, port: PortPlan) -> str:
    return f"{guest.name}-{port.name}"


def _physical(plan: Plan, port: PortPlan) -> str:
    return plan.network(port.network).physical_network
