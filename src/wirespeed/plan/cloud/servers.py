# SPDX-License-Identifier: Apache-2.0
"""Compare the servers of a cloud with a plan: hosts, CPUs, memory and ports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirespeed.model.cloud import Cloud, Server, ServerPort
from wirespeed.model.plan.plan import GuestPlan, HostPlan, Plan, PortPlan
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.plan.diff import Difference, Effort, changed
from wirespeed.plan.render.heat import flavor_name
from wirespeed.plan.render.openstack import VNIC_TYPES
from wirespeed.plan.sizing.huge_pages import SMALL_KIB

REBUILD = Effort.REBUILD
_ANY_VF = "Nova takes the VF of the network that libvirt lists last; those of one port are equal"


def vif_type(kind: InterfaceKind, host: HostPlan) -> str:
    """Return the VIF type that Neutron's ML2 drivers bind a port to.

    With Open vSwitch's user-space datapath, every port that is not a VF is a vhost-user port.
    """
    if kind.takes_vf:
        return "hw_veb"
    return "vhostuser" if host.vswitch else "ovs"


def named_twice(plan: Plan, cloud: Cloud) -> tuple[str, ...]:
    """Return warnings about planned guests that have the name of an existing server."""
    twice = sorted({server.name for server in cloud.servers} & set(plan.order))
    if not twice:
        return ()
    names = ", ".join(twice[:5]) + (f" and {len(twice) - 5} more" if len(twice) > 5 else "")
    return (
        f"cloud {cloud.name} has servers of the names {names} already: they keep their places, and "
        "others are planned; name the guests otherwise, or set placement.keep_running = false",
    )


def server_differences(cloud: Cloud, plan: Plan) -> Iterator[Difference]:
    """Yield the differences of every planned guest, by host and name."""
    named: dict[str, list[Server]] = {}
    for server in cloud.servers:
        named.setdefault(server.name, []).append(server)
    for host in plan.hosts:
        known = cloud.host(host.host)
        name = known.name if known else host.host
        for guest in host.guests:
            yield from _guest(guest, host, name, named.get(guest.name, []), plan)


def _guest(
    guest: GuestPlan, on: HostPlan, host: str, servers: Sequence[Server], plan: Plan
) -> Iterator[Difference]:
    """Yield the differences of one guest. on: planned host. host: its name in the cloud."""
    where = f"guest {guest.name}"
    if len(servers) != 1:
        old = f"{len(servers)} servers of that name" if servers else None
        yield Difference(where, "host", old, host, REBUILD)
        return
    (server,) = servers
    by_stack = server.flavor.startswith(flavor_name(guest.flavor, ""))
    flavor = flavor_name(guest.flavor, on.host) if by_stack else guest.flavor
    for what, old, new in (
        ("status", server.status, "ACTIVE"),
        ("host", server.host, host),
        ("flavor", server.flavor, flavor),
        ("vCPU:CPU", _pins(server.pins), _pins(_planned_pins(guest))),
        ("memory by NUMA node", _server_memory(server), _planned_memory(guest)),
        ("pages", _server_pages(server), _planned_pages(guest)),
    ):
        yield from changed(where, what, old or None, new or None, REBUILD)
    ports = {port.mac: port for port in server.ports}
    for port in guest.ports:
        yield from _port(
            where, port, ports.pop(port.mac, None), vif_type(port.kind.value, on), plan
        )
    for other in ports.values():
        yield Difference(where, f"port {other.name or other.mac}", "there", None, REBUILD)


def _planned_pins(guest: GuestPlan) -> Sequence[tuple[int, int]]:
    return sorted(pin for node in guest.nodes for pin in node.pins)


def _pins(pins: Sequence[tuple[int, int]]) -> str:
    return " ".join(f"{vcpu}:{cpu}" for vcpu, cpu in pins)


def _server_memory(server: Server) -> str:
    return _memory((node.host_node, node.memory_mib) for node in server.nodes)


def _planned_memory(guest: GuestPlan) -> str:
    return _memory((node.node, node.memory_mib) for node in guest.nodes)


def _memory(nodes: Iterator[tuple[int | None, int]]) -> str:
    return ", ".join(f"{mib} MiB on {node}" for node, mib in nodes)


def _server_pages(server: Server) -> str:
    return _pages({server.page_kib or 0})


def _planned_pages(guest: GuestPlan) -> str:
    return _pages({node.page_kib for node in guest.nodes})


def _pages(sizes: set[int]) -> str:
    """Return the huge page sizes; Nova counts small pages depending on the request."""
    return ", ".join(f"{size} KiB" for size in sorted(sizes) if size > SMALL_KIB)


def _port(
    where: str, wanted: PortPlan, port: ServerPort | None, vif: str, plan: Plan
) -> Iterator[Difference]:
    what = f"port {wanted.name}"
    if port is None:
        yield Difference(where, what, None, f"{wanted.kind.value} {wanted.mac}", REBUILD)
        return
    kind = wanted.kind.value
    network = plan.network(wanted.network)
    values: list[tuple[str, object, object]] = [
        ("network", port.network, wanted.network),
        ("vnic type", port.vnic, VNIC_TYPES[kind]),
        ("vif type", port.vif, vif),
    ]
    if wanted.device:
        values.append(("VLAN", port.vlan or None, network.segment))
    for name, old, new in values:
        yield from changed(where, f"{what} {name}", old, new, REBUILD)
    # A VF that did not exist at planning time has no address in the plan: PF/vfN.
    if wanted.device and "/" not in wanted.device.value:
        yield from changed(
            where, f"{what} VF", port.pci, wanted.device.value, Effort.LIVE, because=_ANY_VF
        )
