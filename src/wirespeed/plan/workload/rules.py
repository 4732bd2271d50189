# SPDX-License-Identifier: Apache-2.0
"""Check that the settings of a workload agree with each other.

Each rule yields errors with keys in the file's spelling. Settings that the plan must treat
differently give a warning (`finish`), so that none is ignored silently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from wirespeed.model.cpuset import format_list
from wirespeed.model.input.fault import ABSENT, Fault
from wirespeed.model.plan.policy import (
    CpuPolicy,
    EmulatorPolicy,
    GroupPolicy,
    InterfaceKind,
    NetworkType,
    NicUse,
    Pattern,
    ThreadPolicy,
)
from wirespeed.model.plan.workload import Vnf, VnfPort, Workload
from wirespeed.model.units import mtu_for
from wirespeed.plan.nova.image_properties import is_planned
from wirespeed.plan.nova.release_rules import refused_by_nova
from wirespeed.plan.workload.pod_rules import broken_pod_rules

_DERIVED_CPU_SETS = {"isolcpus", "nohz_full", "rcu_nocbs"}


def broken_rules(workload: Workload) -> list[Fault]:
    """Return every contradiction of the workload."""
    faults = list(_names(workload))
    faults += _references(workload)
    for vnf in workload.vnfs:
        where = f"vnf[{vnf.name}]"
        faults += _cpu_rules(vnf, where)
        faults += _numa_rules(vnf, where)
        for port in vnf.ports:
            faults += _port_rules(port, vnf, workload, f"{where}.port[{port.name}]")
    faults += _network_rules(workload)
    faults += _group_rules(workload)
    faults += _kernel_rules(workload)
    faults += broken_pod_rules(workload)
    return faults or list(refused_by_nova(workload))


def finish(workload: Workload) -> Workload:
    """Fill in values that follow from other keys, and warn of settings that the plan changes."""
    warnings: list[str] = []
    vnfs = []
    for written in workload.vnfs:
        vnf = written
        if vnf.numa_cpus and not vnf.numa_nodes:
            vnf = replace(vnf, numa_nodes=len(vnf.numa_cpus))
            warnings.append(
                f"vnf {vnf.name}: numa_nodes = {vnf.numa_nodes} added; without it Nova ignores "
                "hw:numa_cpus and the guest floats (S1's own example lacks it)"
            )
        if vnf.thread_policy is ThreadPolicy.SEPARATE:
            warnings.append(
                f'vnf {vnf.name}: "separate" never shipped in Nova; the plan gives every vCPU a '
                "core of its own, the flavor says prefer, which Nova may meet with siblings"
            )
        if vnf.thread_policy is ThreadPolicy.AVOID:
            warnings.append(
                f'vnf {vnf.name}: "avoid" never shipped in Nova; hosts with SMT are ruled out by '
                "the forbidden trait HW_CPU_HYPERTHREADING"
            )
        if vnf.multiqueue and vnf.vcpus < 2:
            warnings.append(f"vnf {vnf.name}: Nova ignores multiqueue on a guest with one vCPU")
        passed_on = [key for key in vnf.image_properties if not is_planned(key)]
        if passed_on:
            warnings.append(
                f"vnf {vnf.name}: {', '.join(passed_on)} go to the image as they are; placement "
                "and libvirt's files do not depend on them"
            )
        vnfs.append(vnf)
    return replace(workload, vnfs=tuple(vnfs), warnings=tuple(warnings))


def _names(workload: Workload) -> Iterator[Fault]:
    for kind, names in (
        ("vnf", [v.name for v in workload.vnfs]),
        ("network", [n.name for n in workload.networks]),
        ("alias", [a.name for a in workload.aliases]),
        ("chain", [c.name for c in workload.chains]),
        ("group", [g.name for g in workload.groups]),
        ("aggregate", [a.name for a in workload.aggregates]),
        ("pool", [p.name for p in workload.pools]),
        *((f"vnf[{v.name}].port", [p.name for p in v.ports]) for v in workload.vnfs),
    ):
        for name, times in Counter(names).items():
            if times > 1:
                yield Fault(f"{kind}.name", name, f"is used {times} times; must be unique")
    if not workload.vnfs:
        yield Fault("vnf", ABSENT, "at least one [[vnf]] is required")


def _references(workload: Workload) -> Iterator[Fault]:
    networks = [n.name for n in workload.networks]
    vnfs = [v.name for v in workload.vnfs]
    for nic in workload.nics:
        yield from _known(f"nic[{nic.network}].network", nic.network, networks, "network")
        if not nic.ports:
            yield Fault(f"nic[{nic.network}].ports", [], "must name a PCI address or interface")
    for chain in workload.chains:
        for member in chain.order:
            yield from _known(f"chain[{chain.name}].order", member, vnfs, "vnf")
    for group in workload.groups:
        for member in group.members:
            yield from _known(f"group[{group.name}].members", member, vnfs, "vnf")
    for vnf in workload.vnfs:
        where = f"vnf[{vnf.name}]"
        for device in vnf.devices:
            aliases = [a.name for a in workload.aliases]
            yield from _known(f"{where}.device.alias", device.alias, aliases, "alias")
        for port in vnf.ports:
            yield from _known(
                f"{where}.port[{port.name}].network", port.network, networks, "network"
            )
        if vnf.aggregate:
            aggregates = [a.name for a in workload.aggregates]
            yield from _known(f"{where}.aggregate", vnf.aggregate, aggregates, "aggregate")


def _known(key: str, name: str, names: Iterable[str], kind: str) -> Iterator[Fault]:
    names = list(names)
    if name not in names:
        listed = ", ".join(names) or "none"
        yield Fault(key, name, f"there is no such [[{kind}]]; there are: {listed}")


def _cpu_rules(vnf: Vnf, where: str) -> Iterator[Fault]:
    pinned = vnf.cpu_policy in (CpuPolicy.DEDICATED, CpuPolicy.MIXED)
    if vnf.thread_policy and not pinned:
        yield Fault(
            f"{where}.thread_policy", vnf.thread_policy,
            'needs cpu_policy = "dedicated" or "mixed"; floating vCPUs have no threads',
        )  # fmt: skip
    if vnf.emulator_policy is EmulatorPolicy.ISOLATE and not pinned:
        yield Fault(
            f"{where}.emulator_policy", "isolate", 'needs cpu_policy = "dedicated" or "mixed"'
        )
    if vnf.cpu_policy is CpuPolicy.MIXED:
        inside = set(vnf.dedicated_cpus) < set(range(vnf.vcpus))
        if not vnf.dedicated_cpus or not inside:
            yield Fault(
                f"{where}.dedicated_cpus", format_list(vnf.dedicated_cpus),
                f'cpu_policy = "mixed" pins some of the vCPUs 0-{vnf.vcpus - 1}, not none or all',
            )  # fmt: skip
    elif vnf.dedicated_cpus:
        yield Fault(
            f"{where}.dedicated_cpus", format_list(vnf.dedicated_cpus),
            'goes with cpu_policy = "mixed" only',
        )  # fmt: skip


def _numa_rules(vnf: Vnf, where: str) -> Iterator[Fault]:
    nodes = vnf.numa_nodes
    if bool(vnf.numa_cpus) != bool(vnf.numa_memory_mib):
        yield Fault(f"{where}.numa_cpus", ABSENT, "must come together with numa_memory_mib")
        return
    if not vnf.numa_cpus:
        for key, value in (("vcpus", vnf.vcpus), ("memory_mib", vnf.memory_mib)):
            if nodes and value % nodes:
                yield Fault(
                    f"{where}.{key}", value,
                    f"cannot be split evenly over numa_nodes = {nodes}; say numa_cpus and "
                    "numa_memory_mib",
                )  # fmt: skip
        return
    for key, size in (("numa_cpus", vnf.numa_cpus), ("numa_memory_mib", vnf.numa_memory_mib)):
        if len(size) != (nodes or len(vnf.numa_cpus)):
            yield Fault(f"{where}.{key}", size, "must have one for each node")
    listed = sorted(cpu for cpus in vnf.numa_cpus for cpu in cpus)
    if listed != list(range(vnf.vcpus)):
        yield Fault(
            f"{where}.numa_cpus", format_list(listed),
            f"must name each of the vCPUs 0-{vnf.vcpus - 1} once",
        )  # fmt: skip
    if sum(vnf.numa_memory_mib) != vnf.memory_mib:
        yield Fault(
            f"{where}.numa_memory_mib", sum(vnf.numa_memory_mib),
            f"must add up to memory_mib = {vnf.memory_mib}",
        )  # fmt: skip


def _port_rules(port: VnfPort, vnf: Vnf, workload: Workload, where: str) -> Iterator[Fault]:
    uses = {nic.use for nic in workload.nics if nic.network == port.network}
    if port.kind.takes_vf and NicUse.SRIOV not in uses:
        yield Fault(
            f"{where}.kind", port.kind,
            f'no [[nic]] of network {port.network!r} has use = "sriov"',
        )  # fmt: skip
    if (
        port.kind is InterfaceKind.VHOST
        and NicUse.DPDK not in uses
        and port.pattern is Pattern.NORTH_SOUTH
    ):
        yield Fault(
            f"{where}.kind", "vhost", f'no [[nic]] of network {port.network!r} has use = "dpdk"'
        )
    chain = next((c for c in workload.chains if c.name == port.chain), None)
    if port.pattern is Pattern.EAST_WEST and port.chain is None:
        yield Fault(f"{where}.chain", ABSENT, "an east-west port must name its [[chain]]")
    elif port.chain is not None and chain is None:
        names = [c.name for c in workload.chains]
        yield from _known(f"{where}.chain", port.chain, names, "chain")
    elif chain and port.pattern is not Pattern.EAST_WEST:
        yield Fault(f"{where}.chain", port.chain, 'goes with pattern = "east-west" only')
    elif chain and vnf.name not in chain.order:
        yield Fault(f"{where}.chain", port.chain, f"its order does not contain {vnf.name!r}")
    if port.queues and port.queues > vnf.vcpus:
        yield Fault(
            f"{where}.queues", port.queues, f"a guest has one queue for each of its "
            f"{vnf.vcpus} vCPUs at most",
        )  # fmt: skip
    network = next((n for n in workload.networks if n.name == port.network), None)
    if network and mtu_for(port.frame_bytes) > network.mtu:
        yield Fault(
            f"{where}.frame_bytes", port.frame_bytes,
            f"needs MTU {mtu_for(port.frame_bytes)}; network {network.name!r} has {network.mtu}",
        )  # fmt: skip


def _network_rules(workload: Workload) -> Iterator[Fault]:
    for network in workload.networks:
        where = f"network[{network.name}]"
        if network.type is NetworkType.VLAN and network.segment is None:
            yield Fault(f"{where}.segment", ABSENT, 'type = "vlan" needs the VLAN id')
        if network.type is NetworkType.FLAT and network.segment is not None:
            yield Fault(f"{where}.segment", network.segment, 'goes with type = "vlan" only')
        others = [n for n in workload.networks if n.physical_network == network.physical_network]
        same = [n for n in others if (n.type, n.segment) == (network.type, network.segment)]
        if len(same) > 1 and same[0] is network:
            names = ", ".join(n.name for n in same)
            yield Fault(
                f"{where}.physical_network", network.physical_network,
                f"networks {names} use the same segment of it",
            )  # fmt: skip
    named: dict[tuple[str, str], str] = {}
    for nic in workload.nics:
        if nic.vfs is not None and nic.use is NicUse.DPDK:
            yield Fault(f"nic[{nic.network}].vfs", nic.vfs, 'goes with use = "sriov" only')
        if nic.bond is not None and nic.use is NicUse.SRIOV:
            yield Fault(f"nic[{nic.network}].bond", nic.bond, 'goes with use = "dpdk" only')
        for host in nic.hosts:
            for port in nic.ports:
                other = named.setdefault((host, port), nic.network)
                if other != nic.network:
                    yield Fault(f"nic[{nic.network}].ports", port, f"also carries {other!r}")


def _group_rules(workload: Workload) -> Iterator[Fault]:
    affine = [g for g in workload.groups if g.policy is GroupPolicy.AFFINITY]
    anti_affine = [g for g in workload.groups if g.policy is GroupPolicy.ANTI_AFFINITY]
    counts = {vnf.name: vnf.count for vnf in workload.vnfs}
    for one in affine:
        for other in anti_affine:
            both = set(one.members) & set(other.members)
            if len(both) > 1 or any(counts.get(name, 0) > 1 for name in both):
                yield Fault(
                    f"group[{one.name}].members", sorted(both),
                    f"are also members of the anti-affinity group {other.name!r}",
                )  # fmt: skip


def _kernel_rules(workload: Workload) -> Iterator[Fault]:
    for word in workload.kernel.extra:
        if word.partition("=")[0] in _DERIVED_CPU_SETS:
            yield Fault("kernel.extra", word, "contradicts the plan, which derives it")
