# SPDX-License-Identifier: Apache-2.0
"""Define the port attachments of cable endpoints, independent of switch and program.

A port attachment defines what the program at this endpoint must do. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VirtioUser:
    """Virtio side of vhost-user."""

    socket: str
    serves: bool = False
    """True if this side makes the socket and the other one connects."""


@dataclass(frozen=True, slots=True)
class VhostUser:
    """Vhost side of vhost-user, which makes the socket."""

    socket: str


@dataclass(frozen=True, slots=True)
class Interface:
    """Kernel network interface in this network namespace; None for the host's own."""

    name: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """Existing DPDK device, by PCI address or device string."""

    devargs: str


@dataclass(frozen=True, slots=True)
class GuestNic:
    """NIC of the virtual machine in which the program runs, by its MAC address.

    Its PCI address is known once the machine runs.
    """

    mac: str


@dataclass(frozen=True, slots=True)
class Rings:
    """One ring for each direction within a process, named from this endpoint's view."""

    receive: str
    transmit: str


Plug = VirtioUser | VhostUser | Interface | Device | GuestNic | Rings
