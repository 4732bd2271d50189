# SPDX-License-Identifier: Apache-2.0
"""Simulate libvirt's view of a host that has booted as planned. Pure.

The result is a document for inside/computes.py: nodes with CPUs and pages, and PCI devices. VFs
that a plan calls PF/vfN get an address here: the host has none yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wirespeed.model.host.facts import HostFacts, PciDevice
from wirespeed.model.plan.plan import HostPlan

SMALL_KIB = 4


def document(host: HostPlan, facts: HostFacts) -> dict[str, Any]:
    """Return the JSON of one simulated host."""
    online = [cpu for cpu in facts.cpus if cpu.online]
    return {
        "host": host.host,
        "flags": list(facts.cpu_flags),
        "threads": max(len(cpu.siblings) for cpu in online),
        "nodes": [
            {
                "id": node.id,
                "memory_kib": node.memory_kib,
                "pages": _pages(host, node.id, node.memory_kib),
                "cpus": [
                    {"id": cpu.id, "socket": cpu.package, "core": cpu.core,
                     "siblings": list(cpu.siblings)}
                    for cpu in online if cpu.node == node.id
                ],
            }
            for node in facts.nodes
        ],
        "devices": _devices(host, facts),
    }  # fmt: skip


def address_of(planned: str, devices: Sequence[Mapping[str, Any]]) -> str:
    """Return the PCI address of a planned device: itself, or that of VF N for "PF/vfN"."""
    parent, slash, number = planned.partition("/vf")
    return vfs(parent, devices)[int(number)] if slash else planned


def vfs(parent: str, devices: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted(str(d["address"]) for d in devices if d["parent"] == parent)


def _pages(host: HostPlan, node: int, memory_kib: int) -> list[list[int]]:
    huge = [(p.size_kib, p.count) for p in host.huge_pages.value if p.node == node]
    small = (memory_kib - sum(size * count for size, count in huge)) // SMALL_KIB
    return [[SMALL_KIB, small], *([size, count] for size, count in huge)]


def _devices(host: HostPlan, facts: HostFacts) -> list[dict[str, Any]]:
    wanted = {nic.address: nic.vfs.value for nic in host.nics}
    found = [_device(d, d.physical_function) for d in facts.pci]
    for pf in facts.pci:
        count = wanted.get(pf.address, 0)
        existing = [d for d in facts.pci if d.physical_function == pf.address]
        product = existing[0].device if existing else "154c"
        for number in range(len(existing), count):
            address = _made(pf.address, sorted(d.address for d in existing), number)
            vf = PciDevice(address, pf.vendor, product, node=pf.node)
            found.append(_device(vf, pf.address))
    parents = {d["parent"] for d in found}
    for device in found:
        if device["address"] in parents:
            device["type"] = "PF"
    return found


def _device(device: PciDevice, parent: str | None) -> dict[str, Any]:
    kind = "VF" if parent else "PF" if device.sriov_total else "PCI"
    return {
        "address": device.address,
        "type": kind,
        "vendor": device.vendor,
        "product": device.device,
        "node": device.node,
        "parent": parent,
    }


def _made(parent: str, existing: Sequence[str], number: int) -> str:
    """Return the address of VF `number`: spaced as existing VFs are, else eight to a slot."""
    bus, function = parent.rsplit(":", 1)[0], int(parent[-1], 16)
    first, stride = 8 * (2 + 8 * (function % 3)), 1
    if existing:
        first = _within_bus(existing[0])
        stride = _within_bus(existing[1]) - first if len(existing) > 1 else 1
    place = first + stride * number
    return f"{bus}:{place >> 3:02x}.{place & 7}"


def _within_bus(address: str) -> int:
    slot, function = address.rsplit(":", 1)[1].split(".")
    return int(slot, 16) << 3 | int(function, 16)
