# SPDX-License-Identifier: Apache-2.0
"""Which addresses has each port and stream, and what does a frame's header hold along its path?

All MAC addresses are locally administered. Their low three octets are zero: a generator whose flows
differ in a MAC address counts up there, and rules then match the upper three octets alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.bench.topology.wiring import GENERATOR, SIDES, End, generator_mac
from wirespeed.model.spec import Traffic

_BLOCK_MASK = "ff:ff:ff:00:00:00"


def vnf_mac(index: int, side: str) -> str:
    """The address of a port of a network function."""
    return f"02:01:{2 * index + SIDES.index(side):02x}:00:00:00"


@dataclass(frozen=True, slots=True)
class Header:
    """The Ethernet addresses at one point of a frame's path; *_steps: they vary by flow."""

    src: str
    dst: str
    src_steps: bool = False
    dst_steps: bool = False

    @property
    def match(self) -> str:
        """What a rule says of the destination to fit all of these frames and no others."""
        return f"{self.dst}/{_BLOCK_MASK}" if self.dst_steps else self.dst

    def swapped(self) -> Header:
        return Header(self.dst, self.src, self.dst_steps, self.src_steps)


def mac_of(end: End) -> str:
    """The address of a port of the generator or of a network function."""
    if end.owner == GENERATOR:
        return generator_mac(end.port)
    return vnf_mac(int(end.owner.removeprefix("vnf")), end.port)


def stream_ips(number: int, version: int) -> tuple[str, str]:
    """Source and destination of the first flow of a stream: each stream has its own.

    198.18.0.0/15: RFC 2544 appendix C.2.2; 2001:2::/48: RFC 5180 section 8.
    """
    if version == 4:
        return f"198.18.{number}.1", f"198.19.{number}.1"
    return f"2001:2:0:{number:x}::1", f"2001:2:0:8{number:03x}::1"


def flows_of_each(traffic: Traffic, streams: int) -> int:
    """Flows of each of a direction's streams. A replayed file's frames are one flow: its headers
    stay as they are."""
    return 1 if traffic.pcap is not None else max(1, traffic.flows // streams)
