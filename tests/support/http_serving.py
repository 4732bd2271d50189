# SPDX-License-Identifier: Apache-2.0
"""Serve HTTP from a thread of the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer


@contextmanager
def serving_thread(server: HTTPServer) -> Iterator[int]:
    """Serve while the block runs; yield the port. Closes the server."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
