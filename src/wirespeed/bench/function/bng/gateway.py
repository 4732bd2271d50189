# SPDX-License-Identifier: Apache-2.0
"""Define the tables and addresses that all tasks of a gateway test share.

docs/reference/bng.md describes the keys. Subscribers are at the generator's east port, the network
is at its west port.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from wirespeed.bench.topology.wiring import EAST, SIDES, Stream
from wirespeed.model.study.bng import FIRST_HOP_MAC, FIRST_MAC, mac_text, table_lines
from wirespeed.model.study.gateway import Bng
from wirespeed.model.study.spec import Frames
from wirespeed.remote.interface import Runner

# Addresses from the documentation range (RFC 5737) and from the subscribers' network.
_LOCAL_IP, _GATEWAY_IP = "192.0.2.1", "10.0.0.1"
NAME = "bng"
# Routes are an array over all /24s (pktlib/bng/lpm.h). A subscriber takes 35 octets where tags are
# consecutive (measured), twice that where they are hashed. The test itself keeps 32 octets of each
# subscriber at two senders and two receivers. A balancer in front of several workers takes one
# octet for each pair of tags.
_ROUTES_BYTES, _ENTRY_BYTES, _BALANCER_BYTES = 40 << 20, 256, 16 << 20


class GatewaySender(Protocol):
    """A stream of the generator, as far as frame content needs it (traffic/frames/content.py)."""

    @property
    def stream(self) -> Stream: ...


@dataclass(frozen=True, slots=True)
class Gateway:
    """Gateway of a test, and the content of frames that the generator sends and checks."""

    bng: Bng
    frame: str
    """Frame sizes as written in a study."""
    tables: str
    """Path of the file with subscribers and routes."""
    gateway_mac: str
    inet_mac: str
    translates: bool
    """True if the function under test is a gateway, not a plain forwarder."""
    workers: int = 1
    """Number of the function's workers."""

    def prepare(self, runner: Runner) -> None:
        """Write the file that all tasks read."""
        runner.write(self.tables, "\n".join(table_lines(self.bng.tables)) + "\n")

    def function_keys(self, *, upstream: bool) -> Mapping[str, str]:
        """Return the keys of task bng_up or bng_down."""
        return self._shared() | ({"gateway_ip": _GATEWAY_IP} if upstream else {})

    def sender_keys(self, sender: GatewaySender) -> Mapping[str, str]:
        """Return the keys of a sender; each sends for all subscribers."""
        from_port = sender.stream.from_port
        keys = self._shared() | self._order(from_port) | {"frame": self.frame}
        if from_port == EAST and self.bng.arp_every and self.translates:
            keys["arp_every"] = str(self.bng.arp_every)
        return keys

    def receiver_keys(self, from_port: str, _flows: int) -> Mapping[str, str]:
        """Return the keys of the sink of frames that were sent from this port."""
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


def gateway_of(frames: Frames, run_dir: PurePosixPath, entries: tuple[str, str]) -> Gateway | None:
    """Return the gateway of this point's test; None where frames are not a gateway's.

    entries: destination addresses of frames from east and from west.
    """
    if frames.bng is None:
        return None
    gateway_mac, inet_mac = entries
    return Gateway(
        frames.bng,
        frames.traffic.frame.text,
        str(run_dir / "bng-tables.txt"),
        gateway_mac,
        inet_mac,
        frames.sut.vnf.kind == NAME,
        frames.sut.vnf.workers,
    )


def tables_bytes(frames: Frames) -> int:
    """Return the size of a gateway's tables plus the generator's state, in bytes."""
    if frames.bng is None:
        return 0
    workers = frames.sut.vnf.workers
    balancer = _BALANCER_BYTES if workers > 1 else 0
    entries = (frames.bng.users + workers * frames.bng.routes) * _ENTRY_BYTES
    return balancer + workers * _ROUTES_BYTES + entries


def beyond(side: str) -> str:
    """Return the address block that a gateway sends to on this side: subscribers or next hops."""
    return mac_text(FIRST_MAC if side == SIDES[0] else FIRST_HOP_MAC)
