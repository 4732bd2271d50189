# SPDX-License-Identifier: Apache-2.0
"""Find NUMA nodes whose huge pages are fewer than dpdk-socket-mem needs."""

from __future__ import annotations

from wirespeed.audit.fixes import kernel_arguments
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import socket_memory_mib
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.facts import NumaNode
from wirespeed.model.host.finding import Severity

GIB_IN_MIB = 1024


def check(subject: Subject) -> Outcome:
    nodes = subject.facts.nodes
    given = socket_memory_mib(subject.facts)
    if given is None:
        return NotApplicable("dpdk-socket-mem is not set")
    over = [(node, given[i]) for i, node in enumerate(nodes) if given[i] > _pages_mib(node)]
    if not over:
        there = ", ".join(str(_pages_mib(node)) for node in nodes)
        return Passed(f"dpdk-socket-mem={','.join(map(str, given))}, huge pages {there} MiB")
    # The kernel spreads boot-time pages evenly, so the largest need sets the count of every node.
    pages = max(-(-mib // GIB_IN_MIB) for mib in given) * len(nodes)
    return [
        Problem(
            found=f"node {node.id}: dpdk-socket-mem {mib} MiB, huge pages {_pages_mib(node)} MiB",
            wanted=f"at least {mib} MiB of huge pages on node {node.id}",
            fix=kernel_arguments(
                subject.distribution, f"default_hugepagesz=1G hugepagesz=1G hugepages={pages}"
            ),
            subject=f"node {node.id}",
        )
        for node, mib in over
    ]


def _pages_mib(node: NumaNode) -> int:
    return sum(pool.size_kib * pool.total for pool in node.huge_pages) // 1024


RULE = Rule(
    id="WS22",
    name="socket-memory-over-pages",
    title="dpdk-socket-mem is more than the node's huge pages",
    severity=Severity.CRITICAL,
    needs=(Need.MEMORY, Need.DPDK),
    wanted="dpdk-socket-mem of each node within that node's huge pages",
    why="DPDK fails to initialise and ovs-vswitchd aborts with it: after the next restart no port "
    "passes a frame.",
    source="Open vSwitch, Using Open vSwitch with DPDK; DPDK EAL, --socket-mem",
    check=check,
)
