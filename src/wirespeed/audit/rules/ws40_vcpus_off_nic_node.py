# SPDX-License-Identifier: Apache-2.0
"""Find guests that run on another NUMA node than their NIC."""

from __future__ import annotations

from wirespeed.audit.cores import pinned_cpus
from wirespeed.audit.fixes import comment
from wirespeed.audit.guest_nics import nic_nodes
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.guest_facts import Guest
from wirespeed.model.words import counted


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    fed = [(g, n) for g in facts.guests or () if pinned_cpus(g) and (n := nic_nodes(facts, g))]
    if not fed:
        return NotApplicable("no pinned guest is behind a NIC whose node is known")
    remote = [(guest, nics) for guest, nics in fed if not nics & _nodes(facts, guest)]
    if not remote:
        return Passed(f"on the nodes of their NICs: {counted(len(fed), 'guest')}")
    return [
        Problem(
            found=f"{guest.name} runs on node {_words(_nodes(facts, guest))}, its NIC is on node "
            f"{_words(nics)}",
            wanted=f"vCPUs and memory on node {_words(nics)}",
            fix=(
                comment(
                    f"libvirt: pin vCPUs and memory of {guest.name} to node {_words(nics)} "
                    "(vcpupin, numatune) and restart it"
                ),
                "# Nova: hw:numa_nodes=1 with hw:pci_numa_affinity_policy=required; for vhost-user "
                "ports [neutron_physnet_NAME] numa_nodes in nova.conf",
            ),
            subject=guest.name,
        )
        for guest, nics in remote
    ]


def _nodes(facts: HostFacts, guest: Guest) -> set[int]:
    return {node for cpu in pinned_cpus(guest) if (node := facts.node_of(cpu)) is not None}


def _words(nodes: set[int]) -> str:
    return ", ".join(map(str, sorted(nodes)))


RULE = Rule(
    id="WS40",
    name="vcpus-off-nic-node",
    title="A guest runs on another NUMA node than its NIC",
    severity=Severity.HIGH,
    needs=(Need.MULTI_NODE, Need.GUESTS),
    wanted="a guest's pinned vCPUs on a node of the NICs behind its ports",
    why="Each frame is copied or written across the link between the sockets.",
    source="S1, I/O-aware NUMA scheduling; S3, learnings: guest level NUMA alignment",
    check=check,
)
