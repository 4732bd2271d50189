# SPDX-License-Identifier: Apache-2.0
"""Define the factors that this project's router has as a switch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RouterPorts(StrEnum):
    """Type of the router's ports."""

    VHOST_USER = "vhost-user"
    VETH = "veth"


@dataclass(frozen=True, slots=True)
class WsdpRouter:
    """Keys of sut.vswitch.kind = "wsdp-router" alone."""

    ports: RouterPorts = RouterPorts.VHOST_USER
    """Type of the ports. vhost-user: rings in memory, as a NIC's are; veth: interfaces of the
    kernel, whose sockets sut.vswitch.driver chooses."""
