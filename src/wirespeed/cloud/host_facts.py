# SPDX-License-Identifier: Apache-2.0
"""Derive facts of a host from its cloud, and complete the host's own facts with them.

The API counts CPUs, but does not report which number is on which NUMA node. It knows where servers
are, but not their emulator threads, queues or passed-through devices. The unknown facts are in
`missing`: the audit then reports "not checked", and a plan is refused rather than guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from wirespeed.model.cloud import Cloud, ComputeHost, Server, ServerNode, ServerPort
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts, Kernel, Missing
from wirespeed.model.host.guest_facts import Flavor, Guest, GuestPort, VcpuPin
from wirespeed.model.words import counted

SMALL_PAGE_KIB = 4
_HOW = "needs `wirespeed inspect` on the host; OpenStack's API does not report it"
# Facts that no API call gives. cpu_flags: the API has only those beyond the CPU model.
_UNTOLD = (
    "boot_environment", "caches", "cpu_flags", "ddio_ways", "default_route_interface", "dimms",
    "firmware", "governors", "housekeeping", "huge_pages", "idle_states", "interfaces",
    "iommu_units", "irqs", "kernel", "left_by_killed_runs", "memory_channels", "neighbours", "nova",
    "operating_system", "ovs", "ovs.pmds", "pci", "services", "smis", "switches", "tuned",
    "uio_drivers", "uncore", "vulnerabilities",
)  # fmt: skip
# Servers in these states have released their resources.
_PLACELESS = ("DELETED", "SOFT_DELETED", "SHELVED_OFFLOADED")


def host_facts(cloud: Cloud, host: ComputeHost) -> HostFacts:
    """Return the facts of a host from the cloud alone."""
    servers = _servers(cloud, host)
    facts = HostFacts(
        host=host.name,
        kernel=Kernel("", ""),
        cpus=(),
        nodes=(),
        cpu_model=host.cpu_model,
        guests=tuple(_guest(server) for server in servers),
        flavors=_flavors(cloud),
    )
    untold = [Missing(fact, f"{_HOW} it") for fact in _UNTOLD]
    topology = [Missing(fact, _topology_reason(host)) for fact in ("cpus", "nodes")]
    return _with_missing(facts, [*untold, *topology, *_partly(host, servers)])


def completed(facts: HostFacts, cloud: Cloud) -> HostFacts:
    """Return the host's own facts with its servers and flavors from the cloud.

    Where both know a guest, libvirt knows more and is kept. Raises BadInput where the cloud has no
    such host.
    """
    host = cloud.host(facts.host)
    if host is None:
        names = ", ".join(found.name for found in cloud.hosts[:5])
        more = ", ..." if len(cloud.hosts) > 5 else ""
        raise BadInput(
            f"cloud {cloud.name} has no compute host {facts.host}; it has {names or 'none'}{more}",
            "Leave out --openstack for this host, or give the facts of one of the cloud's.",
        )
    servers = _servers(cloud, host)
    seen = facts.guests or ()
    known = {guest.name for guest in seen}
    others = [server for server in servers if server.instance not in known]
    guests = (*seen, *(_guest(server) for server in others))
    # The cloud replaces missing facts of libvirt, as far as `_partly` says.
    kept = [m for m in facts.missing if m.fact not in ("guests", "flavors")]
    whole = replace(
        facts,
        guests=tuple(sorted(guests, key=lambda guest: guest.name)),
        flavors=_flavors(cloud),
    )
    return _with_missing(whole, [*kept, *_partly(host, others)])


def _with_missing(facts: HostFacts, missing: Iterable[Missing]) -> HostFacts:
    return replace(facts, missing=tuple(sorted(missing, key=lambda m: m.fact)))


def _servers(cloud: Cloud, host: ComputeHost) -> list[Server]:
    return [s for s in cloud.servers_on(host.name) if s.status not in _PLACELESS]


def _topology_reason(host: ComputeHost) -> str:
    counts = host.cpu_counts
    if counts is None:
        return f"{_HOW} its topology"
    return (
        f"{_HOW} which CPU is on which of its {counted(counts.nodes, 'NUMA node')} "
        f"({counted(counts.sockets, 'socket')} a node, {counted(counts.cores, 'core')} a socket, "
        f"{counted(counts.threads, 'thread')} a core)"
    )


def _partly(host: ComputeHost, others: list[Server]) -> list[Missing]:
    """Return the unknown facts of guests; only the API knows those in `others`."""
    reasons = []
    if others:
        names = ", ".join(server.name for server in others[:3]) + (", ..." if others[3:] else "")
        reasons.append(
            f"needs virsh on the host: of {counted(len(others), 'guest')} ({names}) OpenStack's "
            "API tells CPUs, nodes, pages and ports alone"
        )
    if host.strangers:
        reasons.append(
            f"{counted(len(host.strangers), 'consumer')} in Placement holds resources of the host "
            "and is no server of it (a migration or a resize?)"
        )
    found = [Missing("guests", "; ".join(reasons))] if reasons else []
    lacking = [f"server {server.name}: {what}" for server in others for what in _unseen(server)]
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        found.append(Missing("guests.devices", "; ".join(lacking[:3]) + more))
    return found


def _unseen(server: Server) -> list[str]:
    """Return the resources of a server whose number or address the API does not name."""
    found = []
    if alias := server.extra_specs.get("pci_passthrough:alias"):
        found.append(f"the API does not say which devices serve pci_passthrough:alias={alias}")
    if server.extra_specs.get("hw:emulator_threads_policy") == "isolate":
        found.append("the API does not say which CPU its emulator threads have")
    return found


def _guest(server: Server) -> Guest:
    memory = _memory_by_node(server.nodes)
    pages = server.page_kib
    return Guest(
        name=server.instance or server.id,
        vcpus=server.vcpus,
        memory_kib=server.memory_mib * 1024,
        pins=tuple(VcpuPin(vcpu, (cpu,)) for vcpu, cpu in server.pins),
        memory_nodes=tuple(memory),
        node_memory_kib=tuple(memory.values()),
        huge_page_kib=pages if pages and pages > SMALL_PAGE_KIB else None,
        ports=tuple(_port(port) for port in server.ports),
    )


def _memory_by_node(nodes: Iterable[ServerNode]) -> dict[int, int]:
    """Return KiB by the host's node, ascending; empty where Nova does not report the nodes."""
    found: dict[int, int] = {}
    for node in nodes:
        if node.host_node is None:
            return {}
        found[node.host_node] = found.get(node.host_node, 0) + node.memory_mib * 1024
    return dict(sorted(found.items()))


def _port(port: ServerPort) -> GuestPort:
    kind = "hostdev" if port.pci else port.vif
    return GuestPort(kind=kind, path=port.socket, pci=port.pci)


def _flavors(cloud: Cloud) -> tuple[Flavor, ...]:
    return tuple(
        Flavor(flavor.name, flavor.vcpus, flavor.memory_mib, flavor.extra_specs)
        for flavor in cloud.flavors
    )
