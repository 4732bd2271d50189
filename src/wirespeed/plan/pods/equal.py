# SPDX-License-Identifier: Apache-2.0
"""Tell in what two nodes differ that cannot share one profile."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.cpuset import format_list
from wirespeed.model.words import counted
from wirespeed.plan.host.kernel import is_amd
from wirespeed.plan.host.nics import offered_vfs
from wirespeed.plan.kubelet.machine import Machine, machine_of
from wirespeed.plan.pods.node import Node
from wirespeed.plan.sizing.huge_pages import understands_node_counts


def differences(one: Node, other: Node) -> Iterator[str]:
    """Yield in what two nodes differ that one profile sets for both, in words."""
    for what, left, right in (
        ("reserved CPUs", format_list(one.reserved_cpus), format_list(other.reserved_cpus)),
        ("NUMA nodes and their memory", _memory(one), _memory(other)),
        ("ports of networks", _ports(one), _ports(other)),
        ("CPU vendor", _vendor(one), _vendor(other)),
        ("hugepages= of the kernel", _pages(one), _pages(other)),
    ):
        if left != right:
            yield f"{what}: {left} and {right}"
    if found := _cpu_difference(machine_of(one.facts), machine_of(other.facts)):
        yield found


def _cpu_difference(one: Machine, other: Machine) -> str | None:
    """Return the first of these that differs: number of CPUs, of cores, of sockets; one CPU."""
    if one.cpus == other.cpus:
        return None
    left, right = _counts(one), _counts(other)
    if left != right:
        return f"CPUs: {left} and {right}"
    cpu = next(c for c in sorted(one.cpus) if one.cpus[c] != other.cpus.get(c))
    return f"CPU {cpu}: {_place(one, cpu)} and {_place(other, cpu)}"


def _counts(machine: Machine) -> str:
    cores = len(machine.by_core)
    return f"{len(machine.cpus)} on {cores} cores of {counted(machine.sockets, 'socket')}"


def _place(machine: Machine, cpu: int) -> str:
    if cpu not in machine.cpus:
        return "none"
    place = machine.cpus[cpu]
    siblings = format_list(machine.by_core[place.core])
    cache = format_list(machine.by_cache[place.cache])
    return (
        f"core of CPUs {siblings} on NUMA node {place.node}, socket {place.socket}, cache of CPUs "
        f"{cache}"
    )


def _memory(node: Node) -> str:
    # Firmware takes some MiB, so equal servers differ by them.
    sizes = (f"{round(n.memory_kib / 2**20)} GiB on node {n.id}" for n in node.facts.nodes)
    return ", ".join(sizes)


def _ports(node: Node) -> str:
    """Return what a policy of VFs names: address, vendor, number of VFs; and the NUMA node."""
    host = node.facts.host
    ports = (
        f"{n.device.address} of vendor {n.device.vendor} with "
        f"{counted(offered_vfs(host, n), 'VF')} on node {n.device.node}"
        for n in node.nics
    )
    return ", ".join(ports) or "none"


def _vendor(node: Node) -> str:
    # The kernel's words differ by it.
    return "AMD" if is_amd(node.facts) else "not AMD"


def _pages(node: Node) -> str:
    by_node = understands_node_counts(node.facts.kernel.release)
    return "a number a NUMA node" if by_node else f"one number (kernel {node.facts.kernel.release})"
