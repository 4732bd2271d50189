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
    """One guest NUMA node of a server.

    `host_node` is the host's NUMA node; None if Nova does not report it. `pins` lists pairs of vCPU
    and host CPU. `vcpus` lists all vCPUs of the node.
    """

    host_node: int | None
    pins: tuple[tuple[int, int], ...]
    vcpus: tuple[int, ...]
    memory_mib: int


@dataclass(frozen=True, slots=True)
class ServerPort:
    """A Neutron port with its binding.

    `vif` is Neutron's binding type, e.g. vhostuser, hw_veb or ovs. `pci` is the VF of a direct
    port. Only a direct port has a `vlan`. Only a vhost-user port has a `socket`.
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
    """A server of any project.

    `instance` is the name of its libvirt domain. `page_kib` is None if the server requires no page
    size. `extra_specs` are those at the server's creation. `nodes` is empty without a NUMA
    topology.
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
    """One resource class of a host in Placement: total, reserved for the host, and claimed."""

    total: int
    reserved: int
    claimed: int


@dataclass(frozen=True, slots=True)
class CpuCounts:
    """CPU topology of a host: NUMA nodes, sockets per node, cores per socket, threads per core."""

    nodes: int
    sockets: int
    cores: int
    threads: int


@dataclass(frozen=True, slots=True)
class Agent:
    """A layer 2 agent of Neutron.

    `mappings` maps each physical network to its bridge (Open vSwitch) or interfaces (NIC).
    """

    kind: Line
    alive: bool
    datapath: Line | None
    mappings: Mapping[Line, tuple[Line, ...]]


@dataclass(frozen=True, slots=True)
class ComputeHost:
    """A compute host.

    `name` is the host name of the compute service, `hypervisor` that of libvirt. `cpu_features` has
    libvirt's names and excludes features that the CPU model implies. `strangers` lists consumers
    that hold resources of this host in Placement and are not servers on it.
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
    """A Nova flavor; the disk is in GiB."""

    name: Line
    vcpus: int
    memory_mib: int
    disk_gib: int
    extra_specs: Mapping[Line, Line] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CloudImage:
    """An image with the properties that Nova reads (hw_*, os_*, trait:*)."""

    name: Line
    properties: Mapping[Line, Line] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CloudAggregate:
    name: Line
    hosts: tuple[HostName, ...]
    metadata: Mapping[Line, Line] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CloudNetwork:
    """A Neutron network.

    `physical_network` and `segment` are None if the network type has none.
    """

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
    """All data read from one cloud; each list is sorted by name."""

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
