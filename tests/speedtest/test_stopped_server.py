# SPDX-License-Identifier: Apache-2.0
"""The host gives the server no CPU for longer than its time limits, e.g. while it is migrated.

A client that sent meanwhile gets its answer: the limits are for the client, not for the server.
"""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from .certificates import make_certificate
from .conftest import PATIENCE_S, Serve, Server
from .h2_client import H2Client

LIMITS = "[limits]\npending_s = 1\nstep_s = 1\n"
LONGER_S = 1.5


@contextmanager
def stopped(server: Server) -> Iterator[None]:
    """Stop the server for the block, and for longer than its limits."""
    server.process.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    try:
        yield
        time.sleep(max(0.0, begun + LONGER_S - time.monotonic()))
    finally:
        server.process.send_signal(signal.SIGCONT)


def test_http1_request_that_came_meanwhile_is_answered(limited: Serve) -> None:
    server = limited(LIMITS, protocols=("--http",))
    client = HTTPConnection("127.0.0.1", server.ports["--http"], PATIENCE_S)
    client.request("GET", "/health")
    assert client.getresponse().read() == b"ok\n"
    with stopped(server):
        client.request("GET", "/health")
    assert client.getresponse().read() == b"ok\n"


def test_http2_request_that_came_meanwhile_is_answered(limited: Serve, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path, "server")
    server = limited(LIMITS, *certificate.options, protocols=("--https",))
    with H2Client(server.ports["--https"], certificate) as client:
        assert client.answer(client.ask("GET", "/health")).body == b"ok\n"
        with stopped(server):
            stream = client.ask("GET", "/health")
        assert client.answer(stream).body == b"ok\n"


def test_tls_handshake_goes_on_afterwards(limited: Serve, tmp_path: Path) -> None:
    """A server's first handshake takes it some 40 ms: these moments are before, in and after it."""
    certificate = make_certificate(tmp_path, "server")
    for after_s in (0.01, 0.02, 0.03):
        server = limited(LIMITS, *certificate.options, protocols=("--https",))
        link = socket.create_connection(("127.0.0.1", server.ports["--https"]), PATIENCE_S)

        def stop(server: Server = server, after_s: float = after_s) -> None:
            time.sleep(after_s)
            with stopped(server):
                pass

        stopping = threading.Thread(target=stop)
        stopping.start()
        with certificate.trusting("http/1.1").wrap_socket(link, server_hostname="127.0.0.1") as tls:
            tls.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
            assert tls.recv(15) == b"HTTP/1.1 200 OK"
        stopping.join()
