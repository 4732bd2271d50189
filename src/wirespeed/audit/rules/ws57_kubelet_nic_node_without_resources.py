# SPDX-License-Identifier: Apache-2.0
"""Find NICs with VFs on whose NUMA node a pod gets no exclusive CPUs or no huge pages."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import FactUnusable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.facts import NumaNode
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    if subject.kubelet is None:
        raise FactUnusable("needs the configuration of the kubelet (--kubelet)")
    found = list(_problems(subject, set(subject.kubelet.reserved_cpus)))
    return found or Passed("every NIC with VFs has exclusive CPUs and huge pages on its NUMA node")


def _problems(subject: Subject, reserved: set[int]) -> Iterator[Problem]:
    nodes = {node.id: node for node in subject.facts.nodes}
    for device in subject.facts.nics:
        node = nodes.get(-1 if device.node is None else device.node)
        if not device.sriov_num or node is None:
            continue
        if set(node.cpus) <= reserved:
            yield Problem(
                f"all CPUs of NUMA node {node.id} are reserved",
                f"CPUs of node {node.id} for containers that use its VFs",
                ("# Reserve CPUs of another node: reservedSystemCPUs",),
                device.address,
            )
        lacking = _lacking_pages(node, subject.facts.nodes)
        if lacking:
            yield Problem(
                f"NUMA node {node.id} has no huge pages of {lacking} KiB, others have",
                f"huge pages of {lacking} KiB on node {node.id}",
                (f"# kernel command line: hugepages={node.id}:COUNT",),
                device.address,
            )


def _lacking_pages(node: NumaNode, nodes: tuple[NumaNode, ...]) -> int | None:
    """Return a page size that other nodes have pages of and this one has none."""
    for other in nodes:
        for pool in other.huge_pages:
            mine = node.pool(pool.size_kib)
            if pool.total and not (mine and mine.total):
                return pool.size_kib
    return None


RULE = Rule(
    id="WS57",
    name="kubelet-nic-node-without-resources",
    title="NUMA node of a NIC has no CPUs or huge pages for pods",
    severity=Severity.HIGH,
    needs=(Need.PCI, Need.MEMORY, Need.KUBELET),
    wanted="exclusive CPUs and huge pages on the NUMA node of every NIC with VFs",
    why="single-numa-node refuses every pod with these VFs; best-effort runs it across nodes.",
    source="openshift-docs issue 116259; kubernetes issue 106270",
    check=check,
)
