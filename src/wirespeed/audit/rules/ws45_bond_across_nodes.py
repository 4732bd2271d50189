# SPDX-License-Identifier: Apache-2.0
"""Find bonds whose members are on different NUMA nodes."""

from __future__ import annotations

from wirespeed.audit.fixes import comment
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import node_of_port
from wirespeed.audit.rule import (
    FactUnusable,
    NotApplicable,
    Outcome,
    Passed,
    Problem,
    Rule,
    Subject,
)
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    bonds = _bonds(facts)
    unknown = facts.why_missing("interfaces")
    if unknown and not bonds and not facts.interfaces:
        raise FactUnusable(f"needs the network interfaces: {unknown}")
    if not bonds:
        return NotApplicable("no bond has members whose nodes are known")
    split = {name: nodes for name, nodes in bonds.items() if len(set(nodes.values())) > 1}
    if not split:
        return Passed(f"members of {', '.join(bonds)} are on one node each")
    return [
        Problem(
            found=f"bond {bond}: "
            + ", ".join(f"{name} on node {node}" for name, node in sorted(nodes.items())),
            wanted="all members on one node",
            fix=(
                comment(
                    f"bond ports of NICs on the same node (`wirespeed inspect` shows them): {bond}"
                ),
            ),
            subject=bond,
        )
        for bond, nodes in split.items()
    ]


def _bonds(facts: HostFacts) -> dict[str, dict[str, int]]:
    """Map each bond of the kernel and of Open vSwitch to its members and their NUMA nodes."""
    bonds: dict[str, dict[str, int]] = {}
    node_of = {device.address: device.node for device in facts.pci}
    for interface in facts.interfaces:
        node = node_of.get(interface.pci or "")
        if interface.master and interface.master_is_bond and node is not None:
            bonds.setdefault(interface.master, {})[interface.name] = node
    for port in facts.ovs.interfaces if facts.ovs else ():
        node = node_of_port(facts, port)
        if port.bond and node is not None:
            bonds.setdefault(port.bond, {})[port.name] = node
    return bonds


RULE = Rule(
    id="WS45",
    name="bond-across-nodes",
    title="A bond's members are on different NUMA nodes",
    severity=Severity.MEDIUM,
    needs=(Need.MULTI_NODE, Need.PCI),
    wanted="the members of a bond on one NUMA node",
    why="Half of the flows arrive on the wrong node, and which half changes with each failover.",
    source="S3 appendix A (bonded NICs) and C, NUMA alignment",
    check=check,
)
