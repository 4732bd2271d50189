# SPDX-License-Identifier: Apache-2.0
"""Reserve TCP ports for servers that can neither inherit a socket nor report their port.

The kernel chooses the port, and a socket that is bound to it but does not listen keeps it. The
kernel gives the port to no other process and refuses connections until a server listens. A server
that sets SO_REUSEADDR may listen there (bind(2) lets such sockets share a port on which none
listens); iperf3, PostgreSQL, RabbitMQ, epmd, waitress and eventlet do.
"""

from __future__ import annotations

import socket

_RESERVED: list[socket.socket] = []


def reserved_port(host: str = "127.0.0.1") -> int:
    """Reserve a port of this address until this process ends."""
    keeper = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind((host, 0))
    _RESERVED.append(keeper)
    return int(keeper.getsockname()[1])
