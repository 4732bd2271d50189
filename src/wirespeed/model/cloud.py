# SPDX-License-Identifier: Apache-2.0
"""Define what an OpenStack cloud reports: hosts, servers, flavors, networks and placement.

All values are the API's own answers. The API reports no NUMA topology of host CPUs, no kernel, no
interrupts and no firmware. Memory is in MiB, page sizes in KiB.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wirespeed.model.input.text import FilePath, HostName, Line, VfAddress, Word


@dataclass(frozen=True, slots=True)
class ServerNode:
    """One guest NUMA node of a server: the host's node, pins (vCPU, CPU), all its vCPUs.

    host_node is None where Nova does not say.
    """

    host_node: int | None
    pins: tuple[tuple[int, int], ...]
    vcpus: tuple[int, ...]
    memory_mib: int


@dataclass(frozen=True, slots=True)
class ServerPort:
    """A port as Neutron bound it. vif: vhostuser, hw_veb, ovs, ...; pci: the VF of a direct port.

    vlan is told for a direct port only, socket for a vhost-user port only.
    """

    name: Line
    mac: Line
    network: Line
    vnic: Word
    vif: Word
    status: Word
    pci: VfAddress | None = None
    vlan: int | None = None
    socket: FilePath | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """A server of any project. instance: the name of its libvirt domain.

    page_kib is None without a demand for pages. extra_specs are those it was created with. nodes is
    empty without a NUMA topology.
    """

    id: Word
    name: Line
    instance: Line
    host: HostName | None
    status: Word
    flavor: Line
    vcpus: int
    memory_mib: int
    extra_specs: Mapping[Line, Line] = field(default_factory=dict)
    nodes: tuple[ServerNode, ...] = ()
    page_kib: int | None = None
    ports: tuple[ServerPort, ...] = ()

    @property
    def pins(self) -> tuple[tuple[int, int], ...]:
        """(vCPU, host CPU) of every pinned vCPU, sorted by vCPU."""
        return tuple(sorted(pin for node in self.nodes for pin in node.pins))


@dataclass(frozen=True, slots=True)
class Inventory:
    """A resource of Placement on one host: all, reserved for the host, and claimed."""

    total: int
    reserved: int
    claimed: int


@dataclass(frozen=True, slots=True)
class CpuCounts:
    """How many NUMA nodes, sockets a node, cores a socket and threads a core a host has."""

    nodes: int
    sockets: int
    cores: int
    threads: int


@dataclass(frozen=True, slots=True)
class Agent:
    """A layer 2 agent. mappings: physical network to bridge (Open vSwitch) or interfaces (NIC)."""

    kind: Line
    alive: bool
    datapath: Line | None
    mappings: Mapping[Line, tuple[Line, ...]]


@dataclass(frozen=True, slots=True)
class ComputeHost:
    """A compute host. name: the compute service's host; hypervisor: libvirt's host name.

    cpu_features: in libvirt's names, only those that the CPU model does not bring itself.
    strangers: consumers that hold resources here in Placement and are no server of this host.
    """

    name: HostName
    hypervisor: HostName
    up: bool
    enabled: bool
    disabled_reason: Line = ""
    cpu_model: Line = ""
    cpu_features: tuple[Word, ...] = ()
    cpu_counts: CpuCounts | None = None
    inventory: Mapping[Word, Inventory] = field(default_factory=dict)
    traits: tuple[Word, ...] = ()
    strangers: tuple[Line, ...] = ()
    agents: tuple[Agent, ...] = ()


@dataclass(frozen=True, slots=True)
class CloudFlavor:
    """disk in GiB."""

    name: Line
    vcpus: int
    memory_mib: int
    disk_gib: int
    extra_specs: Mapping[Line, Line] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CloudImage:
    """properties: those that Nova reads (hw_*, os_*, trait:*)."""

    name: Line
    properties: Mapping[Line, Line] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CloudAggregate:
    name: Line
    hosts: tuple[HostName, ...]
    metadata: Mapping[Line, Line] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CloudNetwork:
    """physical_network and segment are None where the type of network has none."""

    name: Line
    type: Word
    physical_network: Line | None
    segment: int | None
    mtu: int
    transparent_vlan: bool = False


@dataclass(frozen=True, slots=True)
class CloudGroup:
    name: Line
    policy: Word


@dataclass(frozen=True, slots=True)
class Cloud:
    """Everything that was read of one cloud, each part sorted by name."""

    name: Line
    hosts: tuple[ComputeHost, ...]
    servers: tuple[Server, ...] = ()
    flavors: tuple[CloudFlavor, ...] = ()
    images: tuple[CloudImage, ...] = ()
    aggregates: tuple[CloudAggregate, ...] = ()
    networks: tuple[CloudNetwork, ...] = ()
    groups: tuple[CloudGroup, ...] = ()

    def host(self, name: str) -> ComputeHost | None:
        """Return the host of this name; None if no host or several hosts match.

        The name is compared with the compute service's host, then libvirt's host name, then both
        without the domain.
        """
        for names in (
            lambda host: (host.name,),
            lambda host: (host.hypervisor,),
            lambda host: (host.name.partition(".")[0], host.hypervisor.partition(".")[0]),
        ):
            found = [host for host in self.hosts if name in names(host)]
            if len(found) == 1:
                return found[0]
        return None

    def servers_on(self, host: str) -> tuple[Server, ...]:
        return tuple(server for server in self.servers if server.host == host)
