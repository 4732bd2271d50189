# SPDX-License-Identifier: Apache-2.0
"""Render OpenStack resources: flavors, aggregates, networks, ports, servers, service settings.

openstack/create.sh and openstack/stack.yaml create the same servers: use one of them.
openstack/delete.sh removes the resources of create.sh.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.model.plan.plan import GuestPlan, HostPlan, NicPlan, Plan
from wirespeed.model.plan.policy import GroupPolicy, InterfaceKind, NetworkType, NicUse
from wirespeed.model.plan.workload import Aggregate, PciAlias
from wirespeed.plan.host.nics import matches
from wirespeed.plan.render.heat import check_names, flavor_name, host_aggregates, stack_flavors
from wirespeed.plan.render.interface import Files, RenderError, fill
from wirespeed.plan.render.ovs import bridge_name

# Nova's default filters and those that these plans need; the last three are off by default (S1).
FILTERS = (
    "ComputeFilter", "ComputeCapabilitiesFilter", "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter", "ServerGroupAffinityFilter",
    "AggregateInstanceExtraSpecsFilter", "NUMATopologyFilter", "PciPassthroughFilter",
)  # fmt: skip

# Neutron's vnic type of each interface kind.
VNIC_TYPES = {
    InterfaceKind.VHOST: "normal",
    InterfaceKind.VIRTIO: "normal",
    InterfaceKind.SRIOV: "direct",
    InterfaceKind.MACVTAP: "macvtap",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A guest and its host."""

    guest: GuestPlan
    host: str
    image: str
    group: str | None
    """Its server group; None without one."""


def render(plan: Plan) -> Files:
    """Return create.sh, stack.yaml, and the service files of controllers and compute hosts."""
    check_names(plan)
    servers = ordered_servers(plan)
    vnics = {port.mac: VNIC_TYPES[port.kind.value] for s in servers for port in s.guest.ports}
    own = [network for network in plan.networks if network.cidr]
    used = {port.network for s in servers for port in s.guest.ports}
    shared = {
        "own_networks": own, "found_networks": sorted(used - {network.name for network in own}),
        "plan": plan, "servers": servers, "vnics": vnics,
        "aggregates": _aggregates(plan, plan.aggregates), "NetworkType": NetworkType,
        "group_numbers": {group.name: n for n, group in enumerate(plan.groups, 1)},
        "ports": [f"{s.guest.name}-{port.name}" for s in servers for port in s.guest.ports],
    }  # fmt: skip
    files: dict[str, str] = {
        "openstack/create.sh": fill("create.sh.j2", **shared),
        "openstack/delete.sh": fill("delete.sh.j2", **shared),
        "openstack/stack.yaml": fill("stack.yaml.j2", **{
            **shared, "flavors": stack_flavors(plan), "flavor_name": flavor_name,
            "aggregates": _aggregates(plan, (*plan.aggregates, *host_aggregates(plan))),
        }),
        "openstack/controller/nova.conf": fill(
            "nova_scheduler.conf.j2", filters=FILTERS, aliases=_aliases(plan)
        ),
        "openstack/controller/ml2_conf.ini": fill(
            "ml2_conf.ini.j2", plan=plan, ranges=_vlan_ranges(plan),
            flat=_flat_networks(plan), mtus=_mtus(plan), drivers=_mechanism_drivers(plan),
            transparent=[n.name for n in plan.networks if n.transparent_vlan],
        ),
    }  # fmt: skip
    for host in plan.hosts:
        files |= _host_files(plan, host)
    return files


def ordered_servers(plan: Plan) -> list[Server]:
    """Return the servers in the order in which Nova must place them."""
    found = {guest.name: (guest, host.host) for host in plan.hosts for guest in host.guests}
    images = {flavor.name: flavor.image for flavor in plan.flavors}
    groups: dict[str, str] = {}
    for group in plan.groups:
        for member in group.members:
            # A server can be in one group only. Anti-affinity comes first, because the host in the
            # request ensures affinity.
            if group.policy is GroupPolicy.ANTI_AFFINITY or member not in groups:
                groups[member] = group.name
    return [
        Server(guest, host, images[guest.flavor], groups.get(guest.flavor))
        for guest, host in (found[name] for name in plan.order)
    ]


def host_nova_conf(plan: Plan, host: HostPlan) -> str:
    """Return the fragment of nova.conf for a compute host."""
    return fill(
        "nova_compute.conf.j2", host=host, specs=device_specs(plan, host), aliases=_aliases(plan),
        dpdk_pages=_dpdk_pages(host), near=_network_nodes(plan, host),
    )  # fmt: skip


