# SPDX-License-Identifier: Apache-2.0
"""Answer as the API of a cloud in which a plan was carried out exactly.

The form is that of the Compute, Placement, Networking and Image API references. The recording of a
real control plane (s2-chains/) is compared with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wirespeed.cloud.api import Gone, Record, only
from wirespeed.model.host.facts import HostFacts, PciDevice
from wirespeed.model.plan.plan import GuestPlan, HostPlan, Plan
from wirespeed.model.plan.policy import InterfaceKind, NicUse
from wirespeed.plan.cloud.servers import vif_type
from wirespeed.plan.host.nics import matches
from wirespeed.plan.render.openstack import VNIC_TYPES
from wirespeed.plan.render.ovs import bridge_name


class Replies:
    """An Api that answers from a dictionary; a list is a collection."""

    cloud = "lab"

    def __init__(self, replies: dict[str, Any]) -> None:
        self.replies = replies

    def one(self, service: str, path: str, keys: Sequence[str]) -> Record:
        return only(self._reply(service, path), keys)

    def all(self, service: str, path: str, collection: str, keys: Sequence[str]) -> list[Record]:
        del collection
        return [only(record, keys) for record in self._reply(service, path)]

    def _reply(self, service: str, path: str) -> Any:
        key = f"{service} {path.partition('?')[0]}"
        if key not in self.replies:
            raise Gone(key)
        return self.replies[key]


def with_vfs(facts: HostFacts, pf: str, count: int) -> HostFacts:
    """Return the host with VFs of a PF, as sriov_numvfs makes them."""
    parent = next(device for device in facts.pci if device.address == pf)
    made = tuple(
        PciDevice(
            f"{pf[:8]}{8 + number // 8:02x}.{number % 8}", parent.vendor, "154c",
            node=parent.node, physical_function=pf,
        )
        for number in range(count)
    )  # fmt: skip
    others = tuple(
        replace(device, sriov_num=count) if device.address == pf else device for device in facts.pci
    )
    return replace(facts, pci=(*others, *made))


def replies(plan: Plan, hosts: Sequence[HostFacts]) -> Replies:
    """Return the whole cloud."""
    found: dict[str, Any] = {
        "compute /os-hypervisors/detail": [_hypervisor(facts) for facts in hosts],
        "compute /flavors/detail": [
            {
                "name": flavor.name, "vcpus": flavor.vcpus, "ram": flavor.memory_mib,
                "disk": flavor.disk_gib,
                "extra_specs": {key: spec.value for key, spec in flavor.specs.items()},
            }
            for flavor in plan.flavors
        ],
        "compute /os-aggregates": [
            {
                "name": a.name, "metadata": dict(a.metadata),
                "hosts": [f.host for f in hosts if matches(f.host, a.hosts)],
            }
            for a in plan.aggregates
        ],
        "compute /os-server-groups": [
            {"name": group.name, "policy": str(group.policy)} for group in plan.groups
        ],
        "image /images": [
            {"name": name, **properties} for name, properties in _images(plan).items()
        ],
        "network /networks": [
            {
                "id": f"id-{n.name}", "name": n.name, "mtu": n.mtu,
                "provider:network_type": str(n.type),
                "provider:physical_network": n.physical_network,
                "provider:segmentation_id": n.segment, "vlan_transparent": n.transparent_vlan,
            }
            for n in plan.networks
        ],
        "network /agents": [agent for host in plan.hosts for agent in _agents(plan, host)],
        "placement /resource_providers": [
            {"uuid": f"rp-{f.host}", "name": f"{f.host}.lab", "parent_provider_uuid": None}
            for f in hosts
        ],
    }  # fmt: skip
    guests = [(host, guest) for host in plan.hosts for guest in host.guests]
    found["compute /servers/detail"] = [_server(plan, host, guest) for host, guest in guests]
    found["network /ports"] = [
        _port(plan, host, guest, index)
        for host, guest in guests
        for index in range(len(guest.ports))
    ]
    for _, guest in guests:
        found[f"compute /servers/id-{guest.name}/topology"] = _topology(guest)
    for host in plan.hosts:
        for part, value in _provider(host).items():
            found[f"placement /resource_providers/rp-{host.host}/{part}"] = value
    return Replies(found)


def _hypervisor(facts: HostFacts) -> Record:
    return {
        "hypervisor_hostname": f"{facts.host}.lab", "state": "up", "status": "enabled",
        "service": {"host": facts.host, "id": "1", "disabled_reason": None},
        "cpu_info": {
            "arch": "x86_64", "model": "Cascadelake-Server", "vendor": "Intel",
            "topology": {"cells": 2, "sockets": 1, "cores": 18, "threads": 2},
            "features": list(facts.cpu_flags),
        },
        "uptime": "secret",
    }  # fmt: skip


def _images(plan: Plan) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for flavor in plan.flavors:
        found.setdefault(flavor.image, {}).update(flavor.image_properties)
    return found


def _agents(plan: Plan, host: HostPlan) -> list[Record]:
    bridges: dict[str, str] = {}
    devices: dict[str, list[str | None]] = {}
    for nic in host.nics:
        physical = plan.network(nic.network).physical_network
        if nic.use is NicUse.DPDK:
            bridges[physical] = bridge_name(physical)
        else:
            devices.setdefault(physical, []).append(nic.interface)
    return [
        {
            "agent_type": "Open vSwitch agent", "host": host.host, "alive": True,
            "configurations": {"datapath_type": "netdev", "bridge_mappings": bridges},
        },
        {
            "agent_type": "NIC Switch agent", "host": host.host, "alive": True,
            "configurations": {"device_mappings": devices},
        },
    ]  # fmt: skip


def _server(plan: Plan, host: HostPlan, guest: GuestPlan) -> Record:
    flavor = next(flavor for flavor in plan.flavors if flavor.name == guest.flavor)
    return {
        "id": f"id-{guest.name}", "name": guest.name, "status": "ACTIVE",
        "OS-EXT-SRV-ATTR:host": host.host,
        "OS-EXT-SRV-ATTR:instance_name": f"instance-{guest.name}",
        "OS-EXT-SRV-ATTR:user_data": "c2VjcmV0",
        "flavor": {
            "original_name": flavor.name, "vcpus": flavor.vcpus, "ram": flavor.memory_mib,
            "extra_specs": {key: spec.value for key, spec in flavor.specs.items()},
        },
        "metadata": {"password": "secret"},
    }  # fmt: skip


def _topology(guest: GuestPlan) -> Record:
    pages = {node.page_kib for node in guest.nodes}
    return {
        "nodes": [
            {
                "cpu_pinning": {str(vcpu): cpu for vcpu, cpu in node.pins},
                "vcpu_set": sorted([*(vcpu for vcpu, _ in node.pins), *node.floating]),
                "siblings": [], "memory_mb": node.memory_mib, "host_node": node.node,
            }
            for node in guest.nodes
        ],
        "pagesize_kb": max(pages, default=0) or None,
    }  # fmt: skip


def _port(plan: Plan, host: HostPlan, guest: GuestPlan, index: int) -> Record:
    port = guest.ports[index]
    kind = port.kind.value
    details: Record = {}
    profile: Record = {}
    if port.device:
        details = {"vlan": str(plan.network(port.network).segment or 0)}
        profile = {"pci_slot": port.device.value, "physical_network": "it"}
    elif kind is InterfaceKind.VHOST:
        details = {"vhostuser_socket": f"/var/lib/vhost_sockets/{port.name}"}
    return {
        "name": f"{guest.name}-{port.name}", "mac_address": port.mac,
        "network_id": f"id-{port.network}", "device_id": f"id-{guest.name}",
        "device_owner": "compute:nova", "status": "ACTIVE", "binding:host_id": host.host,
        "binding:vnic_type": VNIC_TYPES[kind], "binding:vif_type": vif_type(kind, host),
        "binding:vif_details": details, "binding:profile": profile,
    }  # fmt: skip


def _provider(host: HostPlan) -> dict[str, Record]:
    assert host.cores
    assert host.reserved_memory_mib
    inventories = {
        "PCPU": {"total": len(host.cores.dedicated.value), "reserved": 0},
        "VCPU": {"total": len(host.cores.shared.value), "reserved": 0},
        "MEMORY_MB": {"total": 196608, "reserved": host.reserved_memory_mib.value},
    }
    claims = {
        f"id-{guest.name}": {"resources": {"PCPU": sum(len(n.pins) for n in guest.nodes)}}
        for guest in host.guests
    }
    return {
        "inventories": {"inventories": inventories},
        "traits": {"traits": ["COMPUTE_NODE", "HW_CPU_HYPERTHREADING"]},
        "allocations": {"allocations": claims},
    }
