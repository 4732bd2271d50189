# SPDX-License-Identifier: Apache-2.0
"""Translate a VNF into its request to a host, as Nova reads flavor, image and ports.

Source: nova.virt.hardware.numa_get_constraints, release 34.
"""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.model.plan.policy import (
    CpuPolicy,
    EmulatorPolicy,
    InterfaceKind,
    NicUse,
    PciNumaPolicy,
    ThreadPolicy,
)
from wirespeed.model.plan.workload import PciAlias, Vnf, Workload
from wirespeed.plan.nova.features import (
    HYPERTHREADING,
    aggregate_label,
    feature_label,
    network_label,
)
from wirespeed.plan.placement.request import (
    PAGE_NONE,
    PAGE_WORDS,
    CellRequest,
    DeviceRequest,
    GuestRequest,
)

# Nova's computes avoid devices from this release on. The scheduler did before, but the claim
# decides.
_AVOID_DEVICES = 34


def guest_request(
    vnf: Vnf,
    workload: Workload,
    kinds: Mapping[str, InterfaceKind],
    switch_hz: float = 0.0,
) -> GuestRequest:
    """Return the request of each guest of `vnf`. kinds: interface kind by port name."""
    policy = vnf.thread_policy
    forbidden = set()
    if policy in (ThreadPolicy.ISOLATE, ThreadPolicy.AVOID):
        # Nova's scheduler turns isolate into this forbidden trait.
        forbidden.add(HYPERTHREADING)
    labels = {feature_label(feature) for feature in vnf.cpu_features}
    networks = switched_networks(vnf, workload, kinds)
    labels |= {network_label(name) for name in networks}
    if vnf.aggregate:
        labels.add(aggregate_label(vnf.aggregate))
    return GuestRequest(
        name=vnf.name,
        cells=guest_cells(vnf),
        page=page_request(vnf.page_size),
        cpu_policy=vnf.cpu_policy,
        thread_policy=policy,
        isolate_emulator=vnf.emulator_policy is EmulatorPolicy.ISOLATE,
        has_topology=has_topology(vnf),
        devices=device_requests(vnf, workload, kinds),
        networks=networks,
        labels=frozenset(labels),
        forbidden_labels=frozenset(forbidden),
        switch_hz=switch_hz,
        avoids_devices=workload.placement.nova_release >= _AVOID_DEVICES,
    )


def has_topology(vnf: Vnf) -> bool:
    """Return whether Nova gives the guest a NUMA topology.

    Without one it checks neither nodes nor pages.
    """
    pinned = vnf.cpu_policy in (CpuPolicy.DEDICATED, CpuPolicy.MIXED)
    return bool(vnf.numa_nodes or vnf.page_size or pinned)


def guest_cells(vnf: Vnf) -> tuple[CellRequest, ...]:
    """Return the guest's NUMA nodes, as written or with vCPUs and memory split evenly."""
    nodes = vnf.numa_nodes or 1
    if vnf.numa_cpus:
        cpus = [set(node) for node in vnf.numa_cpus]
        memory = list(vnf.numa_memory_mib)
    else:
        each = vnf.vcpus // nodes
        cpus = [set(range(node * each, (node + 1) * each)) for node in range(nodes)]
        memory = [vnf.memory_mib // nodes] * nodes
    pinned = pinned_vcpus(vnf)
    return tuple(
        CellRequest(tuple(sorted(cell - pinned)), tuple(sorted(cell & pinned)), mib)
        for cell, mib in zip(cpus, memory, strict=True)
    )


def pinned_vcpus(vnf: Vnf) -> set[int]:
    if vnf.cpu_policy is CpuPolicy.DEDICATED:
        return set(range(vnf.vcpus))
    return set(vnf.dedicated_cpus) if vnf.cpu_policy is CpuPolicy.MIXED else set()


def page_request(page_size: str | None) -> int:
    """Return the requested page size in KiB, or a symbol for small, large, any."""
    if page_size is None:
        return PAGE_NONE
    return PAGE_WORDS[page_size] if page_size in PAGE_WORDS else int(page_size)


def device_requests(
    vnf: Vnf, workload: Workload, kinds: Mapping[str, InterfaceKind]
) -> tuple[DeviceRequest, ...]:
    """Return aliases, then one VF per SR-IOV port, as Nova's InstancePCIRequests."""
    policy = vnf.pci_numa_policy or PciNumaPolicy.LEGACY
    wanted = [
        DeviceRequest(d.alias, alias_match(workload.alias(d.alias)), d.count, policy)
        for d in vnf.devices
    ]
    for port in vnf.ports:
        if kinds[port.name].takes_vf:
            physical = workload.network(port.network).physical_network
            match = (("physical_network", physical.lower()),)
            wanted.append(DeviceRequest(port.name, match, 1, policy))
    return tuple(wanted)


def alias_match(alias: PciAlias) -> tuple[tuple[str, str], ...]:
    return (
        ("vendor_id", alias.vendor.lower()),
        ("product_id", alias.product.lower()),
        ("dev_type", alias.type),
    )


def switched_networks(
    vnf: Vnf, workload: Workload, kinds: Mapping[str, InterfaceKind]
) -> tuple[str, ...]:
    """Return the physical networks whose NICs must be on the guest's NUMA nodes.

    These are the networks of vSwitch ports. Nova applies [neutron_physnet_NAME]numa_nodes to any
    port type, including virtio. A network without a NIC is inside the vSwitch and has no node.
    """
    with_nics = {nic.network for nic in workload.nics if nic.use is NicUse.DPDK}
    names = {
        workload.network(port.network).physical_network
        for port in vnf.ports
        if not kinds[port.name].takes_vf and port.network in with_nics
    }
    return tuple(sorted(names))
