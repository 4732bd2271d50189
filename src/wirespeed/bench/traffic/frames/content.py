# SPDX-License-Identifier: Apache-2.0
"""Define the content of frames that the generator sends and checks, as keys of its tasks.

UDP frames and those of a file are here; other contents (function/bng/gateway.py) have the same
interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.topology.addresses import stream_ips
from wirespeed.bench.topology.wiring import Stream
from wirespeed.model.frame import Encapsulation
from wirespeed.model.study.spec import Traffic
from wirespeed.remote.interface import Runner

_TPID_QINQ = "0x88a8"


@dataclass(frozen=True, slots=True)
class Sender:
    """One of the `queues` generators of a stream with this many flows."""

    stream: Stream
    flows: int
    queue: int
    queues: int


class Content(Protocol):
    """Content of frames, as keys of the generator's tasks."""

    def prepare(self, runner: Runner) -> None:
        """Make what the tasks read, before any program starts."""
        ...

    def sender_keys(self, sender: Sender) -> Mapping[str, str]: ...

    def receiver_keys(self, from_port: str, flows: int) -> Mapping[str, str]:
        """Return the keys of the sink of frames that were sent from this port.

        flows: flows of each stream.
        """
        ...


@dataclass(frozen=True, slots=True)
class UdpFrames:
    """UDP in IP, or the unchanged frames of a capture file."""

    traffic: Traffic

    def prepare(self, _runner: Runner) -> None:
        """Do nothing: the tasks read no generated file."""

    def sender_keys(self, sender: Sender) -> Mapping[str, str]:
        if self.traffic.pcap is not None:
            return {"pcap": self.traffic.pcap}
        keys = _frame_keys(self.traffic) | _header_keys(self.traffic, sender.stream)
        keys["flows"] = str(sender.flows)
        if sender.queues > 1:
            keys |= {"rss_queues": str(sender.queues), "rss_queue": str(sender.queue)}
        return keys

    def receiver_keys(self, _from_port: str, flows: int) -> Mapping[str, str]:
        return {"flows": str(flows)}


def _frame_keys(traffic: Traffic) -> dict[str, str]:
    keys = {
        "frame": traffic.frame.text,
        "ip": str(traffic.ip_version),
        "flow_field": str(traffic.flow_field),
    }
    if traffic.encapsulation is not Encapsulation.NONE:
        keys["vlan"] = str(traffic.vlan_id)
    if traffic.encapsulation is Encapsulation.QINQ:
        keys |= {"inner_vlan": str(traffic.inner_vlan_id), "outer_tpid": _TPID_QINQ}
    return keys


def _header_keys(traffic: Traffic, stream: Stream) -> dict[str, str]:
    source, destination = stream_ips(stream.number, traffic.ip_version)
    macs = {"src_mac": stream.src_mac, "dst_mac": stream.dst_mac}
    return {**macs, "src_ip": source, "dst_ip": destination}
