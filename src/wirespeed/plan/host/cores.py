# SPDX-License-Identifier: Apache-2.0
"""Partition a host's CPUs: housekeeping, vSwitch, PMD threads, floating and pinned guests.

Housekeeping gets the lowest physical cores with all their SMT siblings. PMD threads get the next
cores on nodes with DPDK ports, guests the remaining ones. Everything but housekeeping and floating
guests is isolated (S0 table 3, S3 appendix C). A core is never split between the host and isolated
CPUs (S1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.host_rules import CoreRules, HousekeepingPolicy, PmdSiblingPolicy
from wirespeed.model.plan.plan import CorePlan, Decision, NodeCores
from wirespeed.plan.errors import PlanError

CpuList = tuple[int, ...]
Core = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CoreSplit:
    """The core plan, and the CPUs of the vSwitch's control threads and of its PMD threads."""

    plan: CorePlan
    vswitchd: Decision[CpuList]
    pmds: Decision[CpuList]


def physical_cores(facts: HostFacts) -> tuple[NodeCores, ...]:
    """Return the online CPUs by node and physical core, each ascending."""
    by_node: dict[int, set[Core]] = {node.id: set() for node in facts.nodes}
    online = set(facts.online_cpus)
    for cpu in facts.cpus:
        if cpu.online and cpu.node is not None:
            siblings = tuple(sorted(set(cpu.siblings or (cpu.id,)) & online))
            by_node.setdefault(cpu.node, set()).add(siblings)
    return tuple(NodeCores(node, tuple(sorted(cores))) for node, cores in sorted(by_node.items()))


def split_cores(
    host: str,
    nodes: Sequence[NodeCores],
    rules: CoreRules,
    dpdk_nodes: Collection[int],
    pmd_cores: Mapping[int, Decision[int]],
    *,
    control: str,
) -> CoreSplit:
    """Partition a host.

    pmd_cores: physical cores for PMD threads on each node, with the reason. control: name of the
    vSwitch's program that polls no port. Raises PlanError if a node has too few cores; it names
    host, node, need and remaining cores.
    """
    _check_known_cpus(host, nodes, rules)
    left = _Cores(host, nodes, rules.idle_cpus)
    housekeeping = _take_housekeeping(left, nodes, rules)
    vswitchd, vswitchd_idle = _take_control(
        left, nodes, rules, dpdk_nodes, housekeeping, control=control
    )
    pmds, pmd_idle, to_guests = _take_pmds(left, nodes, rules, pmd_cores)
    shared = [cpu for node in nodes for cpu in left.take(node.node, rules.shared_cores, "floating")]
    dedicated = tuple(sorted({*left.all(), *to_guests}))
    everything = {cpu for node in nodes for core in node.cores for cpu in core}
    floating = tuple(sorted({*housekeeping, *shared}))
    isolated = tuple(sorted(everything - set(floating)))
    idle = tuple(sorted({*rules.idle_cpus, *vswitchd_idle, *pmd_idle} - set(housekeeping)))
    plan = CorePlan(
        housekeeping=Decision(housekeeping, _housekeeping_reason(rules)),
        isolated=Decision(isolated, "all CPUs but housekeeping and those of floating guests (S3)"),
        dedicated=Decision(dedicated, f"all CPUs left after housekeeping, {control} and PMDs"),
        shared=Decision(floating, _shared_reason(rules)),
        idle=Decision(idle, _idle_reason(rules, control, vswitchd_idle, pmd_idle)),
        nodes=tuple(nodes),
    )
    return CoreSplit(plan, vswitchd, pmds)


class _Cores:
    """Physical cores without an owner. Taking more than remain raises PlanError."""

    def __init__(self, host: str, nodes: Sequence[NodeCores], idle: Iterable[int]) -> None:
        self._host = host
        unused = set(idle)
        self._left = {n.node: [c for c in n.cores if not unused & set(c)] for n in nodes}
        self._size = {n.node: len(n.cores) for n in nodes}

    def take_cores(
        self, node: int, count: int, what: str, prefer: Sequence[int] = ()
    ) -> list[Core]:
        """Take `count` whole cores of a node: preferred CPUs first, then the lowest."""
        rank = {cpu: i for i, cpu in enumerate(prefer)}
        left = self._left[node]
        left.sort(key=lambda core: (min(rank.get(cpu, len(rank)) for cpu in core), core))
        if count > len(left):
            raise PlanError(
                f"host {self._host}, NUMA node {node}: {count} physical cores wanted for {what}, "
                f"{len(left)} of {self._size[node]} are left",
                "Set fewer cores in [cores] of the workload, or plan with larger hosts.",
            )
        taken, self._left[node] = left[:count], sorted(left[count:])
        return taken

    def take(self, node: int, count: int, what: str) -> list[int]:
        return [cpu for core in self.take_cores(node, count, what) for cpu in core]

    def all(self) -> list[int]:
        return [cpu for cores in self._left.values() for core in cores for cpu in core]


