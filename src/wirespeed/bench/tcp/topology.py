# SPDX-License-Identifier: Apache-2.0
"""Which hosts, cables and vSwitch rules does TCP traffic need?

Pure. The server is one host; every client is another. Over `veth` each client has a cable and a
subnet of its own with the server; over `ovs` all are plugged into one vSwitch and share a subnet
(198.18.0.0/15 is set aside for measurements, RFC 2544 appendix C.2.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.bench.network import Cable, Port
from wirespeed.bench.topology.wiring import Flow, Wiring
from wirespeed.bench.vswitch.ports import SwitchPort
from wirespeed.model.tcp import Tcp, TcpPath

SERVER, SWITCH = "server", "switch"


@dataclass(frozen=True, slots=True)
class Hosts:
    """namespace: of each host by its name. clients: each with the server's address for it."""

    cables: tuple[Cable, ...]
    clients: tuple[tuple[str, str], ...]

    @property
    def ports(self) -> tuple[Port, ...]:
        """The ports of clients and server (a vSwitch's have no address)."""
        return tuple(end for cable in self.cables for end in cable.ends if end.ip is not None)


def client_names(tcp: Tcp) -> tuple[str, ...]:
    return tuple(f"client{number}" for number in range(tcp.clients))


def host_names(tcp: Tcp) -> tuple[str, ...]:
    """Every namespace that is needed."""
    switch = (SWITCH,) if tcp.path.has_vswitch else ()
    return (SERVER, *client_names(tcp), *switch)


def hosts(tcp: Tcp, namespace: dict[str, str]) -> Hosts:
    """The cables between the hosts, and where each client finds the server."""
    return _cabled(tcp, namespace) if tcp.path is TcpPath.VETH else _switched(tcp, namespace)


def _cabled(tcp: Tcp, namespace: dict[str, str]) -> Hosts:
    cables, clients = [], []
    for number, name in enumerate(client_names(tcp)):
        server = Port(namespace[SERVER], f"eth{number}", _mac(0, number), f"198.18.{number}.1")
        client = Port(namespace[name], "eth0", _mac(1, number), f"198.18.{number}.2")
        cables.append(Cable(client, server))
        clients.append((name, f"198.18.{number}.1"))
    return Hosts(tuple(cables), tuple(clients))


def _switched(tcp: Tcp, namespace: dict[str, str]) -> Hosts:
    cables = []
    for number, name in enumerate((SERVER, *client_names(tcp))):
        host = Port(namespace[name], "eth0", _mac(1, number), f"198.18.0.{1 + number}")
        cables.append(Cable(host, Port(namespace[SWITCH], name, _mac(2, number))))
    return Hosts(tuple(cables), tuple((name, "198.18.0.1") for name in client_names(tcp)))


def _mac(side: int, number: int) -> str:
    """Locally administered."""
    return f"02:00:00:00:{side:02x}:{number:02x}"


def switch_ports(cables: Sequence[Cable], tcp: Tcp) -> tuple[SwitchPort, ...]:
    """The vSwitch's ports, numbered from 1 in cable order: interfaces of its namespace."""
    make = _polled_port if tcp.path is TcpPath.OVS_PMD else _kernel_port
    return tuple(make(cable.b.name, number, tcp) for number, cable in enumerate(cables, start=1))


def _kernel_port(name: str, number: int, _tcp: Tcp) -> SwitchPort:
    return SwitchPort(name, number, "system", {}, "", False, False)


def _polled_port(name: str, number: int, tcp: Tcp) -> SwitchPort:
    """A port of DPDK's AF_PACKET driver, whose queues are sockets of one fan-out group."""
    devargs = f"net_af_packet{number},iface={name},qpairs={tcp.queues}"
    options = {"dpdk-devargs": devargs, "n_rxq": str(tcp.queues)}
    return SwitchPort(f"dpdk-{name}", number, "dpdk", options, "", False, False)


def switch_wiring(cables: Sequence[Cable], tcp: Tcp) -> Wiring:
    """The server's frames go to the client they are for, the clients' to the server."""
    names = [port.name for port in switch_ports(cables, tcp)]
    server, clients = cables[0], zip(cables[1:], names[1:], strict=True)
    flows = []
    for client, port in clients:
        flows.append(Flow(names[0], client.a.mac, port))
        flows.append(Flow(port, server.a.mac, names[0]))
    return Wiring(cables=(), streams=(), flows=tuple(flows))
