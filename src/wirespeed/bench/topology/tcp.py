# SPDX-License-Identifier: Apache-2.0
"""Derive the hosts, cables and vSwitch rules of TCP traffic. Pure.

The server is one host; every client is another. Without a switch each client has its own cable and
subnet with the server. With one, all are attached to it and share a subnet (198.18.0.0/15: RFC 2544
appendix C.2.2). A host is a network namespace or a virtual machine, depending on path and
tcp.guests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wirespeed.bench.host.vf_settings import VfSettings
from wirespeed.bench.topology.wiring import Cable, End, Flow, Wiring
from wirespeed.model.input.fault import Fault
from wirespeed.model.kinds import Kinds
from wirespeed.model.plan.needs import Forwarding
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.model.study.spec import Sriov, TcpStreams
from wirespeed.model.study.tcp import Tcp, TcpGuests

SERVER, SWITCH = "server", "switch"
# Capacity of a frame in the ring of DPDK's AF_PACKET driver (2 KiB by default).
_AF_PACKET_MTU = 1500


@dataclass(frozen=True, slots=True)
class TcpPath:
    """Path that joins the hosts of a TCP test."""

    name: str
    summary: str
    switch: str | None = None
    """Type of the switch that all are attached to; None for a cable from each client to the server.
    """
    forwarding: Forwarding = Forwarding.KERNEL
    """Thread or process that forwards in the switch."""
    guests: InterfaceKind | None = None
    """Interface of hosts that are virtual machines, the server first; None without guests."""
    on_vfs: bool = False
    """True if each host has a virtual function of one NIC, whose switch joins them."""

    @property
    def polled(self) -> bool:
        """Return whether PMD threads poll the kernel's interfaces."""
        return self.forwarding is Forwarding.PMD_THREADS and self.guests is None

    def faults(self, tcp: Tcp) -> Iterator[Fault]:
        if self.polled and tcp.offloads:
            allowed = (
                f'must be false with path = "{self.name}": DPDK\'s AF_PACKET driver carries none'
            )
            yield Fault("tcp.offloads", True, allowed)
        if self.polled and tcp.mtu > _AF_PACKET_MTU:
            allowed = f'must be at most {_AF_PACKET_MTU} with path = "{self.name}"'
            yield Fault("tcp.mtu", tcp.mtu, allowed)


