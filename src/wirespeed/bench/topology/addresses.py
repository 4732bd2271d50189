# SPDX-License-Identifier: Apache-2.0
"""Which MAC address has each port, and what does a frame's header hold along its path?

All addresses are locally administered. Their low three octets are zero: a generator whose flows
differ in a MAC address counts up there, and rules then match the upper three octets alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.bench.topology.wiring import GENERATOR, SIDES, End, generator_mac

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
