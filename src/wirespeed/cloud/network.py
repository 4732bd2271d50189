# SPDX-License-Identifier: Apache-2.0
"""Read networks, servers' ports as bound, and agents from Neutron."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wirespeed.cloud.api import Api, Record
from wirespeed.model.cloud import Agent, CloudNetwork, ServerPort

_SERVERS = "compute:"
OVS_AGENT = "Open vSwitch agent"
NIC_AGENT = "NIC Switch agent"


@dataclass(frozen=True, slots=True)
class Networking:
    """Networks, ports and agents of a cloud."""

    networks: tuple[CloudNetwork, ...]
    ports: Mapping[str, tuple[ServerPort, ...]]
    """Ports by the id of their server, in the order of their names."""
    agents: Mapping[str, tuple[Agent, ...]]
    """Agents by host."""


def read_networking(api: Api) -> Networking:
    """Return networks, ports of servers and agents."""
    keys = ("id", "name", "provider:*", "mtu", "vlan_transparent")
    networks = api.all("network", "/networks", "networks", keys)
    names = {network["id"]: network["name"] for network in networks}
    return Networking(
        tuple(sorted(map(_network, networks), key=lambda network: network.name)),
        _ports(api, names),
        _agents(api),
    )


def _network(record: Record) -> CloudNetwork:
    return CloudNetwork(
        name=record["name"],
        type=record.get("provider:network_type") or "",
        physical_network=record.get("provider:physical_network"),
        segment=record.get("provider:segmentation_id"),
        mtu=record["mtu"],
        transparent_vlan=bool(record.get("vlan_transparent")),
    )


def _ports(api: Api, networks: Mapping[str, str]) -> dict[str, tuple[ServerPort, ...]]:
    keys = (
        "name", "mac_address", "network_id", "device_id", "device_owner", "status",
        "binding:vnic_type", "binding:vif_type", "binding:vif_details", "binding:profile",
    )  # fmt: skip
    found: dict[str, list[ServerPort]] = {}
    for record in api.all("network", "/ports", "ports", keys):
        if record["device_owner"].startswith(_SERVERS):
            port = _port(record, networks)
            found.setdefault(record["device_id"], []).append(port)
    return {
        server: tuple(sorted(ports, key=lambda port: (port.name, port.mac)))
        for server, ports in found.items()
    }


def _port(record: Record, networks: Mapping[str, str]) -> ServerPort:
    details = record.get("binding:vif_details") or {}
    profile = record.get("binding:profile") or {}
    vlan = details.get("vlan")
    return ServerPort(
        name=record["name"],
        mac=record["mac_address"],
        network=networks.get(record["network_id"], record["network_id"]),
        vnic=record.get("binding:vnic_type") or "",
        vif=record.get("binding:vif_type") or "",
        status=record["status"],
        pci=profile.get("pci_slot"),
        vlan=int(vlan) if vlan is not None else None,
        socket=details.get("vhostuser_socket"),
    )


def _agents(api: Api) -> dict[str, tuple[Agent, ...]]:
    keys = ("agent_type", "host", "alive", "configurations")
    found: dict[str, list[Agent]] = {}
    for record in api.all("network", "/agents", "agents", keys):
        if record["agent_type"] in (OVS_AGENT, NIC_AGENT):
            found.setdefault(record["host"], []).append(_agent(record))
    return {
        host: tuple(sorted(agents, key=lambda agent: agent.kind)) for host, agents in found.items()
    }


def _agent(record: Record) -> Agent:
    configured = record.get("configurations") or {}
    bridges = configured.get("bridge_mappings") or {}
    devices = configured.get("device_mappings") or {}
    mappings = {name: (bridge,) for name, bridge in bridges.items()}
    mappings |= {name: tuple(sorted(interfaces)) for name, interfaces in devices.items()}
    return Agent(
        kind=record["agent_type"],
        alive=bool(record["alive"]),
        datapath=configured.get("datapath_type"),
        mappings=dict(sorted(mappings.items())),
    )
