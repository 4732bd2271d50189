# SPDX-License-Identifier: Apache-2.0
"""Print a cloud on a terminal: hosts, their free resources, and the servers on them."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from wirespeed.cli.console import Text
from wirespeed.model.cloud import Cloud, ComputeHost, Server
from wirespeed.model.cpuset import format_list
from wirespeed.model.words import counted

_NOT_TOLD = (
    "OpenStack's API does not report which CPU is on which NUMA node, nor kernel, firmware, "
    "interrupts, NICs and Open vSwitch: give the host's own facts for these (--host)."
)


def print_cloud(cloud: Cloud, console: Console) -> None:
    """Print hosts, servers, aggregates and networks, each as a table."""
    counts = (
        counted(len(cloud.hosts), "compute host"),
        counted(len(cloud.servers), "server"),
        counted(len(cloud.flavors), "flavor"),
    )
    console.print(Text.assemble((cloud.name, "bold"), f"  {', '.join(counts)}"))
    console.print(_hosts(cloud))
    if cloud.servers:
        console.print(_servers(cloud))
    for aggregate in cloud.aggregates:
        metadata = ", ".join(f"{key}={value}" for key, value in aggregate.metadata.items())
        members = ", ".join(aggregate.hosts) or "no host"
        console.print(Text(f"aggregate {aggregate.name}: {members}; {metadata or 'no metadata'}"))
    for network in cloud.networks:
        where = network.physical_network or "no physical network"
        segment = "" if network.segment is None else f" {network.segment}"
        line = f"network {network.name}: {where}, {network.type}{segment}, MTU {network.mtu}"
        console.print(Text(line))
    console.print(Text(_NOT_TOLD, style="dim"))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _hosts(cloud: Cloud) -> Table:
    table = _table("host", "state", "topology", "PCPU", "VCPU", "memory MiB", "servers", "agents")
    for host in cloud.hosts:
        agents = ", ".join(agent.kind + ("" if agent.alive else " (dead)") for agent in host.agents)
        table.add_row(
            Text(host.name), Text(_state(host)), _topology(host),
            *(_used(host, name) for name in ("PCPU", "VCPU", "MEMORY_MB")),
            str(len(cloud.servers_on(host.name))), Text(agents or "-"),
        )  # fmt: skip
    return table


def _state(host: ComputeHost) -> str:
    if not host.enabled:
        return f"disabled {host.disabled_reason}".strip()
    return "up" if host.up else "down"


def _topology(host: ComputeHost) -> str:
    counts = host.cpu_counts
    if counts is None:
        return "-"
    return f"{counts.nodes} nodes x {counts.sockets} x {counts.cores} x {counts.threads}"


def _used(host: ComputeHost, resource: str) -> str:
    inventory = host.inventory.get(resource)
    if inventory is None:
        return "-"
    return f"{inventory.claimed} of {inventory.total - inventory.reserved}"


def _servers(cloud: Cloud) -> Table:
    table = _table("server", "state", "host", "NUMA nodes", "CPUs", "pages KiB", "ports")
    for server in cloud.servers:
        nodes = ",".join(str(n.host_node) for n in server.nodes if n.host_node is not None)
        table.add_row(
            Text(server.name), server.status, Text(server.host or "-"), nodes or "-",
            format_list(cpu for _, cpu in server.pins) or "-", str(server.page_kib or "-"),
            Text(_ports(server)),
        )  # fmt: skip
    return table


def _ports(server: Server) -> str:
    found = []
    for port in server.ports:
        place = f" {port.pci}" if port.pci else ""
        found.append(f"{port.network} {port.vif}{place}")
    return ", ".join(found) or "-"