def device_specs(plan: Plan, host: HostPlan) -> list[str]:
    """Return [pci]device_spec: the VFs of each SR-IOV port, and the devices of each alias."""
    specs = []
    for nic in host.nics:
        if nic.use is NicUse.SRIOV:
            physical = plan.network(nic.network).physical_network
            specs.append({"address": nic.address, "physical_network": physical})
    # A PF in the list includes its VFs; guests never request the PF itself.
    specs += [{"vendor_id": a.vendor, "product_id": a.product} for a in plan.aliases]
    return [json.dumps(spec) for spec in specs]


def _host_files(plan: Plan, host: HostPlan) -> Mapping[str, str]:
    base = f"openstack/{host.host}"
    files = {f"{base}/nova.conf": host_nova_conf(plan, host)}
    if host.vswitch:
        dpdk = [nic for nic in host.nics if nic.use is NicUse.DPDK]
        physical = {plan.network(nic.network).physical_network for nic in dpdk}
        mappings = [f"{name}:{bridge_name(name)}" for name in sorted(physical)]
        files[f"{base}/openvswitch_agent.ini"] = fill("ovs_agent.ini.j2", mappings=mappings)
    sriov = [nic for nic in host.nics if nic.use is NicUse.SRIOV and nic.interface]
    if sriov:
        files[f"{base}/sriov_agent.ini"] = fill(
            "sriov_agent.ini.j2", mappings=_device_mappings(plan, sriov)
        )
    return files


def _device_mappings(plan: Plan, nics: list[NicPlan]) -> list[str]:
    return [f"{plan.network(nic.network).physical_network}:{nic.interface}" for nic in nics]


def _aliases(plan: Plan) -> list[str]:
    return [json.dumps(_alias(alias)) for alias in plan.aliases]


def _alias(alias: PciAlias) -> dict[str, str]:
    return {
        "name": alias.name,
        "vendor_id": alias.vendor,
        "product_id": alias.product,
        "device_type": alias.type,
    }


def _dpdk_pages(host: HostPlan) -> list[tuple[int, int, int]]:
    """Return node, page size and count of DPDK's huge pages, which Nova must not count."""
    if host.vswitch is None or not host.huge_pages.value:
        return []
    size = max(page.size_kib for page in host.huge_pages.value)
    nodes = sorted({page.node for page in host.huge_pages.value})
    memory = host.vswitch.socket_memory_mib.value
    if len(memory) != len(nodes):
        raise RenderError(
            f"{host.host}: vswitch.socket_memory_mib has {len(memory)} values for {len(nodes)} "
            "nodes with huge pages",
            "Make the plan again, or correct the list.",
        )
    return [
        (node, size, -(-mib * 1024 // size)) for node, mib in zip(nodes, memory, strict=True) if mib
    ]


def _network_nodes(plan: Plan, host: HostPlan) -> dict[str, list[int]]:
    """Return the nodes of each physical network's DPDK ports.

    Nova keeps the network's guests on these nodes.
    """
    nodes: dict[str, set[int]] = {}
    for nic in host.nics:
        if nic.use is NicUse.DPDK and nic.node is not None:
            nodes.setdefault(plan.network(nic.network).physical_network, set()).add(nic.node)
    return {name: sorted(found) for name, found in sorted(nodes.items())}


def _aggregates(
    plan: Plan, aggregates: Sequence[Aggregate]
) -> list[tuple[str, dict[str, str], list[str]]]:
    """Return name, metadata and hosts of each aggregate."""
    return [
        (a.name, dict(a.metadata), [h.host for h in plan.hosts if matches(h.host, a.hosts)])
        for a in aggregates
    ]


def _vlan_ranges(plan: Plan) -> list[str]:
    ranges = [
        f"{n.physical_network}:{n.segment}:{n.segment}"
        for n in plan.networks
        if n.type is NetworkType.VLAN
    ]
    return sorted(ranges)


def _flat_networks(plan: Plan) -> list[str]:
    return sorted(n.physical_network for n in plan.networks if n.type is NetworkType.FLAT)


def _mtus(plan: Plan) -> dict[str, int]:
    """Return the largest MTU of each physical network."""
    largest: dict[str, int] = {}
    for network in plan.networks:
        name = network.physical_network
        largest[name] = max(network.mtu, largest.get(name, 0))
    return dict(sorted(largest.items()))


def _mechanism_drivers(plan: Plan) -> list[str]:
    """Return the mechanism drivers that the hosts' agents need.

    Open vSwitch's driver forbids VLAN-transparent networks.
    """
    uses = {nic.use for host in plan.hosts for nic in host.nics}
    switched = NicUse.DPDK in uses or any(host.vswitch for host in plan.hosts)
    drivers = ["openvswitch"] if switched or NicUse.SRIOV not in uses else []
    return [*drivers, "sriovnicswitch"] if NicUse.SRIOV in uses else drivers
