# SPDX-License-Identifier: Apache-2.0
"""Read the vSwitch's ports: their NUMA nodes, queues and memory, and which reach each other."""

from __future__ import annotations

from wirespeed.audit.rule import FactUnusable
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.ovs_facts import OvsFacts, OvsInterface
from wirespeed.plan.sizing.ovs_memory import DpdkPort

# Defaults of Open vSwitch (ovs-vswitchd.conf.db).
DEFAULT_RX_QUEUES = 1
DEFAULT_DESCRIPTORS = 2048
DEFAULT_MTU = 1500


def dpdk_ports(facts: HostFacts) -> tuple[OvsInterface, ...]:
    """Return the physical ports that Open vSwitch drives with DPDK."""
    return tuple(i for i in facts.ovs.interfaces if i.is_dpdk_port) if facts.ovs else ()


def node_of_port(facts: HostFacts, port: OvsInterface) -> int | None:
    """Return the NUMA node that Open vSwitch reports for a port, else that of its PCI device."""
    if port.node is not None:
        return port.node
    device = next((d for d in facts.pci if d.address == port.pci), None)
    return device.node if device else None


def dpdk_nodes(facts: HostFacts) -> set[int]:
    """Return the known NUMA nodes of the physical DPDK ports."""
    nodes = {node_of_port(facts, port) for port in dpdk_ports(facts)}
    return {node for node in nodes if node is not None}


def rx_queues(port: OvsInterface) -> int:
    """Return the number of rxqs in use, else the requested number, else the default."""
    if port.configured_rx_queues is not None:
        return port.configured_rx_queues
    return _option(port, "n_rxq") or DEFAULT_RX_QUEUES


def rx_descriptors(port: OvsInterface) -> int:
    return port.rx_descriptors or _option(port, "n_rxq_desc") or DEFAULT_DESCRIPTORS


def tx_descriptors(port: OvsInterface) -> int:
    return port.tx_descriptors or _option(port, "n_txq_desc") or DEFAULT_DESCRIPTORS


def mtu(port: OvsInterface) -> int:
    return port.mtu or port.mtu_request or DEFAULT_MTU


def _option(port: OvsInterface, key: str) -> int | None:
    text = port.options.get(key, "")
    return int(text) if text.isdecimal() else None


def socket_memory_mib(facts: HostFacts) -> tuple[int, ...] | None:
    """Return other_config:dpdk-socket-mem in MiB, one entry per node; None when it is not set.

    Raises FactUnusable when the value is not a list of numbers.
    """
    text = facts.ovs.other_config.get("dpdk-socket-mem") if facts.ovs else None
    if text is None:
        return None
    try:
        given = [int(part) for part in text.strip('"').split(",")]
    except ValueError:
        raise FactUnusable(
            f"needs a usable other_config:dpdk-socket-mem; {text!r} is not a list of MiB"
        ) from None
    # DPDK reserves nothing on nodes beyond the end of the list.
    return tuple(given + [0] * (len(facts.nodes) - len(given)))


def memory_ports(facts: HostFacts) -> tuple[DpdkPort, ...]:
    """Return the DPDK ports as input of the memory formulas.

    Raises FactUnusable when the node of a port is unknown.
    """
    found = []
    for port in dpdk_ports(facts):
        node = node_of_port(facts, port)
        if node is None and len(facts.nodes) > 1:
            raise FactUnusable(f"needs the NUMA node of DPDK port {port.name}")
        found.append(
            DpdkPort(
                node=node or 0,
                mtu=mtu(port),
                rx_queues=rx_queues(port),
                rx_descriptors=rx_descriptors(port),
                tx_queues=port.configured_tx_queues or 1,
                tx_descriptors=tx_descriptors(port),
            )
        )
    return tuple(found)


def paths(ovs: OvsFacts) -> tuple[tuple[OvsInterface, ...], ...]:
    """Return the groups of interfaces that reach each other over bridges and patch ports."""
    group = {b.name: {b.name} for b in ovs.bridges if b.datapath_type == "netdev"}
    bridge_of = {i.name: i.bridge for i in ovs.interfaces}
    for interface in ovs.interfaces:
        peer = bridge_of.get(interface.options.get("peer", ""))
        if interface.type == "patch" and interface.bridge in group and peer in group:
            merged = group[interface.bridge] | group[peer]
            group.update(dict.fromkeys(merged, merged))
    groups = {frozenset(members) for members in group.values()}
    return tuple(
        tuple(i for i in ovs.interfaces if i.bridge in members)
        for members in sorted(groups, key=sorted)
    )
