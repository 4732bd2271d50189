# SPDX-License-Identifier: Apache-2.0
"""Find NUMA nodes with too little DPDK memory for their ports."""

from __future__ import annotations

from wirespeed.audit.fixes import ovs_other_config, restart_ovs
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import memory_ports, socket_memory_mib
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.plan.host_rules import MemoryModel
from wirespeed.plan.sizing.ovs_memory import DpdkPort, socket_memory

# The sources disagree by a factor of four, so the finding prints these next to the model in force.
COMPARED = (MemoryModel.S3_PER_PORT, MemoryModel.TRIPLEO, MemoryModel.OVS_SHARED)


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    given = socket_memory_mib(facts)
    if given is None:
        return NotApplicable("dpdk-socket-mem is not set: DPDK takes huge pages on demand")
    ports = memory_ports(facts)
    if not ports:
        return NotApplicable("no DPDK port")
    model = subject.model_in_force
    nodes = [node.id for node in facts.nodes]
    needed = socket_memory(model, ports, nodes)
    short = [
        (node, given[index], needed[node].mib)
        for index, node in enumerate(nodes)
        if any(port.node == node for port in ports) and given[index] < needed[node].mib
    ]
    if not short:
        return Passed(f"dpdk-socket-mem={','.join(map(str, given))} meets model {model}")
    wanted = ",".join(str(max(given[i], needed[node].mib)) for i, node in enumerate(nodes))
    return [
        Problem(
            found=f"{has} MiB on node {node} for {_ports(ports, node)}",
            wanted=f"{wants} MiB ({needed[node].formula}); by model: "
            + ", ".join(f"{m} {socket_memory(m, ports, [node])[node].mib}" for m in COMPARED),
            fix=(*ovs_other_config(f"dpdk-socket-mem={wanted}"), restart_ovs(subject.distribution)),
            subject=f"node {node}",
        )
        for node, has, wants in short
    ]


def _ports(ports: tuple[DpdkPort, ...], node: int) -> str:
    mtus = [port.mtu for port in ports if port.node == node]
    return f"{len(mtus)} ports with MTU {', '.join(map(str, sorted(set(mtus))))}"


RULE = Rule(
    id="WS19",
    name="socket-memory-short",
    title="dpdk-socket-mem is below what the ports need",
    severity=Severity.CRITICAL,
    needs=(Need.MEMORY, Need.DPDK),
    wanted="dpdk-socket-mem of each node at or above the formula of the memory model in force "
    "(the plan's, else tripleo; --memory-model chooses another)",
    why="Without memory for its mempool a port does not start, or falls back to a smaller pool and "
    "drops frames when guests hold buffers.",
    source="S3 appendix C, DPDK socket memory",
    check=check,
)
