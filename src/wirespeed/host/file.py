# SPDX-License-Identifier: Apache-2.0
"""Read and write HostFacts as a JSON file, and check it for contradictions."""

from __future__ import annotations

from wirespeed.document.kind import DocumentKind
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import HostFacts


def inconsistencies(facts: HostFacts) -> list[str]:
    """List the contradictions in a host's topology."""
    ids = [cpu.id for cpu in facts.cpus]
    present, nodes = set(ids), {node.id for node in facts.nodes}
    faults = []
    known = not (facts.why_missing("cpus") and facts.why_missing("nodes"))
    if known and (not ids or not nodes):
        faults.append("there is no CPU or no NUMA node; a host has at least one of each")
    if len(present) < len(ids):
        faults.append(f"cpus: {format_list(i for i in present if ids.count(i) > 1)} appear twice")
    for node in facts.nodes:
        if beyond := set(node.cpus) - present:
            faults.append(f"node {node.id} lists CPUs {format_list(beyond)}, which do not exist")
        if len(node.distances) != len(facts.nodes):
            faults.append(f"node {node.id} has {len(node.distances)} distances")
    for cpu in facts.cpus:
        if cpu.online and cpu.node not in nodes:
            faults.append(f"CPU {cpu.id} is on NUMA node {cpu.node}, which does not exist")
        if beyond := set(cpu.siblings) - present:
            faults.append(f"CPU {cpu.id} has siblings {format_list(beyond)}, which do not exist")
        elif any(cpu.id not in facts.siblings(other) for other in cpu.siblings):
            faults.append(f"CPU {cpu.id} and its siblings list different siblings")
    return faults


HOST_FILE = DocumentKind(
    HostFacts,
    name="hostfacts",
    title="wirespeed host facts",
    version="1.7",
    called="host file",
    next_step="Write it with `wirespeed inspect --json > HOST.json`.",
    check=inconsistencies,
)
