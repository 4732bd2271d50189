# SPDX-License-Identifier: Apache-2.0
"""Find NUMA nodes that are almost out of ordinary memory."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import FactUnusable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

MINIMUM_KIB = 1024 * 1024


def check(subject: Subject) -> Outcome:
    unknown = subject.facts.why_missing("free_memory")
    if unknown:
        raise FactUnusable(f"needs the free memory of each node: {unknown}")
    nodes = subject.facts.nodes
    low = [node for node in nodes if node.free_kib < MINIMUM_KIB]
    if not low:
        free = ", ".join(f"{node.free_kib // 1024} MiB on node {node.id}" for node in nodes)
        return Passed(f"free: {free}")
    return [
        Problem(
            found=f"node {node.id} has {node.free_kib // 1024} MiB free of "
            f"{node.memory_kib // 1024}",
            wanted=f"at least {MINIMUM_KIB // 1024} MiB free",
            fix=tuple(
                f"echo {pool.total - 1} > /sys/devices/system/node/node{node.id}/hugepages/"
                f"hugepages-{pool.size_kib}kB/nr_hugepages  # gives a page back"
                for pool in node.huge_pages[-1:]
                if pool.free
            )
            or (f"# reserve fewer huge pages on node {node.id}, or move guests away",),
            subject=f"node {node.id}",
        )
        for node in low
    ]


RULE = Rule(
    id="WS27",
    name="node-memory-low",
    title="A node is almost out of ordinary memory",
    severity=Severity.HIGH,
    needs=(Need.MEMORY,),
    wanted="1 GiB of free ordinary memory on every node",
    why="Kernel and QEMU allocations on that node then reclaim memory or go to the other node; "
    "both stall polling threads.",
    source="S3 figure 5 (140 MB free on node 1)",
    check=check,
)
