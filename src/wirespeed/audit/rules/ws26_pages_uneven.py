# SPDX-License-Identifier: Apache-2.0
"""Check that all NUMA nodes have the same number of huge pages, or what the plan says."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    sizes = sorted({pool.size_kib for node in facts.nodes for pool in node.huge_pages})
    counts = {size: _counts(facts, size) for size in sizes}
    used = {size: by_node for size, by_node in counts.items() if any(by_node.values())}
    if not used:
        return NotApplicable("no huge pages")
    if subject.host_plan and used == _planned(subject):
        return Passed(f"huge pages are as planned: {_words(used)}")
    uneven = {s: by_node for s, by_node in used.items() if len(set(by_node.values())) > 1}
    if not uneven:
        return Passed(f"huge pages are even: {_words(used)}")
    return [
        Problem(
            found=_words({size: by_node}),
            wanted=f"{max(by_node.values())} pages of {size} KiB on every node",
            fix=tuple(
                f"echo {max(by_node.values())} > /sys/devices/system/node/node{node}/hugepages/"
                f"hugepages-{size}kB/nr_hugepages"
                for node in by_node
            ),
            subject=f"{size} KiB pages",
        )
        for size, by_node in uneven.items()
    ]


def _counts(facts: HostFacts, size_kib: int) -> dict[int, int]:
    return {n.id: pool.total if (pool := n.pool(size_kib)) else 0 for n in facts.nodes}


def _planned(subject: Subject) -> dict[int, dict[int, int]]:
    planned: dict[int, dict[int, int]] = {}
    pages = subject.host_plan.huge_pages.value if subject.host_plan else ()
    for page in pages:
        planned.setdefault(page.size_kib, dict.fromkeys((n.id for n in subject.facts.nodes), 0))
        planned[page.size_kib][page.node] = page.count
    return planned


def _words(counts: dict[int, dict[int, int]]) -> str:
    return "; ".join(
        f"{size} KiB: " + ", ".join(f"{count} on node {node}" for node, count in by_node.items())
        for size, by_node in counts.items()
    )


RULE = Rule(
    id="WS26",
    name="pages-uneven",
    title="Huge pages are not spread evenly over the nodes",
    severity=Severity.MEDIUM,
    needs=(Need.MULTI_NODE, Need.MEMORY),
    wanted="the same number of huge pages of each size on every node, or what the plan says",
    why="Nova places a guest on one node: pages on a node without free CPUs are wasted, and so are "
    "CPUs of a node without free pages.",
    source="S3, learnings: NUMA balanced architecture",
    check=check,
)
