# SPDX-License-Identifier: Apache-2.0
"""Assign PCI pools to a guest's device requests, given the NUMA nodes of the guest.

The semantics are those of Nova's PciDeviceStats (nova/pci/stats.py, release 34): requests are
served in order, each from the first pools that match it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from wirespeed.model.plan.policy import PciNumaPolicy
from wirespeed.plan.placement.host import HostShape, PoolShape
from wirespeed.plan.placement.request import DeviceRequest

Taken = tuple[tuple[int, int], ...]


def take_devices(
    shape: HostShape,
    free: Sequence[int],
    requests: Sequence[DeviceRequest],
    nodes: Collection[int] | None,
) -> tuple[Taken, ...] | None:
    """Return the (pool index, count) pairs that serve each request; None if one is not served.

    nodes: IDs of the guest's host nodes; None: the guest floats, so any pool is near enough.
    """
    left = list(free)
    served: list[Taken] = []
    for request in requests:
        pools = usable_pools(shape, left, request, nodes)
        need = request.count
        if sum(left[i] for i in pools) < need:
            return None
        taken: list[tuple[int, int]] = []
        for index in pools:
            amount = min(need, left[index])
            left[index] -= amount
            need -= amount
            taken.append((index, amount))
            if not need:
                break
        served.append(tuple(taken))
    return tuple(served)


def usable_pools(
    shape: HostShape, left: Sequence[int], request: DeviceRequest, nodes: Collection[int] | None
) -> list[int]:
    """Return the indexes of the pools that the request may use, in the order of use."""
    wanted = request.match
    pools = shape.pools
    matching = [
        i for i, count in enumerate(left) if count and all(kv in pools[i].keys for kv in wanted)
    ]
    if nodes is not None:
        matching = _with_affinity(shape, left, matching, request, nodes)
    return matching if request.wants_pf else [i for i in matching if not pools[i].is_pf]


def _with_affinity(
    shape: HostShape,
    left: Sequence[int],
    matching: list[int],
    request: DeviceRequest,
    nodes: Collection[int],
) -> list[int]:
    """Return the pools that the NUMA policy allows; the strictest sufficient level is used."""
    pools = shape.pools
    local = [i for i in matching if pools[i].node in nodes]
    policy = request.policy
    if policy is PciNumaPolicy.REQUIRED or sum(left[i] for i in local) >= request.count:
        return local
    if policy is PciNumaPolicy.SOCKET:
        return _same_socket(shape, matching, nodes)
    near = [i for i in matching if pools[i].node is None or pools[i].node in nodes]
    if policy is PciNumaPolicy.LEGACY or sum(left[i] for i in near) >= request.count:
        return near
    return sorted(matching, key=lambda i: not _near(pools[i], nodes))


def _near(pool: PoolShape, nodes: Collection[int]) -> bool:
    return pool.node is None or pool.node in nodes


def _same_socket(shape: HostShape, matching: list[int], nodes: Collection[int]) -> list[int]:
    if any(cell.socket is None for cell in shape.cells):
        return []
    sockets = {cell.socket for cell in shape.cells if cell.id in nodes}
    allowed = {cell.id for cell in shape.cells if cell.socket in sockets}
    return [i for i in matching if shape.pools[i].node in allowed]
