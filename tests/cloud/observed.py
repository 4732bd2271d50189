# SPDX-License-Identifier: Apache-2.0
"""Read what OpenStack created for a server: Nova, Placement, Neutron, libvirt's document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.cloud.rest import Api
from wirespeed.model.cpuset import parse_list


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a server in Neutron."""

    vif: str
    status: str
    host: str
    slot: str | None
    """PCI address of a VF."""
    vlan: int | None
    """None if the network is flat."""


@dataclass(frozen=True, slots=True)
class Node:
    """One guest NUMA node on a host's node."""

    host_node: int
    pins: Mapping[int, int]
    """CPU of each vCPU."""
    memory_mib: int


@dataclass(frozen=True, slots=True)
class Domain:
    """libvirt's domain."""

    pins: Mapping[int, tuple[int, ...]]
    emulator: tuple[int, ...]
    """CPUs of the emulator threads."""
    nodes: tuple[int, ...]
    page_kib: int
    """0 without huge pages."""
    devices: frozenset[str]
    """PCI addresses of host devices."""
    vhost_ports: int


@dataclass(frozen=True, slots=True)
class Server:
    """A server as Nova, Placement, Neutron and libvirt report it."""

    name: str
    status: str
    fault: str
    """Reason why it is not ACTIVE."""
    host: str
    allocated: Mapping[str, int]
    nodes: tuple[Node, ...]
    page_kib: int
    ports: Mapping[str, Port]
    """Ports by MAC address."""
    domain: Domain | None


def servers(api: Api, domains: Path) -> dict[str, Server]:
    """Return all servers by name."""
    listed = api.get("nova", "/servers/detail?all_tenants=1")["servers"]
    ports = api.get("neutron", "/ports")["ports"]
    found = {}
    for each in listed:
        identity = each["id"]
        mine = [port for port in ports if port["device_id"] == identity]
        topology = api.get("nova", f"/servers/{identity}/topology")
        path = domains / f"{identity}.xml"
        found[each["name"]] = Server(
            name=each["name"],
            status=each["status"],
            fault=_fault(api, identity) if each["status"] == "ERROR" else "",
            host=each["OS-EXT-SRV-ATTR:host"] or "",
            allocated=_allocated(api, identity),
            nodes=tuple(_node(node) for node in topology["nodes"]),
            page_kib=topology["pagesize_kb"] or 0,
            ports={port["mac_address"]: _port(port) for port in mine},
            domain=_domain(path.read_text()) if path.exists() else None,
        )
    return found


def _fault(api: Api, server: str) -> str:
    shown = api.get("nova", f"/servers/{server}")["server"]
    return str(shown.get("fault", {}).get("message", ""))


def _allocated(api: Api, server: str) -> dict[str, int]:
    allocations = api.get("placement", f"/allocations/{server}")["allocations"]
    total: dict[str, int] = {}
    for each in allocations.values():
        for name, amount in each["resources"].items():
            total[name] = total.get(name, 0) + amount
    return total


def _node(shown: dict[str, object]) -> Node:
    pins = shown.get("cpu_pinning") or {}
    assert isinstance(pins, dict)
    return Node(
        int(str(shown["host_node"])),
        {int(vcpu): int(cpu) for vcpu, cpu in pins.items()},
        int(str(shown["memory_mb"])),
    )


def _port(shown: dict[str, object]) -> Port:
    profile, details = shown["binding:profile"], shown["binding:vif_details"]
    assert isinstance(profile, dict)
    assert isinstance(details, dict)
    vlan = details.get("vlan")
    return Port(
        str(shown["binding:vif_type"]), str(shown["status"]), str(shown["binding:host_id"]),
        profile.get("pci_slot"), int(vlan) if vlan and str(vlan) != "0" else None,
    )  # fmt: skip


def _domain(text: str) -> Domain:
    tree = ElementTree.fromstring(text)  # noqa: S314  # Nova wrote it
    emulator = tree.find("cputune/emulatorpin")
    page = tree.find("memoryBacking/hugepages/page")
    nodes = tree.findall("numatune/memnode")
    interfaces = tree.findall("devices/interface")
    passed = [
        *tree.findall("devices/hostdev/source/address"),
        *(a for i in interfaces if i.get("type") == "hostdev" for a in i.findall("source/address")),
    ]
    return Domain(
        pins={
            int(pin.get("vcpu", "-1")): tuple(sorted(parse_list(pin.get("cpuset", ""))))
            for pin in tree.findall("cputune/vcpupin")
        },
        emulator=() if emulator is None else tuple(sorted(parse_list(emulator.get("cpuset", "")))),
        nodes=tuple(int(node.get("nodeset", "-1")) for node in nodes),
        page_kib=0 if page is None else int(page.get("size", "0")),
        devices=frozenset(_address(each) for each in passed),
        vhost_ports=sum(i.get("type") == "vhostuser" for i in interfaces),
    )


def _address(element: ElementTree.Element) -> str:
    part = {name: int(element.get(name, "0"), 16) for name in ("domain", "bus", "slot")}
    function = int(element.get("function", "0"), 16)
    return f"{part['domain']:04x}:{part['bus']:02x}:{part['slot']:02x}.{function:x}"
