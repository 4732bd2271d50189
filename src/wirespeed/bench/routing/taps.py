# SPDX-License-Identifier: Apache-2.0
"""Make the network namespace of a router of wsdp that follows a kernel, with a TAP for each port.

The kernel there has the routes; wsdp forwards by them and hands it the exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network import NAMESPACES, Network, inside
from wirespeed.bench.routing.kernel import RouterNamespace, forwarding_sysctls
from wirespeed.bench.routing.table import flow_hop_address, own_address
from wirespeed.bench.topology.wiring import PORTS


@dataclass(frozen=True, slots=True)
class TapPort:
    """A port of the router, as the kernel sees it."""

    number: int
    """0 east, 1 west."""
    mac: str
    """Address that frames are sent to there."""
    mtu: int
    target: str | None = None
    """Address of the next hops there; None where no frame leaves."""
    prefixes: tuple[str, ...] = ()
    """Destinations of the flows that leave there."""


@dataclass(frozen=True, slots=True)
class TapNamespace:
    """The namespace of one router."""

    host: Host
    tag: str
    router: str
    """Name of the function."""
    ports: tuple[TapPort, ...]
    versions: frozenset[int]
    """IP versions of its routes."""

    @property
    def name(self) -> str:
        return Network(self.host, self.tag).namespace(self.router)

    @property
    def path(self) -> str:
        """Return the file by which a program enters it."""
        return f"{NAMESPACES}/{self.name}"

    def make(self) -> None:
        """Make it with its ports, and the routes of the flows."""
        Network(self.host, self.tag).host(self.router)
        words = [*inside(self.name), "sysctl", "-q", "-w", *forwarding_sysctls(self.versions)]
        self.host.runner.run(words)
        known = sorted(self.versions)
        commands = [command for port in self.ports for command in _port_commands(port, known)]
        commands += [command for port in self.ports for command in _flow_commands(port)]
        RouterNamespace(self.host.runner, self.name).batch(commands)


def _port_commands(port: TapPort, versions: Iterable[int]) -> Iterable[str]:
    """Yield the commands of ip(8) that make a port with its addresses."""
    device = PORTS[port.number]
    yield f"tuntap add dev {device} mode tap"
    yield f"link set dev {device} address {port.mac} mtu {port.mtu} up"
    for version in versions:
        nodad = " nodad" if version == 6 else ""
        yield f"address replace {own_address(version, port.number)} dev {device}{nodad}"


def _flow_commands(port: TapPort) -> Iterable[str]:
    """Yield the commands that lead the flows to their next hop, which nobody asks by ARP."""
    device = PORTS[port.number]
    for version in sorted({6 if ":" in prefix else 4 for prefix in port.prefixes}):
        hop = flow_hop_address(version, port.number)
        yield f"neighbour replace {hop} dev {device} lladdr {port.target} nud permanent"
    for prefix in port.prefixes:
        hop = flow_hop_address(6 if ":" in prefix else 4, port.number)
        yield f"route add {prefix} via {hop} dev {device}"
