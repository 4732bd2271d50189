# SPDX-License-Identifier: Apache-2.0
"""Count the octets of payload that have reached the receiving hosts.

The counters are those at the far end of the hosts' cables. One file holds them all and is read
together with the noise counters, so that no clocks must be compared. Where no interface of the
bench's host sees all traffic, the file is on the server's machine. An IPv4 segment with TCP time
stamps has 66 octets of headers; so has a large one that offloads keep whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.bench.topology.tcp import Port, TcpCable
from wirespeed.model.study.tcp import TcpDirection
from wirespeed.remote.interface import Runner

_HEADERS = 14 + 20 + 32
# Columns after the name: octets and packets received, octets and packets sent.
_RX, _TX = (0, 1), (8, 9)


@dataclass(frozen=True, slots=True)
class CounterFile:
    """A file of counters on the bench's host, or on another machine."""

    path: str
    elsewhere: Runner | None = field(default=None, kw_only=True)
    """Machine of the file; None for the bench's host."""

    @property
    def here(self) -> tuple[str, ...]:
        """Files to read on the bench's host for `text`."""
        return (self.path,) if self.elsewhere is None else ()

    def text(self, found: Mapping[str, str | OSError]) -> str | OSError:
        """Return the content of `path`. found: files that were read on the bench's host."""
        if self.elsewhere is None:
            return found[self.path]
        return self.elsewhere.read_many((self.path,))[self.path]


@dataclass(frozen=True, slots=True)
class PortCounters(CounterFile):
    """Counters of ports, in /proc/PID/net/dev of the process whose namespace has them."""

    down: tuple[str, ...]
    """Ports that carry traffic towards the clients."""
    up: tuple[str, ...]
    """Ports that carry traffic towards the server."""
    up_columns: tuple[int, int]

    def payload(self, text: str) -> dict[str, int]:
        """Return octets by direction, from the content of `path`."""
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
    """Return the counters of the server's ports, read from its namespace."""
    names = tuple(port.name for port in ports)
    return PortCounters(f"/proc/{pid}/net/dev", names, names, _RX, elsewhere=elsewhere)


def switch_ports(cables: Sequence[TcpCable], switch_pid: int) -> PortCounters:
    """Return the counters of the vSwitch's ports. cables: into the vSwitch, the server's first."""
    server, *clients = (cable.b.name for cable in cables)
    return PortCounters(f"/proc/{switch_pid}/net/dev", tuple(clients), (server,), _TX)


def clients_ports(cables: Sequence[TcpCable], switch_pid: int) -> PortCounters:
    """Return the counters of clients' ports, where the server's cable is no kernel interface."""
    names = tuple(cable.b.name for cable in cables[1:])
    return PortCounters(f"/proc/{switch_pid}/net/dev", names, names, _RX)
