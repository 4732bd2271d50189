# SPDX-License-Identifier: Apache-2.0
"""Send frames to an address in each prefix of a generated routing table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from wirespeed.bench.routing.destinations import destinations
from wirespeed.bench.routing.table import RoutingTable, backup_mac
from wirespeed.bench.topology.wiring import PORTS, Stream, generator_mac
from wirespeed.bench.traffic.frames.content import Sender, UdpFrames
from wirespeed.model.study.spec import Traffic
from wirespeed.remote.interface import Runner

# Flows whose gaps a sink records at most, and its paths by their place in `paths`.
TRACKED_FLOWS = 65_536
PRIMARY, BACKUP = range(2)
# Keys of a generator whose flows count up in a field.
_NOT_LISTED = ("flows", "flow_field", "dst_ip")


@dataclass(frozen=True, slots=True)
class PrefixFrames:
    """UDP in IP, each flow to the address of a file. Streams of a direction share its prefixes."""

    traffic: Traffic
    table: RoutingTable
    streams: Sequence[Stream]
    run_dir: PurePosixPath

    def prepare(self, runner: Runner) -> None:
        for stream in self.streams:
            addresses = self._addresses(stream)
            runner.write(self._path(stream), "".join(f"{address}\n" for address in addresses))

    def sender_keys(self, sender: Sender) -> Mapping[str, str]:
        keys = UdpFrames(self.traffic).sender_keys(sender)
        kept = {key: value for key, value in keys.items() if key not in _NOT_LISTED}
        return {**kept, "destinations": self._path(sender.stream)}

    def receiver_keys(self, from_port: str, _flows: int) -> Mapping[str, str]:
        stream = next(stream for stream in self.streams if stream.from_port == from_port)
        count = len(self._addresses(stream))
        keys = {"flows": str(count)}
        if self.table.routing.backup:
            mac = generator_mac(stream.to_port)
            keys |= {
                "track_flows": str(min(count, TRACKED_FLOWS)),
                "paths": f"{mac}, {backup_mac(mac)}",
            }
        return keys

    def _addresses(self, stream: Stream) -> Sequence[str]:
        """Return the destinations of a stream; those of one direction have equally many."""
        sharing = [each.number for each in self.streams if each.direction == stream.direction]
        port = PORTS.index(stream.to_port)
        found = destinations(self.table, self.traffic.ip_version, port)
        count, place = len(found) // len(sharing), sharing.index(stream.number)
        count = min(count, self.table.routing.destination_prefixes or count)
        return found[place * count : (place + 1) * count]

    def _path(self, stream: Stream) -> str:
        return str(self.run_dir / f"destinations{stream.number}")
