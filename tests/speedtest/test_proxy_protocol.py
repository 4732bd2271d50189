# SPDX-License-Identifier: Apache-2.0
"""Test clients behind a proxy that names them (PROXY protocol)."""

from __future__ import annotations

import json
import socket
import struct
from pathlib import Path

import pytest

from .conftest import Serve, Server
from .test_admission import PARAM_EXCHANGE, connect, cookie
from .test_iperf3_faults import framed, goodbye

V1 = b"PROXY TCP4 192.0.2.7 127.0.0.1 56324 80\r\n"
V2 = (
    b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"
    + socket.inet_aton("192.0.2.7")
    + socket.inet_aton("127.0.0.1")
    + struct.pack(">HH", 56324, 80)
)


@pytest.fixture
def proxied(tmp_path: Path, serve: Serve) -> Server:
    """Serve HTTP and iperf3 behind a proxy at 127.0.0.9."""
    path = tmp_path / "speedtest.toml"
    path.write_text(
        '[proxies]\ntrusted = ["127.0.0.9"]\n'
        + "".join(
            f'[[{name}]]\nlisten = "127.0.0.1:0"\nproxy_protocol = true\n'
            for name in ("http", "iperf3")
        )
    )
    return serve("--config", str(path), protocols=())


@pytest.mark.parametrize("head", [V1, V2], ids=["v1", "v2"])
def test_a_proxy_names_its_client_before_the_first_byte(proxied: Server, head: bytes) -> None:
    with connect(proxied, "127.0.0.9", "--http") as peer:
        for byte in head[:-4]:
            peer.sendall(bytes([byte]))
        peer.sendall(head[-4:] + b"GET /getIP HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        answer = goodbye(peer)
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["processedString"] == "192.0.2.7"
    with connect(proxied, "127.0.0.9") as peer:
        peer.sendall(head + cookie())
        assert peer.recv(1) == PARAM_EXCHANGE
        peer.sendall(framed(b"no json"))
        assert proxied.next_event("test failed")["client"] == "192.0.2.7:56324"


def test_proxy_headers_of_untrusted_peers_are_refused(proxied: Server) -> None:
    with connect(proxied, "127.0.0.1", "--http") as peer:
        assert goodbye(peer) == b""
    assert "proxies.trusted" in proxied.next_event("connection refused")["because"]
    with connect(proxied, "127.0.0.9", "--http") as peer:
        peer.sendall(b"GET /getIP HTTP/1.1\r\nHost: a\r\n\r\n")
        assert goodbye(peer) == b""
    assert "PROXY" in proxied.next_event("connection refused")["because"]
