# SPDX-License-Identifier: Apache-2.0
"""Find rxqs that a PMD thread of another NUMA node polls."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.ports import node_of_port
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.words import counted


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    ovs = facts.ovs
    nodes = {i.name: node_of_port(facts, i) for i in ovs.interfaces} if ovs else {}
    pmds = (ovs.pmds if ovs else None) or ()
    remote = [
        (pmd, rxq, node)
        for pmd in pmds
        for rxq in pmd.rxqs
        if (node := nodes.get(rxq.port)) is not None and node != pmd.node
    ]
    if not remote:
        return Passed(
            f"polled on their own node: {counted(sum(len(pmd.rxqs) for pmd in pmds), 'rxq')}"
        )
    return [
        Problem(
            found=f"rxq {rxq.queue} of {rxq.port} (node {node}) is polled by the PMD thread on "
            f"CPU {pmd.core} (node {pmd.node})",
            wanted=f"a PMD thread of node {node} polls it",
            fix=(
                f"# give node {node} a PMD thread in pmd-cpu-mask (WS12), then:",
                "ovs-appctl dpif-netdev/pmd-rxq-rebalance",
            ),
            subject=rxq.port,
        )
        for pmd, rxq, node in remote
    ]


RULE = Rule(
    id="WS13",
    name="rxq-across-nodes",
    title="A receive queue is polled from another NUMA node",
    severity=Severity.HIGH,
    needs=(Need.MULTI_NODE, Need.PMDS),
    wanted="each rxq polled by a PMD thread of its port's node",
    why="Each access to the ring and to the frame is a remote memory access, about twice as slow "
    "as a local one (NUMA distance 21 against 10).",
    source="S3 appendix C; Open vSwitch, DPDK PMD threads",
    check=check,
)
