# SPDX-License-Identifier: Apache-2.0
"""Find NUMA nodes with PMD threads and without DPDK memory."""

from __future__ import annotations

from wirespeed.audit.cores import pmd_cpus
from wirespeed.audit.fixes import ovs_other_config, restart_ovs
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import socket_memory_mib
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

# S3 and Red Hat reserve this amount on a node without DPDK ports.
MINIMUM_MIB = 1024


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    given = socket_memory_mib(facts)
    if given is None:
        return NotApplicable("dpdk-socket-mem is not set")
    pmd_nodes = {facts.node_of(cpu) for cpu in pmd_cpus(facts)}
    nodes = [node.id for node in facts.nodes]
    bare = [n for index, n in enumerate(nodes) if n in pmd_nodes and given[index] == 0]
    if not bare:
        return Passed(f"dpdk-socket-mem={','.join(map(str, given))}")
    wanted = ",".join(str(MINIMUM_MIB if n in bare else given[i]) for i, n in enumerate(nodes))
    return [
        Problem(
            found=f"node {node} has PMD threads and 0 MiB of dpdk-socket-mem",
            wanted=f"at least {MINIMUM_MIB} MiB on node {node}",
            fix=(*ovs_other_config(f"dpdk-socket-mem={wanted}"), restart_ovs(subject.distribution)),
            subject=f"node {node}",
        )
        for node in bare
    ]


RULE = Rule(
    id="WS21",
    name="pmd-node-without-memory",
    title="A node with PMD threads has no DPDK memory",
    severity=Severity.HIGH,
    needs=(Need.MEMORY, Need.DPDK),
    wanted="dpdk-socket-mem above 0 on every node with PMD threads",
    why="Guest ports whose memory is on that node cannot get a mempool there; their frames come "
    "from the other node's memory.",
    source="S3 appendix C, DPDK socket memory (note)",
    check=check,
)
