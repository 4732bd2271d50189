# SPDX-License-Identifier: Apache-2.0
"""Find packages that are split into other NUMA nodes than the plan or the vSwitch assumes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from wirespeed.audit.cores import pmd_cpus
from wirespeed.audit.fixes import comment
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import dpdk_ports, node_of_port
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Severity

_FIRMWARE = comment(
    "or one NUMA node a package in the firmware's setup: Intel SNC (sub-NUMA clusters) off, AMD "
    "NPS1 and no NUMA node for each L3 cache"
)
_PLAN_AGAIN = (
    "wirespeed inspect --json > HOST.json",
    "wirespeed plan --help  # plan again from this file",
    _FIRMWARE,
)


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    packages = _packages(facts)
    found = [*_planned(subject), *_switched(facts, packages)]
    if found:
        return found
    split = {package: nodes for package, nodes in packages.items() if len(nodes) > 1}
    if not split and subject.host_plan is None:
        return NotApplicable("each package is one NUMA node, and no plan is given (--plan)")
    most = max((len(nodes) for nodes in packages.values()), default=0)
    return Passed(f"at most {most} NUMA nodes a package; NICs and PMD CPUs fit them")


def _packages(facts: HostFacts) -> Mapping[int, set[int]]:
    """Return the nodes of each package."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for cpu in facts.cpus:
        if cpu.online and cpu.package is not None and cpu.node is not None:
            found[cpu.package].add(cpu.node)
    return found


def _planned(subject: Subject) -> Iterator[Problem]:
    plan, facts = subject.host_plan, subject.facts
    if plan is None:
        return
    here = {node.id for node in facts.nodes}
    absent = {page.node for page in plan.huge_pages.value if page.count} - here
    if absent:
        yield Problem(
            found=f"the plan has huge pages on NUMA nodes {format_list(absent)}, the host has "
            f"nodes {format_list(here)}",
            wanted="a plan of the nodes that the host has",
            fix=_PLAN_AGAIN,
        )
    nodes = {device.address: device.node for device in facts.pci}
    for nic in plan.nics:
        node = nodes.get(nic.address)
        if nic.node is not None and node is not None and node != nic.node:
            yield Problem(
                found=f"{nic.address} is on NUMA node {node}, the plan has it on node {nic.node}",
                wanted="a plan of the nodes that the host has",
                fix=_PLAN_AGAIN,
                subject=nic.address,
            )


def _switched(facts: HostFacts, packages: Mapping[int, set[int]]) -> Iterator[Problem]:
    if facts.ovs is None or not facts.ovs.dpdk_initialized:
        return
    ports = [(port, node_of_port(facts, port)) for port in dpdk_ports(facts)]
    for package, nodes in packages.items():
        inside = [(port, node) for port, node in ports if node in nodes]
        if len(nodes) < 2 or not inside:
            continue
        polling = {facts.node_of(cpu) for cpu in pmd_cpus(facts)}
        for port, node in inside:
            others = sorted(n for n in nodes & polling if n is not None)
            if node not in polling and others:
                yield Problem(
                    found=f"{port.name} is on node {node}; package {package} is split into nodes "
                    f"{format_list(nodes)}, and its PMD CPUs are on {format_list(others)} alone",
                    wanted=f"a PMD CPU on node {node}",
                    fix=(comment(f"put a CPU of node {node} into other_config:pmd-cpu-mask"),
                         _FIRMWARE),
                    subject=port.name,
                )  # fmt: skip


RULE = Rule(
    id="WS66",
    name="nodes-per-package",
    title="A package has other NUMA nodes than assumed",
    severity=Severity.HIGH,
    needs=(Need.CPUS,),
    wanted="CPUs, pages and NICs on the NUMA nodes that plan and vSwitch assume",
    why="With SNC (Intel) or NPS (AMD) a package is several NUMA nodes, each with a part of the "
    "cores, channels and PCIe ports. Frames of a NIC on one part that are polled on another cross "
    "the package, and pages planned on nodes that are gone are missing.",
    source="Open vSwitch, DPDK PMD threads; AMD, Workload Tuning Guide for EPYC 7003 (NPS); Intel, "
    "Optimization Reference Manual (sub-NUMA clusters)",
    check=check,
    vendor_advice=True,
)