PATHS = Kinds(
    "tcp.path",
    TcpPath("veth", "a cable of its own from each client to the server"),
    TcpPath(
        "ovs", "a userspace Open vSwitch, whose main thread forwards", "ovs-dpdk",
        Forwarding.MAIN_THREAD,
    ),
    TcpPath(
        "ovs-pmd", "the same, but its PMD threads poll the ports through DPDK's AF_PACKET driver, "
        "which carries no offloads", "ovs-dpdk", Forwarding.PMD_THREADS,
    ),
    TcpPath("bridge", "a Linux bridge, forwarded by the kernel", "linux-bridge"),
    TcpPath(
        "vhost-user", "the server, or all hosts, are QEMU guests on vhost-user ports of Open "
        "vSwitch with DPDK, polled by its PMD threads; its main thread serves the other clients",
        "ovs-dpdk", Forwarding.PMD_THREADS, InterfaceKind.VHOST,
    ),
    TcpPath(
        "tap", "the same hosts, as guests on virtio-net whose taps are ports of a Linux bridge",
        "linux-bridge", guests=InterfaceKind.VIRTIO,
    ),
    TcpPath(
        "sriov", "each host has a virtual function of the NIC in `sut.ports`, driven by its kernel "
        "driver; the NIC's own switch joins them", on_vfs=True,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Port:
    """An interface of a host, or of the switch, where it has no address."""

    host: str
    name: str
    mac: str
    ip: str | None = None


@dataclass(frozen=True, slots=True)
class TcpCable:
    """A cable."""

    a: Port
    """Port of a host."""
    b: Port
    """Port of another host or of the switch."""

    @property
    def ends(self) -> tuple[Port, Port]:
        return (self.a, self.b)


@dataclass(frozen=True, slots=True)
class Hosts:
    """Hosts of a TCP test."""

    cables: tuple[TcpCable, ...]
    clients: tuple[tuple[str, str], ...]
    """Each client, with the server's address for it."""
    server_ports: tuple[Port, ...]
    """The server's interfaces."""

    @property
    def ports(self) -> tuple[Port, ...]:
        """Ports of clients and server."""
        return tuple(end for cable in self.cables for end in cable.ends if end.ip is not None)

    def neighbours(self, port: Port) -> tuple[Port, ...]:
        """Return the ports in its subnet."""
        return tuple(
            other for other in self.ports if other != port and _subnet(other) == _subnet(port)
        )


def _subnet(port: Port) -> str | None:
    return None if port.ip is None else port.ip.rpartition(".")[0]


def host_names(tcp: Tcp) -> tuple[str, ...]:
    return (SERVER, *client_names(tcp))


def client_names(tcp: Tcp) -> tuple[str, ...]:
    return tuple(f"client{number}" for number in range(tcp.clients))


def guest_names(tcp: Tcp) -> tuple[str, ...]:
    """Return the hosts that are virtual machines."""
    if PATHS[tcp.path].guests is None:
        return ()
    return host_names(tcp) if tcp.guests is TcpGuests.ALL else (SERVER,)


def hosts(tcp: Tcp) -> Hosts:
    """Return the cables between the hosts, and the server's address for each client."""
    path = PATHS[tcp.path]
    return _switched(tcp) if path.switch or path.on_vfs else _cabled(tcp)


def _cabled(tcp: Tcp) -> Hosts:
    cables, clients = [], []
    for number, name in enumerate(client_names(tcp)):
        server = Port(SERVER, f"eth{number}", _mac(0, number), f"198.18.{number}.1")
        client = Port(name, "eth0", _mac(1, number), f"198.18.{number}.2")
        cables.append(TcpCable(client, server))
        clients.append((name, f"198.18.{number}.1"))
    return Hosts(tuple(cables), tuple(clients), tuple(cable.b for cable in cables))


def _switched(tcp: Tcp) -> Hosts:
    cables = []
    for number, name in enumerate(host_names(tcp)):
        host = Port(name, "eth0", _mac(1, number), f"198.18.0.{1 + number}")
        cables.append(TcpCable(host, Port(SWITCH, name, _mac(2, number))))
    clients = tuple((name, "198.18.0.1") for name in client_names(tcp))
    return Hosts(tuple(cables), clients, (cables[0].a,))


def _mac(side: int, number: int) -> str:
    """Return a locally administered address."""
    return f"02:00:00:00:{side:02x}:{number:02x}"


def virtual_functions(streams: TcpStreams) -> Mapping[str, VfSettings]:
    """Return the settings of each host's VF, by host; all are in one VLAN."""
    wanted = streams.sriov or Sriov()
    return {
        cable.a.host: VfSettings(
            cable.a.mac, wanted.first_vlan, wanted.qos, wanted.spoofchk, wanted.trust,
            wanted.max_tx_rate_mbps,
        )
        for cable in hosts(streams.tcp).cables
    }  # fmt: skip


def switch_interfaces(tcp: Tcp) -> dict[str, str]:
    """Return the switch's ports that are kernel interfaces, by name, in cable order.

    A polled port is no kernel interface itself and has its own name.
    """
    sockets = _on_sockets(tcp)
    return {
        _switch_port(tcp, cable): cable.b.name
        for cable in hosts(tcp).cables
        if cable.a.host not in sockets
    }


def switch_wiring(tcp: Tcp) -> Wiring:
    """Wire server frames to the client addressed, and client frames to the server.

    Its cables are those of hosts on vhost-user; the switch makes what is between them and itself.
    """
    cables, sockets = hosts(tcp).cables, _on_sockets(tcp)
    plugged = tuple(
        Cable(End(cable.a.host, cable.a.name), End(SWITCH, cable.b.name))
        for cable in cables
        if cable.a.host in sockets
    )
    server = _switch_port(tcp, cables[0])
    flows = []
    for cable in cables[1:]:
        port = _switch_port(tcp, cable)
        flows.append(Flow(server, cable.a.mac, port))
        flows.append(Flow(port, cables[0].a.mac, server))
    return Wiring(cables=plugged, streams=(), flows=tuple(flows))


def _switch_port(tcp: Tcp, cable: TcpCable) -> str:
    return f"polled-{cable.b.name}" if PATHS[tcp.path].polled else cable.b.name


def _on_sockets(tcp: Tcp) -> tuple[str, ...]:
    """Return the hosts on vhost-user ports."""
    return guest_names(tcp) if PATHS[tcp.path].guests is InterfaceKind.VHOST else ()
