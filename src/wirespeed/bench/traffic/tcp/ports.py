# SPDX-License-Identifier: Apache-2.0
"""How many octets of payload have reached the receiving hosts so far?

From the ports' counters, seen at the far end of the hosts' cables: one file, read in the same
moment as what disturbed the programs, so that no two clocks have to be compared. Where no interface
of the bench's host sees all of the traffic, the file is one of the server's own machine. An IPv4
segment with TCP time stamps has 66 octets of headers, and so has a large one that offloads pass on
whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.topology.tcp import Port, TcpCable
from wirespeed.model.tcp import TcpDirection
from wirespeed.remote.interface import Runner

_HEADERS = 14 + 20 + 32
# Columns after the name: octets and packets received, octets and packets sent.
_RX, _TX = (0, 1), (8, 9)


@dataclass(frozen=True, slots=True)
class PortCounters:
    """path: /proc/PID/net/dev of the process whose namespace has the ports; elsewhere: on which
    machine, if not on the bench's host. down, up: the ports that send towards the clients, and
    towards the server; or that receive what goes there."""

    path: str
    down: tuple[str, ...]
    up: tuple[str, ...]
    up_columns: tuple[int, int]
    elsewhere: Runner | None = None

    @property
    def here(self) -> tuple[str, ...]:
        """What has to be read on the bench's host for `text`."""
        return (self.path,) if self.elsewhere is None else ()

    def text(self, found: Mapping[str, str | OSError]) -> str | OSError:
        """The content of `path`. found: what was read on the bench's host."""
        if self.elsewhere is None:
            return found[self.path]
        return self.elsewhere.read_many((self.path,))[self.path]

    def payload(self, text: str) -> dict[TcpDirection, int]:
        """Octets by direction, from the content of `path`."""
        rows = {
            name.strip(): [int(field) for field in fields.split()]
            for name, _, fields in (line.partition(":") for line in text.splitlines()[2:])
        }
        return {
            TcpDirection.UP: _payload(rows, self.up, self.up_columns),
            TcpDirection.DOWN: _payload(rows, self.down, _TX),
        }


def _payload(rows: dict[str, list[int]], ports: tuple[str, ...], columns: tuple[int, int]) -> int:
    octets, packets = (sum(rows[port][column] for port in ports) for column in columns)
    return octets - _HEADERS * packets


def server_ports(ports: Sequence[Port], pid: int, elsewhere: Runner | None = None) -> PortCounters:
    """The server's ports, as a process beside it sees them."""
    names = tuple(port.name for port in ports)
    return PortCounters(f"/proc/{pid}/net/dev", names, names, _RX, elsewhere)


def switch_ports(cables: Sequence[TcpCable], switch_pid: int) -> PortCounters:
    """Cables into a vSwitch, the server's first: the vSwitch's ports."""
    server, *clients = (cable.b.name for cable in cables)
    return PortCounters(f"/proc/{switch_pid}/net/dev", tuple(clients), (server,), _TX)


def clients_ports(cables: Sequence[TcpCable], switch_pid: int) -> PortCounters:
    """The same where the server's cable is no interface of the kernel: the clients' alone."""
    names = tuple(cable.b.name for cable in cables[1:])
    return PortCounters(f"/proc/{switch_pid}/net/dev", names, names, _RX)
