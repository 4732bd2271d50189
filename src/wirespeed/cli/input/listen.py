# SPDX-License-Identifier: Apache-2.0
"""Read an address and a port to listen on; one that others can reach needs --public."""

from __future__ import annotations

import ipaddress
import socket

from wirespeed.model.errors import BadInput


def listen_address(
    listen: str, *, public: bool, why: str
) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    """Return address and port. why: what others could do there. Raises BadInput."""
    host, _, port = listen.rpartition(":")
    try:
        named = socket.gethostbyname(host) if host == "localhost" else host.strip("[]")
        address = ipaddress.ip_address(named)
        number = int(port)
        if not 0 <= number <= 65535:
            raise ValueError(port)
    except (ValueError, OSError) as fault:
        raise BadInput(
            f"--listen {listen}: not an address and a port", "E.g. --listen 127.0.0.1:9811."
        ) from fault
    if not address.is_loopback and not public:
        raise BadInput(
            f"--listen {listen}: others can reach this address",
            f"Give --public to allow that; {why}.",
        )
    return address, number
