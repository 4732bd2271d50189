# SPDX-License-Identifier: Apache-2.0
"""Find NUMA nodes with a DPDK port and without a PMD thread."""

from __future__ import annotations

from wirespeed.audit.cores import pmd_cpus
from wirespeed.audit.fixes import ovs_other_config
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import dpdk_nodes, dpdk_ports, node_of_port
from wirespeed.audit.rule import (
    FactUnusable,
    NotApplicable,
    Outcome,
    Passed,
    Problem,
    Rule,
    Subject,
)
from wirespeed.model.cpuset import format_list, format_mask
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    nodes = dpdk_nodes(facts)
    lost = [port.name for port in dpdk_ports(facts) if node_of_port(facts, port) is None]
    if not nodes and not lost:
        return NotApplicable("no DPDK port")
    pmds = pmd_cpus(facts)
    served = {facts.node_of(cpu) for cpu in pmds}
    if nodes <= served:
        if lost:
            raise FactUnusable(f"needs the NUMA node of {', '.join(lost)} (WS14)")
        return Passed(f"PMD CPUs {format_list(pmds)} cover nodes {sorted(nodes)}")
    return [_problem(facts, node, pmds) for node in sorted(nodes - served)]


def _problem(facts: HostFacts, node: int, pmds: tuple[int, ...]) -> Problem:
    ports = ", ".join(p.name for p in dpdk_ports(facts) if node_of_port(facts, p) == node)
    local = [c for c in facts.cpus if c.node == node and c.id == min(c.siblings, default=c.id)]
    found = f"{ports} on NUMA node {node}, PMD CPUs {format_list(pmds)} are all elsewhere"
    if not local:
        return Problem(
            found, f"the NIC in a slot of a node with CPUs, not {node}", (), f"node {node}"
        )
    # The host keeps the node's first core, so suggest the second one.
    candidate = local[1] if len(local) > 1 else local[0]
    return Problem(
        found=found,
        wanted=f"a PMD thread on node {node}, e.g. CPU {candidate.id}",
        fix=ovs_other_config(f"pmd-cpu-mask={format_mask([*pmds, candidate.id])}"),
        subject=f"node {node}",
    )


RULE = Rule(
    id="WS12",
    name="no-pmd-on-nic-node",
    title="No PMD thread on a DPDK port's NUMA node",
    severity=Severity.CRITICAL,
    needs=(Need.CPUS, Need.DPDK),
    wanted="at least one PMD CPU on every node that has a DPDK port",
    why="Every descriptor and frame then crosses the link between the sockets, in both directions; "
    "Open vSwitch falls back to remote PMD threads with a warning only.",
    source="S0 appendix; S3 appendix C, relation between NIC and NUMA socket",
    check=check,
)
