# SPDX-License-Identifier: Apache-2.0
"""Plan memory, queues and descriptors of Open vSwitch with DPDK on a host."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Decision, VswitchPlan
from wirespeed.model.plan.workload import Workload
from wirespeed.plan.errors import PlanError
from wirespeed.plan.host.cores import CoreSplit
from wirespeed.plan.host.nics import HostNic
from wirespeed.plan.sizing.ovs_memory import MODEL_SOURCES, DpdkPort, socket_memory

ETHERNET_MTU = 1500
# Open vSwitch's default, and S3's value for jumbo frames (figure 9).
DESCRIPTORS = 2048
JUMBO_DESCRIPTORS = 4096
DEFAULT_CHANNELS = 4


class PlannedOvsDpdk:
    """A PlannedSwitch: Open vSwitch with DPDK."""

    name = "ovs-dpdk"
    summary = "Open vSwitch with DPDK"
    control = "ovs-vswitchd"
    own_table = None

    def plan(
        self, facts: HostFacts, workload: Workload, nics: Sequence[HostNic], cores: CoreSplit
    ) -> VswitchPlan:
        return plan_vswitch(facts, workload, nics, cores)


def plan_vswitch(
    facts: HostFacts, workload: Workload, nics: Sequence[HostNic], cores: CoreSplit
) -> VswitchPlan:
    """Return the vSwitch of a host with these DPDK ports and PMD threads."""
    mtu = _mtu(nics)
    queues = _rx_queues(workload, nics, cores, facts, mtu.value)
    descriptors = _descriptors(workload, mtu.value)
    ports = [
        DpdkPort(
            nic.device.node if nic.device.node is not None else facts.nodes[0].id,
            nic.mtu,
            queues.value,
            descriptors.value,
            len(cores.pmds.value) + 1,
            descriptors.value,
        )
        for nic in nics
    ]
    return VswitchPlan(
        main_cpus=cores.vswitchd,
        pmd_cpus=cores.pmds,
        socket_memory_mib=_socket_memory(facts, workload, ports),
        rx_queues=queues,
        descriptors=descriptors,
        mtu=mtu,
        memory_channels=_channels(facts),
        memory_model=workload.vswitch.memory_model,
        kind=PlannedOvsDpdk.name,
    )


def _mtu(nics: Sequence[HostNic]) -> Decision[int]:
    if not nics:
        return Decision(ETHERNET_MTU, "no DPDK port; Ethernet's default")
    widest = max(nics, key=lambda nic: nic.mtu)
    return Decision(widest.mtu, f"the largest MTU of its networks ({widest.settings.network})")


def _rx_queues(
    workload: Workload, nics: Sequence[HostNic], cores: CoreSplit, facts: HostFacts, mtu: int
) -> Decision[int]:
    """Return PMD threads near the ports per port; S3 needs two queues for jumbo frames."""
    if given := workload.vswitch.rx_queues:
        return Decision(given, "vswitch.rx_queues of the workload")
    if not nics:
        return Decision(1, "no DPDK port")
    shares = []
    for node in sorted({nic.device.node for nic in nics}, key=str):
        ports = sum(1 for nic in nics if nic.device.node == node)
        pmds = sum(1 for cpu in cores.pmds.value if node is None or facts.node_of(cpu) == node)
        shares.append((pmds // ports, f"node {node}: {pmds} PMD threads / {ports} port(s)"))
    share, why = min(shares)
    if mtu > ETHERNET_MTU and share < 2:
        return Decision(2, f"MTU {mtu} needs two queues for zero loss (S3 tables 1 and 5)")
    return Decision(max(1, share), why)


def _descriptors(workload: Workload, mtu: int) -> Decision[int]:
    if given := workload.vswitch.descriptors:
        if given & (given - 1):
            raise PlanError(
                f"vswitch.descriptors = {given} is not a power of two",
                "Open vSwitch takes 64, 128, ... 4096.",
            )
        return Decision(given, "vswitch.descriptors of the workload")
    if mtu > ETHERNET_MTU:
        return Decision(JUMBO_DESCRIPTORS, f"MTU {mtu}: room for bursts of jumbo frames (S3)")
    return Decision(DESCRIPTORS, "Open vSwitch's default, enough for standard frames")


def _socket_memory(
    facts: HostFacts, workload: Workload, ports: Sequence[DpdkPort]
) -> Decision[tuple[int, ...]]:
    nodes = [node.id for node in facts.nodes]
    given = workload.vswitch.socket_memory_mib
    if given is not None:
        if len(given) != len(nodes):
            raise PlanError(
                f"vswitch.socket_memory_mib has {len(given)} entries, host {facts.host} has "
                f"{len(nodes)} NUMA nodes",
                "Give one for each node, or leave it out.",
            )
        return Decision(given, "vswitch.socket_memory_mib of the workload")
    model = workload.vswitch.memory_model
    memory = socket_memory(model, ports, nodes)
    parts = [
        f"node {node}: {memory[node].exact_mib:.0f} -> {memory[node].mib} ({memory[node].formula})"
        for node in nodes
    ]
    because = f"model {model} ({MODEL_SOURCES[model]}); {'; '.join(parts)}"
    return Decision(tuple(memory[node].mib for node in nodes), because)


def _channels(facts: HostFacts) -> Decision[int]:
    if not facts.memory_channels:
        return Decision(DEFAULT_CHANNELS, "channels unknown; 4 a node is Red Hat's default")
    each = max(1, facts.memory_channels // len(facts.nodes))
    return Decision(each, f"{facts.memory_channels} populated channels / {len(facts.nodes)} nodes")
