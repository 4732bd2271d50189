# SPDX-License-Identifier: Apache-2.0
"""Check that the host has 1 GiB huge pages."""

from __future__ import annotations

from wirespeed.audit.fixes import kernel_arguments
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Severity

GIB_IN_KIB = 1024 * 1024
# TripleO keeps 4 GiB for the host. While the guests' need is unknown, start with half of the rest.
HOST_GIB = 4
SHARE = 0.5


def check(subject: Subject) -> Outcome:
    nodes = subject.facts.nodes
    pages = [pool.total if (pool := node.pool(GIB_IN_KIB)) else 0 for node in nodes]
    if sum(pages):
        return Passed(f"1 GiB pages per node: {', '.join(map(str, pages))}")
    others = ", ".join(
        f"{pool.total} of {pool.size_kib} KiB on node {node.id}"
        for node in nodes
        for pool in node.huge_pages
        if pool.total
    )
    count = _suggestion(subject.facts)
    return [
        Problem(
            found=f"no 1 GiB huge page; {others or 'no other huge page either'}",
            wanted="1 GiB huge pages for guests and DPDK, "
            + (f"e.g. {count}" if count else "in a host with more memory"),
            fix=kernel_arguments(
                subject.distribution, f"default_hugepagesz=1G hugepagesz=1G hugepages={count}"
            )
            if count
            else (),
        )
    ]


def _suggestion(facts: HostFacts) -> int:
    """Return half of the memory that the host does not need, as pages, equal on every node."""
    memory_gib = sum(node.memory_kib for node in facts.nodes) / GIB_IN_KIB
    count = max(0, int((memory_gib - HOST_GIB) * SHARE))
    return count - count % len(facts.nodes)


RULE = Rule(
    id="WS25",
    name="no-1g-pages",
    title="The host has no 1 GiB huge pages",
    severity=Severity.HIGH,
    needs=(Need.MEMORY,),
    wanted="1 GiB huge pages on every node that runs guests or DPDK",
    why="With 4 KiB or 2 MiB pages the TLB covers a fraction of the packet buffers and of the "
    "guest's memory; each miss is several memory accesses per frame.",
    source="S0 appendix; S1, huge pages; S4",
    check=check,
)
