# SPDX-License-Identifier: Apache-2.0
"""What do the tasks of a gateway's test have in common? Its tables and its addresses.

docs/reference/bng.md describes the keys. Subscribers are at the generator's east port, the network
is at its west one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wirespeed.bench.dpdk import Directories
from wirespeed.bench.topology.addresses import gateway_macs
from wirespeed.bench.topology.wiring import EAST
from wirespeed.model.bng import table_lines
from wirespeed.model.gateway import Bng
from wirespeed.model.spec import PointSpec, VnfKind
from wirespeed.remote.interface import Runner

# From the range set aside for documentation (RFC 5737), and the subscribers' own network.
_LOCAL_IP, _GATEWAY_IP = "192.0.2.1", "10.0.0.1"


@dataclass(frozen=True, slots=True)
class Gateway:
    """tables: the file. translates: the function under test is a gateway, not a plain forwarder.
    workers: how many it has."""

    bng: Bng
    tables: str
    gateway_mac: str
    inet_mac: str
    translates: bool
    workers: int = 1

    def write_tables(self, runner: Runner) -> None:
        runner.write(self.tables, "\n".join(table_lines(self.bng.tables)) + "\n")

    def function_keys(self, *, upstream: bool) -> Mapping[str, str]:
        """Of bng_up, or of bng_down."""
        return self._shared() | ({"gateway_ip": _GATEWAY_IP} if upstream else {})

    def sender_keys(self, from_port: str, frame: str) -> Mapping[str, str]:
        keys = self._shared() | self._order(from_port) | {"frame": frame}
        if from_port == EAST and self.bng.arp_every and self.translates:
            keys["arp_every"] = str(self.bng.arp_every)
        return keys

    def receiver_keys(self, from_port: str) -> Mapping[str, str]:
        """Of the sink of frames that were sent from this port."""
        between = "yes" if self.translates else "no"
        return self._shared() | self._order(from_port) | {"gateway": between}

    def _shared(self) -> dict[str, str]:
        return {
            "tables": self.tables,
            "access": str(self.bng.access),
            "local_ip": _LOCAL_IP,
            "gateway_mac": self.gateway_mac,
            "inet_mac": self.inet_mac,
        }

    def _order(self, from_port: str) -> dict[str, str]:
        return {"bng": "up" if from_port == EAST else "down", "order": str(self.bng.order)}


def gateway_of(spec: PointSpec, dirs: Directories) -> Gateway | None:
    """The gateway of this point's test; None where frames are not a gateway's."""
    if spec.bng is None:
        return None
    gateway_mac, inet_mac = gateway_macs(spec)
    return Gateway(
        spec.bng,
        str(dirs.run / "bng-tables.txt"),
        gateway_mac,
        inet_mac,
        spec.sut.vnf.kind is VnfKind.BNG,
        spec.sut.vnf.workers,
    )
