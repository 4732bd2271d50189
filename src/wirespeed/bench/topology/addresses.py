# SPDX-License-Identifier: Apache-2.0
"""Which MAC address has each port, and what does a frame's header hold along its way?

All addresses are locally administered. Their low three octets are zero: a generator whose flows
differ in a MAC address counts up there, and rules then match the upper three octets alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.bench.topology.wiring import EAST, PORTS, SIDES, WEST
from wirespeed.model.bng import FIRST_HOP_MAC, FIRST_MAC, mac_text
from wirespeed.model.spec import PointSpec, TopologyKind

_BLOCK_MASK = "ff:ff:ff:00:00:00"


def generator_mac(port: str) -> str:
    """The address of a port of the generator."""
    return f"02:00:{PORTS.index(port):02x}:00:00:00"


def vnf_mac(index: int, side: str) -> str:
    """The address of a port of a network function."""
    return f"02:01:{2 * index + SIDES.index(side):02x}:00:00:00"


def gateway_macs(spec: PointSpec) -> tuple[str, str]:
    """A gateway's addresses: on the subscribers' side and on the network's.

    They are what streams are sent to, whether there is a gateway or another function instead.
    """
    if spec.topology.kind is TopologyKind.PVP:
        return vnf_mac(0, SIDES[0]), vnf_mac(0, SIDES[1])
    return generator_mac(WEST), generator_mac(EAST)


def beyond_gateway(side: str) -> str:
    """The block of those that a gateway sends to on this side: subscribers, or next hops."""
    return mac_text(FIRST_MAC if side == SIDES[0] else FIRST_HOP_MAC)


@dataclass(frozen=True, slots=True)
class Header:
    """The Ethernet addresses at one point of a frame's way; *_steps: they vary by flow."""

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
