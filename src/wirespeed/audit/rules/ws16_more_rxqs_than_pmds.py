# SPDX-License-Identifier: Apache-2.0
"""Find ports with more rxqs than PMD threads that can poll them."""

from __future__ import annotations

from wirespeed.audit.cores import pmd_cpus
from wirespeed.audit.fixes import ovs_interface
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import dpdk_ports, node_of_port, rx_queues
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.ovs_facts import OvsInterface


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    ports = dpdk_ports(facts)
    if not ports:
        return NotApplicable("no DPDK port")
    usable = {port.name: _usable(facts, port) for port in ports}
    over = [port for port in ports if rx_queues(port) > usable[port.name]]
    if not over:
        return Passed("no DPDK port has more rxqs than its node has PMD threads")
    return [
        Problem(
            found=f"{port.name} has {rx_queues(port)} rxqs, {usable[port.name]} PMD threads can "
            "poll them",
            wanted=f"n_rxq={max(1, usable[port.name])}, or more PMD threads on its node",
            fix=ovs_interface(port.name, f"options:n_rxq={max(1, usable[port.name])}"),
            subject=port.name,
        )
        for port in over
    ]


def _usable(facts: HostFacts, port: OvsInterface) -> int:
    """Count the PMD threads on the port's node, or all of them when it has none.

    Open vSwitch assigns rxqs in the same way.
    """
    pmds, node = pmd_cpus(facts), node_of_port(facts, port)
    local = [cpu for cpu in pmds if node is None or facts.node_of(cpu) == node]
    return len(local or pmds)


RULE = Rule(
    id="WS16",
    name="more-rxqs-than-pmds",
    title="A port has more rxqs than PMD threads that can poll them",
    severity=Severity.MEDIUM,
    needs=(Need.CPUS, Need.DPDK),
    wanted="n_rxq no larger than the number of PMD threads on the port's node",
    why="Further rxqs cost polling and memory and add no parallel work.",
    source="Open vSwitch, DPDK PMD threads; S3 appendix C, multiple rx queues",
    check=check,
)
