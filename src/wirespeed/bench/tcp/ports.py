# SPDX-License-Identifier: Apache-2.0
"""How many octets of payload have reached the receiving hosts so far?

From the ports' counters, seen at the far end of the hosts' cables: one file, read in the same
moment as what disturbed the programs, so that no two clocks have to be compared. An IPv4 segment
with TCP time stamps has 66 octets of headers, and so has a large one that offloads pass on whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.bench.network import Cable
from wirespeed.model.tcp import TcpDirection

_HEADERS = 14 + 20 + 32
# Columns after the name: octets and packets received, octets and packets sent.
_RX, _TX = (0, 1), (8, 9)


@dataclass(frozen=True, slots=True)
class PortCounters:
    """path: /proc/PID/net/dev of the process whose namespace has the ports. down, up: the ports
    that send towards the clients, and towards the server; or that receive what goes there."""

    path: str
    down: tuple[str, ...]
    up: tuple[str, ...]
    up_columns: tuple[int, int]

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


def server_ports(cables: tuple[Cable, ...], server_pid: int) -> PortCounters:
    """Cables from each client straight to the server: the server's ports."""
    names = tuple(cable.b.name for cable in cables)
    return PortCounters(f"/proc/{server_pid}/net/dev", names, names, _RX)


def switch_ports(cables: tuple[Cable, ...], switch_pid: int) -> PortCounters:
    """Cables into a vSwitch, the server's first: the vSwitch's ports."""
    server, *clients = (cable.b.name for cable in cables)
    return PortCounters(f"/proc/{switch_pid}/net/dev", tuple(clients), (server,), _TX)
