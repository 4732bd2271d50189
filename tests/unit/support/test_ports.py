# SPDX-License-Identifier: Apache-2.0
"""Test the reservation of ports in a network namespace that has few of them."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ports import reserved_port

# Draws all remaining ports by binding to port 0, without SO_REUSEADDR and with it.
DRAW_ALL = """
import socket
from pathlib import Path
from tests.support.ports import reserved_port
Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("40000 40063")
reserved = [reserved_port() for _ in range(8)]
drawn = []
for reuse in (0, 1):
    sockets = []
    try:
        while True:
            sockets.append(socket.socket())
            sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
            sockets[-1].bind(("127.0.0.1", 0))
            drawn.append(sockets[-1].getsockname()[1])
    except OSError:
        pass
    for each in sockets:
        each.close()
assert len(set(reserved)) == 8, reserved
assert len(drawn) > 60, drawn
assert not set(reserved) & set(drawn), (reserved, drawn)
"""


@pytest.mark.root
def test_reserved_port_is_given_to_nobody_else() -> None:
    words = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    subprocess.run(
        [*words, sys.executable, "-c", DRAW_ALL], cwd=Path(__file__).parents[3], check=True
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_reserved_port_refuses_until_a_server_listens(host: str) -> None:
    port = reserved_port(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as client:
        assert client.connect_ex((host, port)) != 0
    with (
        socket.create_server((host, port), family=family),
        socket.create_connection((host, port)),
    ):
        pass
