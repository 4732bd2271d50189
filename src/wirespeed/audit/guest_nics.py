# SPDX-License-Identifier: Apache-2.0
"""Find the physical NICs that carry a guest's traffic or are passed through to it."""

from __future__ import annotations

from wirespeed.audit.ports import node_of_port, paths
from wirespeed.model.host.facts import HostFacts, PciDevice
from wirespeed.model.host.guest_facts import Guest


def passed_through(facts: HostFacts, guest: Guest) -> tuple[PciDevice, ...]:
    """Return the network devices (VFs and PFs) that are passed through to the guest."""
    addresses = {*guest.host_devices, *(port.pci for port in guest.ports if port.pci)}
    return tuple(nic for nic in facts.nics if nic.address in addresses)


def nic_nodes(facts: HostFacts, guest: Guest) -> set[int]:
    """Return the known NUMA nodes of the NICs behind the guest's ports."""
    nodes = {nic.node for nic in passed_through(facts, guest)}
    sockets = {port.path for port in guest.ports if port.kind == "vhostuser" and port.path}
    for path in paths(facts.ovs) if facts.ovs else ():
        # Open vSwitch names a vhost-user port after its socket, or has the socket in
        # vhost-server-path.
        reached = any(
            i.is_vhost
            and (
                i.options.get("vhost-server-path") in sockets
                or any(socket.endswith(f"/{i.name}") for socket in sockets)
            )
            for i in path
        )
        if reached:
            nodes |= {node_of_port(facts, port) for port in path if port.is_dpdk_port}
    return {node for node in nodes if node is not None}


def vfs_in_use(facts: HostFacts) -> tuple[PciDevice, ...]:
    """Return the physical functions that have VFs."""
    return tuple(device for device in facts.pci if device.sriov_num > 0)
