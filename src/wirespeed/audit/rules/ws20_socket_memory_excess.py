# SPDX-License-Identifier: Apache-2.0
"""Find NUMA nodes that reserve far more DPDK memory than Open vSwitch allocates."""

from __future__ import annotations

from wirespeed.audit.fixes import ovs_other_config, restart_ovs
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import memory_ports, socket_memory_mib
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.plan.host_rules import MemoryModel
from wirespeed.plan.sizing.ovs_memory import socket_memory

# A reservation is excessive above this multiple of the need, and by at least this amount.
EXCESS_FACTOR = 2
EXCESS_MIB = 2048


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    given = socket_memory_mib(facts)
    if given is None:
        return NotApplicable("dpdk-socket-mem is not set")
    per_port = bool(facts.ovs and facts.ovs.other_config.get("per-port-memory") == "true")
    model = MemoryModel.OVS_PER_PORT if per_port else MemoryModel.OVS_SHARED
    nodes = [node.id for node in facts.nodes]
    ports = memory_ports(facts)
    needed = socket_memory(model, ports, nodes)
    # A reservation that WS19 requires is not excessive.
    required = socket_memory(subject.model_in_force, ports, nodes)
    above = [
        (node, given[index], needed[node].mib)
        for index, node in enumerate(nodes)
        if given[index] > max(EXCESS_FACTOR * needed[node].mib, required[node].mib)
        and given[index] - needed[node].mib >= EXCESS_MIB
    ]
    if not above:
        return Passed(f"dpdk-socket-mem={','.join(map(str, given))} is near model {model}")
    wanted = ",".join(str(min(given[i], needed[node].mib)) for i, node in enumerate(nodes))
    return [
        Problem(
            found=f"{has} MiB on node {node}; Open vSwitch's own model needs {wants}",
            wanted=f"about {wants} MiB ({needed[node].formula})",
            fix=(*ovs_other_config(f"dpdk-socket-mem={wanted}"), restart_ovs(subject.distribution)),
            subject=f"node {node}",
        )
        for node, has, wants in above
    ]


RULE = Rule(
    id="WS20",
    name="socket-memory-excess",
    title="dpdk-socket-mem is far above what Open vSwitch allocates",
    severity=Severity.LOW,
    needs=(Need.MEMORY, Need.DPDK),
    wanted=f"dpdk-socket-mem of each node at most {EXCESS_FACTOR} times Open vSwitch's own model, "
    "unless the memory model in force requires more",
    why="Huge pages that DPDK reserves and never uses are guests that do not fit.",
    source="Open vSwitch, DPDK device memory models (S3's and Red Hat's formulas give more)",
    check=check,
)
