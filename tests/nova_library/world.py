# SPDX-License-Identifier: Apache-2.0
"""Translate the planner's hosts and guests into Nova's own objects."""

from __future__ import annotations

import logging
from itertools import permutations

import nova.conf
from nova import exception, objects
from nova.objects import pci_device_pool
from nova.pci import stats
from nova.virt import hardware

from wirespeed.model.plan.workload import Vnf, Workload
from wirespeed.plan.nova.flavors import extra_specs
from wirespeed.plan.placement.host import Fit, HostShape, HostUse
from wirespeed.plan.placement.request import GuestRequest

logging.disable(logging.CRITICAL)
nova.conf.CONF([], default_config_files=[])
objects.register_all()


def cpus(mask: int) -> set[int]:
    return {bit for bit in range(mask.bit_length()) if mask >> bit & 1}


def host_topology(shape: HostShape, use: HostUse) -> objects.NUMATopology:
    """Return the host as Nova's resource tracker has it."""
    cells = []
    everything = {cpu for cell in shape.cells for core in cell.cores for cpu in cpus(core)}
    for cell, used in zip(shape.cells, use.cells, strict=True):
        pages = [
            objects.NUMAPagesTopology(size_kb=size, total=total, used=total - free, reserved=0)
            for size, total, free in zip(
                cell.page_sizes, cell.page_totals, used.pages_free, strict=True
            )
        ]
        made = objects.NUMACell(
            id=cell.id,
            cpuset=cpus(cell.floating),
            pcpuset=cpus(cell.pinning),
            memory=cell.memory_mib,
            cpu_usage=used.cpus_used,
            memory_usage=used.memory_used_mib,
            pinned_cpus=cpus(cell.pinning & ~used.free),
            # A set of a set would copy its table.
            siblings=[set(tuple(cpus(core))) & everything for core in cell.cores],  # noqa: C414
            mempages=pages,
            socket=cell.socket,
        )
        near = {name for name, nodes in shape.network_nodes if cell.id in nodes}
        made.network_metadata = objects.NetworkMetadata(physnets=near, tunneled=False)
        cells.append(made)
    # The scheduler reads what the compute wrote, which may swap threads of a core.
    return objects.NUMATopology.obj_from_db_obj(objects.NUMATopology(cells=cells)._to_json())


def pci_stats(
    shape: HostShape, use: HostUse, topology: objects.NUMATopology
) -> stats.PciDeviceStats:
    pools = []
    for pool, count in zip(shape.pools, use.devices_free, strict=True):
        if not count:
            continue
        tags = dict(pool.keys)
        pools.append(
            objects.PciDevicePool(
                vendor_id=tags.pop("vendor_id"),
                product_id=tags.pop("product_id"),
                numa_node=pool.node,
                count=count,
                tags={**tags, "address": pool.address},
            )
        )
    return stats.PciDeviceStats(topology, pci_device_pool.PciDevicePoolList(objects=pools))


def flavor(vnf: Vnf, workload: Workload) -> objects.Flavor:
    return objects.Flavor(
        name=vnf.name, vcpus=vnf.vcpus, memory_mb=vnf.memory_mib, root_gb=0, ephemeral_gb=0,
        swap=0, extra_specs=extra_specs(vnf, workload),
    )  # fmt: skip


def image(vnf: Vnf) -> objects.ImageMeta:
    return objects.ImageMeta.from_dict(
        {"name": vnf.image, "properties": dict(vnf.image_properties)}
    )


def pci_requests(guest: GuestRequest) -> list[objects.InstancePCIRequest]:
    return [
        objects.InstancePCIRequest(
            count=request.count,
            spec=[dict(request.match)],
            request_id=f"00000000-0000-0000-0000-{index:012d}",
            numa_policy=str(request.policy),
        )
        for index, request in enumerate(guest.devices)
    ]


def limits(shape: HostShape, guest: GuestRequest) -> objects.NUMATopologyLimits:
    return objects.NUMATopologyLimits(
        cpu_allocation_ratio=shape.cpu_ratio,
        ram_allocation_ratio=shape.ram_ratio,
        network_metadata=objects.NetworkMetadata(physnets=set(guest.networks), tunneled=False),
    )


def nova_fit(
    shape: HostShape, use: HostUse, guest: GuestRequest, wanted: objects.InstanceNUMATopology
) -> objects.InstanceNUMATopology | None:
    """Return Nova's own decision when its compute claims the guest."""
    topology = host_topology(shape, use)
    # Up to release 33 the claim considers devices only if some are requested.
    looks = guest.devices or guest.avoids_devices
    return hardware.numa_fit_instance_to_host(
        topology,
        wanted.obj_clone(),
        provider_mapping={},
        limits=limits(shape, guest),
        pci_requests=pci_requests(guest),
        pci_stats=pci_stats(shape, use, topology) if looks else None,
    )


def nova_fit_fresh(
    shape: HostShape, use: HostUse, guest: GuestRequest, wanted: objects.InstanceNUMATopology
) -> bool:
    """Return Nova's decision with an untouched request for each arrangement of cells.

    numa_fit_instance_to_host changes the request while it searches: cell IDs that key its caches,
    and the chosen page size. A later arrangement is then judged by leftovers of an earlier one.
    """
    topology = host_topology(shape, use)
    bounds = limits(shape, guest)
    requests = pci_requests(guest)
    pools = pci_stats(shape, use, topology)
    for hosts in permutations(topology.cells, len(wanted.cells)):
        fitted = []
        for position, (host_cell, cell) in enumerate(zip(hosts, wanted.cells, strict=True)):
            reserve = int(wanted.emulator_threads_isolated and position == 0)
            try:
                one = hardware._numa_fit_instance_cell(host_cell, cell.obj_clone(), bounds, reserve)
            except exception.MemoryPageSizeNotSupported:
                one = None
            if one is None:
                break
            fitted.append(one)
        if len(fitted) < len(hosts):
            continue
        if requests and not pools.support_requests(requests, {}, fitted):
            continue
        if hardware._numa_cells_support_network_metadata(
            topology, list(hosts), bounds.network_metadata
        ):
            return True
    return False


def pinned_topology(
    shape: HostShape, guest: GuestRequest, place: Fit, wanted: objects.InstanceNUMATopology
) -> objects.InstanceNUMATopology:
    """Return our placement as Nova's object."""
    made = wanted.obj_clone()
    for cell, need, found in zip(made.cells, guest.cells, place.cells, strict=True):
        cell.id = shape.cells[found.cell].id
        if found.page_kib:
            cell.pagesize = found.page_kib
        cell.pin_vcpus(*zip(need.pinned, found.pins, strict=bool(guest.pins)))
        cell.cpuset_reserved = cpus(found.reserved) or None
    return made
