# SPDX-License-Identifier: Apache-2.0
"""Compare what OpenStack created with the plan: one row per guest. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.cloud.observed import Server
from tests.cloud.simulated_host import SMALL_KIB, address_of
from wirespeed.model.plan.plan import FlavorPlan, GuestPlan, Plan
from wirespeed.model.plan.policy import InterfaceKind, NetworkType

SAME_PF = "another VF of the same port"
COLUMNS = ("accepted", "same host", "same CPUs", "same pages", "same ports")
# What ML2 binds each interface kind to on a host whose datapath is netdev.
_VIF = {
    InterfaceKind.VHOST: "vhostuser",
    InterfaceKind.VIRTIO: "vhostuser",
    InterfaceKind.SRIOV: "hw_veb",
    InterfaceKind.MACVTAP: "hw_veb",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A guest next to its plan."""

    guest: str
    cells: tuple[bool, ...]
    """One for each of COLUMNS."""
    differences: tuple[str, ...]
    """Differences from the plan."""
    contradictions: tuple[str, ...]
    """Contradictions between Nova, Placement, Neutron and libvirt's document; must be empty."""


def rows(
    plan: Plan, servers: Mapping[str, Server], documents: Mapping[str, Mapping[str, Any]]
) -> list[Row]:
    """Compare all guests, in the order of the plan."""
    planned = {g.name: (g, host.host) for host in plan.hosts for g in host.guests}
    flavors = {flavor.name: flavor for flavor in plan.flavors}
    found = []
    for name in plan.order:
        guest, host = planned[name]
        server = servers.get(name)
        if server is None or server.status != "ACTIVE":
            why = f"{server.status}: {server.fault}" if server else "there is no such server"
            found.append(Row(name, (False,) * len(COLUMNS), (why,), ()))
            continue
        devices = documents[host]["devices"]
        answers = (
            _host(server, host), _cpus(guest, server), _pages(guest, server),
            _ports(plan, guest, server, devices),
        )  # fmt: skip
        found.append(
            Row(
                name,
                (True, *(not answer for answer in answers)),
                tuple(each for answer in answers for each in answer),
                tuple(_contradictions(guest, flavors[guest.flavor], server)),
            )
        )
    return found


def _host(server: Server, host: str) -> list[str]:
    return [f"on {server.host}, planned on {host}"] if server.host != host else []


def _cpus(guest: GuestPlan, server: Server) -> list[str]:
    planned = {vcpu: cpu for node in guest.nodes for vcpu, cpu in node.pins}
    pins = {vcpu: cpu for node in server.nodes for vcpu, cpu in node.pins.items()}
    found = []
    if pins != planned:
        found.append(f"vCPUs on {pins}, planned on {planned}")
    emulator = guest.emulator_cpus.value if guest.emulator_cpus else ()
    if server.domain and planned and server.domain.emulator != tuple(sorted(emulator)):
        found.append(f"emulator threads on {server.domain.emulator}, planned on {emulator}")
    return found


def _pages(guest: GuestPlan, server: Server) -> list[str]:
    planned = [(node.node, node.memory_mib) for node in guest.nodes]
    nodes = [(node.host_node, node.memory_mib) for node in server.nodes]
    found = []
    if nodes != planned:
        found.append(f"memory (node, MiB) {nodes}, planned {planned}")
    size = max((node.page_kib for node in guest.nodes), default=0)
    # Nova names no size for a guest that asked for none: it has small pages.
    if server.page_kib != size and (server.page_kib, size) != (0, SMALL_KIB):
        found.append(f"pages of {server.page_kib} KiB, planned {size} KiB")
    return found


def _ports(
    plan: Plan, guest: GuestPlan, server: Server, devices: Sequence[Mapping[str, Any]]
) -> list[str]:
    found = []
    for port in guest.ports:
        seen = server.ports.get(port.mac)
        if seen is None:
            found.append(f"port {port.name}: none has MAC {port.mac}")
            continue
        network = plan.network(port.network)
        tagged = network.type is NetworkType.VLAN and port.device is not None
        wanted = (_VIF[port.kind.value], network.segment if tagged else None)
        if (seen.vif, seen.vlan) != wanted:
            found.append(f"port {port.name}: (vif, VLAN) {(seen.vif, seen.vlan)}, planned {wanted}")
        slot = address_of(port.device.value, devices) if port.device else None
        if seen.slot != slot:
            found.append(_other_slot(port.name, seen.slot, slot, devices))
    return found


def _other_slot(
    port: str, seen: str | None, planned: str | None, devices: Sequence[Mapping[str, Any]]
) -> str:
    parents = {device["address"]: device["parent"] for device in devices}
    text = f"port {port}: VF {seen}, planned {planned}"
    if seen in parents and planned in parents and parents[seen] == parents[planned]:
        return f"{text}: {SAME_PF}"
    return text


def _contradictions(guest: GuestPlan, flavor: FlavorPlan, server: Server) -> list[str]:
    found = []
    pinned = sum(len(node.pins) for node in guest.nodes)
    wanted = {"VCPU": guest.vcpus - pinned, "PCPU": pinned, "MEMORY_MB": guest.memory_mib,
              "DISK_GB": flavor.disk_gib}  # fmt: skip
    isolated = flavor.specs.get("hw:emulator_threads_policy")
    if isolated and isolated.value == "isolate":
        wanted["PCPU"] += 1
    if dict(server.allocated) != {name: n for name, n in wanted.items() if n}:
        found.append(f"Placement allocated {dict(server.allocated)}, the flavor asks for {wanted}")
    for mac, port in server.ports.items():
        if port.status != "ACTIVE" or port.host != server.host:
            found.append(f"port {mac} is {port.status} on {port.host}")
    domain = server.domain
    if domain is None:
        return [*found, "libvirt has no such domain"]
    pins = {vcpu: (cpu,) for node in server.nodes for vcpu, cpu in node.pins.items()}
    if any(domain.pins.get(vcpu) != cpus for vcpu, cpus in pins.items()):
        found.append(f"Nova says {pins}, libvirt has {dict(domain.pins)}")
    if domain.nodes and domain.nodes != tuple(node.host_node for node in server.nodes):
        found.append(f"memory is bound to nodes {domain.nodes}")
    if server.page_kib > 4 and domain.page_kib != server.page_kib:
        found.append(f"libvirt has pages of {domain.page_kib} KiB")
    direct = {port.slot for port in server.ports.values() if port.slot}
    if guest.devices and len(domain.devices - direct) != len(guest.devices):
        found.append(f"libvirt has devices {sorted(domain.devices)}")
    if domain.vhost_ports != sum(port.vif == "vhostuser" for port in server.ports.values()):
        found.append(f"libvirt has {domain.vhost_ports} vhost-user ports")
    return found