def _check_known_cpus(host: str, nodes: Sequence[NodeCores], rules: CoreRules) -> None:
    known = {cpu for node in nodes for core in node.cores for cpu in core}
    for key, cpus in (("idle_cpus", rules.idle_cpus), ("pmd_core_order", rules.pmd_core_order)):
        unknown = sorted(set(cpus) - known)
        if unknown:
            raise PlanError(
                f"cores.{key} names CPU {format_list(unknown)}; host {host} has only "
                f"{format_list(known)}",
                f"Correct cores.{key} in the workload.",
            )
    for node in rules.pmd_cores or {}:
        if node not in {n.node for n in nodes}:
            raise PlanError(
                f"cores.pmd_cores names NUMA node {node}, which host {host} does not have",
                "Correct cores.pmd_cores in the workload.",
            )


def _take_housekeeping(left: _Cores, nodes: Sequence[NodeCores], rules: CoreRules) -> CpuList:
    first_only = rules.housekeeping is HousekeepingPolicy.FIRST_NODE
    chosen = nodes[:1] if first_only else nodes
    taken = [left.take(n.node, rules.housekeeping_cores, "housekeeping") for n in chosen]
    return tuple(sorted(cpu for cpus in taken for cpu in cpus))


def _take_control(
    left: _Cores,
    nodes: Sequence[NodeCores],
    rules: CoreRules,
    dpdk_nodes: Collection[int],
    housekeeping: CpuList,
    *,
    control: str,
) -> tuple[Decision[CpuList], CpuList]:
    if not rules.vswitchd_own_core:
        return Decision(housekeeping, f"{control} shares the housekeeping CPUs (S3)"), ()
    node = min(dpdk_nodes) if dpdk_nodes else nodes[0].node
    core = left.take_cores(node, 1, control)[0]
    why = f"cores.vswitchd_own_core: the next core of node {node}, one thread of it (S0 table 3)"
    return Decision((core[0],), why), core[1:]


def _take_pmds(
    left: _Cores,
    nodes: Sequence[NodeCores],
    rules: CoreRules,
    pmd_cores: Mapping[int, Decision[int]],
) -> tuple[Decision[CpuList], list[int], list[int]]:
    """Return the PMD CPUs, their siblings that stay idle, and their siblings for guests."""
    pmds: list[int] = []
    idle: list[int] = []
    to_guests: list[int] = []
    reasons = []
    for node in nodes:
        wanted = pmd_cores.get(node.node)
        if wanted is None or not wanted.value:
            continue
        cores = left.take_cores(node.node, wanted.value, "PMD threads", rules.pmd_core_order)
        reasons.append(f"node {node.node}: {wanted.value} ({wanted.because})")
        for core in cores:
            if rules.pmd_siblings is PmdSiblingPolicy.PAIR:
                pmds.extend(core)
            else:
                pmds.append(core[0])
                to_guests.extend(core[1:] if rules.pmd_siblings is PmdSiblingPolicy.GUEST else ())
                idle.extend(core[1:] if rules.pmd_siblings is PmdSiblingPolicy.IDLE else ())
    siblings = {
        PmdSiblingPolicy.PAIR: "both threads of a core poll (Red Hat, S3)",
        PmdSiblingPolicy.IDLE: "one thread a core, its sibling idle (S0: best)",
        PmdSiblingPolicy.GUEST: "one thread of each core; its sibling is for guests",
    }[rules.pmd_siblings]
    because = f"physical cores on {', '.join(reasons)}; {siblings}" if reasons else "no DPDK port"
    return Decision(tuple(sorted(pmds)), because), idle, to_guests


def _housekeeping_reason(rules: CoreRules) -> str:
    cores = f"{rules.housekeeping_cores} lowest physical core(s) with all SMT siblings"
    if rules.housekeeping is HousekeepingPolicy.FIRST_NODE:
        return f"{cores}, of the first NUMA node (S0 table 3)"
    return f"{cores}, of every NUMA node (S3 appendix C, Red Hat)"


def _shared_reason(rules: CoreRules) -> str:
    if rules.shared_cores:
        return f"housekeeping and {rules.shared_cores} core(s) a node for floating vCPUs"
    return "the housekeeping CPUs, for floating vCPUs and emulator threads (Red Hat)"


def _idle_reason(rules: CoreRules, control: str, vswitchd: CpuList, pmds: Sequence[int]) -> str:
    parts = []
    if rules.idle_cpus:
        parts.append(f"{format_list(rules.idle_cpus)} by cores.idle_cpus")
    if vswitchd:
        parts.append(f"{format_list(vswitchd)} next to {control}")
    if pmds:
        parts.append(f"{format_list(pmds)} next to PMDs, which slow down with a busy sibling (S0)")
    return "; ".join(parts) or "every CPU has an owner"
