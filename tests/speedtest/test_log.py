# SPDX-License-Identifier: Apache-2.0
"""Test that the log blocks nothing: a pipe that nobody reads, floods of one type of line."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.ports import reserved_port
from tests.support.waiting import until

from .conftest import PATIENCE_S, Event, Serve, Server
from .test_http import ask
from .test_ndt7 import UPLOAD, connect, upload
from .test_results import metric


@contextmanager
def with_a_full_pipe(binary: Path) -> Iterator[tuple[Server, int]]:
    """Start a server whose stderr takes nothing; return it and the unread end of that pipe."""
    unread, full = os.pipe()
    ports = {"--http": reserved_port(), "--metrics": reserved_port()}
    addresses = [word for name, port in ports.items() for word in (name, f"127.0.0.1:{port}")]
    fcntl.fcntl(full, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(full, False)
    with suppress(BlockingIOError):
        while os.write(full, b"\n" * 4096):
            pass
    os.set_blocking(full, True)
    command = [str(binary), "serve", "--log", "json", "--max-tests", "1", "--queue", "0"]
    process = subprocess.Popen([*command, *addresses], stderr=full)
    os.close(full)
    try:
        server = Server(process, None, ports)  # type: ignore[arg-type]
        until(lambda: answers(server), "the server listens")
        yield server, unread
    finally:
        process.kill()
        process.wait()
        os.close(unread)


def answers(server: Server) -> bool:
    with suppress(OSError):
        return ask(server, "GET", "/health")[0].status == 200
    return False


def refuse(server: Server, count: int) -> None:
    """Have this many tests refused, each with a line in the log."""
    for _ in range(count):
        with connect(server, UPLOAD + "&congestion=none"):
            pass


def test_a_pipe_that_nobody_reads_stops_neither_tests_nor_the_end(binary: Path) -> None:
    with with_a_full_pipe(binary) as (server, _):
        refuse(server, 300)
        with connect(server, UPLOAD) as peer:
            upload(peer, 4)
        assert metric(server, "tests_finished_total") == 1
        assert metric(server, "tests_refused_total") == 300
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE_S) == 0


def test_lines_of_one_kind_are_limited_and_their_number_is_reported(serve: Serve) -> None:
    server = serve(protocols=("--http", "--metrics"))
    count = 0
    while metric(server, "log_lines_suppressed_total") == 0:
        refuse(server, 100)
        count += 100
        assert count < 100_000
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(PATIENCE_S) == 0
    events: list[Event] = []
    while not events or events[-1]["event"] != "stopped":
        events.append(server.events.get(timeout=PATIENCE_S))
    server_told = [event for event in events if event["event"] == "more suppressed"]
    rest = server.next_event("more suppressed")["lines"] if not server_told else 0
    written = sum(event["event"] == "test refused" for event in events)
    assert written + rest + sum(event["lines"] for event in server_told) == count
