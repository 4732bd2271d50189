# SPDX-License-Identifier: Apache-2.0
"""How is one end of a cable plugged in? In words that fit any switch and any program.

A plug says what the program at this end has to do. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VirtioUser:
    """The virtio side of vhost-user. serves: this end makes the socket, the other one connects."""

    socket: str
    serves: bool = False


@dataclass(frozen=True, slots=True)
class VhostUser:
    """The vhost side of vhost-user, which makes the socket."""

    socket: str


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface of the kernel, in this network namespace (None: the host's own)."""

    name: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """A DPDK device that is there already, by PCI address or device string."""

    devargs: str


@dataclass(frozen=True, slots=True)
class GuestNic:
    """A NIC of the virtual machine that the program runs in, by its MAC address: at which PCI
    address it is, is known once the machine runs."""

    mac: str


@dataclass(frozen=True, slots=True)
class Rings:
    """A ring each way, both in one process. receive, transmit: their names, seen from this end."""

    receive: str
    transmit: str


Plug = VirtioUser | VhostUser | Interface | Device | GuestNic | Rings
