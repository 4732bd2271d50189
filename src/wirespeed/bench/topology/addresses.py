# SPDX-License-Identifier: Apache-2.0
"""Assign addresses to ports and streams, and headers to frames along their path.

All MAC addresses are locally administered. Their low three octets are zero: a generator whose flows
differ in a MAC address counts up there. Rules then match only the upper three octets.
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.bench.topology.wiring import GENERATOR, SIDES, End, generator_mac
from wirespeed.model.study.spec import Traffic

_BLOCK_MASK = "ff:ff:ff:00:00:00"


def vnf_mac(index: int, side: str) -> str:
    """Return the address of a network function's port."""
    return f"02:01:{2 * index + SIDES.index(side):02x}:00:00:00"


@dataclass(frozen=True, slots=True)
class Header:
    """Ethernet addresses at one point of a frame's path; *_steps: they vary by flow."""

    src: str
    dst: str
    src_steps: bool = False
    dst_steps: bool = False

    @property
    def match(self) -> str:
        """Return the destination match that fits all of these frames and no others."""
        return f"{self.dst}/{_BLOCK_MASK}" if self.dst_steps else self.dst

    def swapped(self) -> Header:
        return Header(self.dst, self.src, self.dst_steps, self.src_steps)


def mac_of(end: End) -> str:
    """Return the address of a port of the generator or of a network function."""
    if end.owner == GENERATOR:
        return generator_mac(end.port)
    return vnf_mac(int(end.owner.removeprefix("vnf")), end.port)


def stream_ips(number: int, version: int) -> tuple[str, str]:
    """Return source and destination of a stream's first flow, unique to the stream.

    198.18.0.0/15: RFC 2544 appendix C.2.2; 2001:2::/48: RFC 5180 section 8.
    """
    if version == 4:
        return f"198.18.{number}.1", f"198.19.{number}.1"
    return f"2001:2:0:{number:x}::1", f"2001:2:0:8{number:03x}::1"


def flows_of_each(traffic: Traffic, streams: int) -> int:
    """Return the number of flows of each of a direction's streams.

    Frames of a replayed file are one flow: their headers stay unchanged.
    """
    return 1 if traffic.pcap is not None else max(1, traffic.flows // streams)
