# SPDX-License-Identifier: Apache-2.0
"""Test answers to other clients while connections always have more work than a turn allows.

No time is asserted: the others are answered during the flood, and a loop's turns are counted."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.waiting import until
from tests.support.websocket import PING, frame, upgrade

from .certificates import Certificate, make_certificate
from .conftest import PATIENCE_S, Serve, Server
from .h2_client import H2Client
from .test_http import ask
from .test_iperf3 import iperf3, lasting_test

# Of net/src/turn.rs.
REQUESTS_A_TURN = 16
FRAMES_A_TURN = 256
DATAGRAMS_A_TURN = 64
OTHER_ANSWERS = 20
# Without a budget these would take a few hundred turns: one for each piece that a socket takes.
ENOUGH = 20_000
GET = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
H2_PING = struct.pack(">BHBBI", 0, 8, 6, 0, 0) + b"12345678"
H2_PONG = struct.pack(">BHBBI", 0, 8, 6, 1, 0) + b"12345678"
H2_SETTINGS = struct.pack(">BHBBI", 0, 0, 4, 0, 0)
H2_SETTINGS_ACK = struct.pack(">BHBBI", 0, 0, 4, 1, 0)


class Flood:
    """Sends one piece again and again in a thread of its own, and counts answers.

    again: opens the next connection where the server has ended one.
    """

    def __init__(
        self,
        link: socket.socket,
        piece: bytes,
        answer: bytes,
        again: Callable[[], socket.socket] | None = None,
    ):
        self.link = link
        self.piece = piece
        self.answer = answer
        self.again = again
        self.unsent = b""
        self.sent_bytes = 0
        self.answers = 0
        self.closed = False
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def pieces_sent(self) -> int:
        return self.sent_bytes // len(self.piece)

    def _run(self) -> None:
        self._send()
        while self.closed and self.again is not None and not self.stopped.is_set():
            self.link.close()
            self.link, self.unsent, self.closed = self.again(), b"", False
            self._send()

    def _send(self) -> None:
        """Send and count until the server ends the connection."""
        self.link.setblocking(False)
        many = self.piece * max(1, 16384 // len(self.piece))
        tail = b""
        while not self.stopped.is_set() and not self.closed:
            select.select([self.link], [self.link], [], 0.1)
            self.unsent = self.unsent or many
            try:
                sent = self.link.send(self.unsent)
                self.unsent = self.unsent[sent:]
                self.sent_bytes += sent
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError, BlockingIOError):
                pass
            except OSError:
                self.closed = True
            try:
                received = self.link.recv(1 << 18)
                self.closed |= received == b""
                text = tail + received
                self.answers += text.count(self.answer)
                # What may be the beginning of an answer, and is no whole one.
                tail = text[-len(self.answer) + 1 :]
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
                pass
            except OSError:
                self.closed = True


@contextmanager
def flooding(
    link: socket.socket,
    piece: bytes,
    answer: bytes,
    again: Callable[[], socket.socket] | None = None,
) -> Iterator[Flood]:
    flood = Flood(link, piece, answer, again)
    flood.thread.start()
    try:
        until(lambda: flood.answers > 0, "an answer to the flood")
        yield flood
    finally:
        flood.stopped.set()
        flood.thread.join()
        if again is not None:
            flood.link.close()


def turns(server: Server) -> float:
    """Return the turns of all loops so far."""
    page = ask(server, "GET", "/metrics", where="--metrics")[1].decode()
    name = "wirespeed_speedtest_turns_total{"
    return sum(float(line.split()[1]) for line in page.splitlines() if line.startswith(name))


def others_are_answered(server: Server, floods: list[Flood], a_turn: int) -> None:
    """Check that other clients are answered during the floods, and that turns keep their budget."""
    for _ in range(OTHER_ANSWERS):
        assert ask(server, "GET", "/metrics", where="--metrics")[0].status == 200
    last = [flood.answers for flood in floods]
    until(
        lambda: all(flood.answers > was for flood, was in zip(floods, last, strict=True)),
        "more answers to the flood",
    )
    until(lambda: sum(flood.answers for flood in floods) >= ENOUGH, "enough answers to the flood")
    answered = sum(flood.answers for flood in floods)
    assert answered <= turns(server) * a_turn


@pytest.fixture
def one_loop(tmp_path: Path) -> str:
    config = tmp_path / "speedtest.toml"
    # An ndt7 test that only sends pings is idle.
    config.write_text("[server]\nloops = 1\n[limits]\nidle_s = 600\n")
    return str(config)


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path, "server")


def connect(server: Server, protocol: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.ports[protocol]), PATIENCE_S)


@pytest.mark.parametrize("connections", [1, 2])
def test_pipelined_requests_leave_turns_to_others(
    serve: Serve, one_loop: str, connections: int
) -> None:
    server = serve("--config", one_loop, protocols=("--http", "--metrics", "--iperf3"))
    with ExitStack() as stack:
        links = [stack.enter_context(connect(server, "--http")) for _ in range(connections)]
        floods = [
            stack.enter_context(flooding(link, GET, b"HTTP/1.1 200 OK\r\n")) for link in links
        ]
        others_are_answered(server, floods, REQUESTS_A_TURN)
        last = [flood.answers for flood in floods]
        assert "error" not in iperf3(server, "-n", "20M")
        assert all(flood.answers > was for flood, was in zip(floods, last, strict=True))


def test_a_flood_of_pings_leaves_turns_to_others(serve: Serve, one_loop: str) -> None:
    server = serve("--config", one_loop, protocols=("--http", "--metrics"))
    with connect(server, "--http") as link:
        link.sendall(upgrade("/ndt/v7/upload"))
        with flooding(link, frame(PING, b"ping"), b"\x8a\x04ping") as flood:
            for _ in range(OTHER_ANSWERS):
                assert ask(server, "GET", "/metrics", where="--metrics")[0].status == 200
            last = flood.answers
            until(lambda: flood.answers > last, "more answers to the flood")
            until(lambda: flood.pieces_sent() >= ENOUGH * 5, "a flood")
        # One answer is for all pings of a turn (RFC 6455, 5.5.3), so what was read is counted: all
        # of it, once the last ping is answered.
        link.setblocking(True)
        link.sendall(flood.unsent + frame(PING, b"last"))
        read_until(link, b"\x8a\x04last")
        assert flood.pieces_sent() <= turns(server) * FRAMES_A_TURN


def read_until(link: socket.socket, end: bytes) -> None:
    received = b""
    while end not in received:
        chunk = link.recv(65536)
        assert chunk, f"the server closed before {end!r}"
        received = received[-len(end) :] + chunk


@pytest.mark.parametrize(
    ("piece", "answer"),
    [(H2_PING, H2_PONG), (H2_SETTINGS, H2_SETTINGS_ACK)],
    ids=["pings", "settings"],
)
def test_a_flood_of_http_2_frames_leaves_turns_to_others(
    serve: Serve, one_loop: str, certificate: Certificate, piece: bytes, answer: bytes
) -> None:
    options = ["--config", one_loop, *certificate.options]
    server = serve(*options, protocols=("--https", "--metrics"))

    def connected() -> socket.socket:
        return H2Client(server.ports["--https"], certificate).socket

    with flooding(connected(), piece, answer, again=connected) as flood:
        others_are_answered(server, [flood], FRAMES_A_TURN)


def test_a_flood_of_resets_ends_the_connection_and_nothing_else(
    serve: Serve, one_loop: str, certificate: Certificate
) -> None:
    options = ["--config", one_loop, *certificate.options]
    server = serve(*options, protocols=("--https", "--metrics"))
    with H2Client(server.ports["--https"], certificate) as client:
        for _ in range(2000):
            client.machine.reset_stream(client.ask("GET", "/health"))
            client.send()
            if client.closed:
                break
    for _ in range(OTHER_ANSWERS):
        assert ask(server, "GET", "/metrics", where="--metrics")[0].status == 200


def test_a_flood_of_datagrams_leaves_turns_to_others(serve: Serve, one_loop: str) -> None:
    server = serve("--config", one_loop, protocols=("--iperf3", "--metrics"))
    with lasting_test(server, "-u", "-b", "0", "-l", "64"):
        until(lambda: turns(server) > 1000, "datagrams")
        for _ in range(OTHER_ANSWERS):
            assert ask(server, "GET", "/metrics", where="--metrics")[0].status == 200
    counted = server.next_event("test ended early")["directions"][0]
    # Those that the socket lost while the server had no CPU were never in a turn.
    received = counted["packets"] - counted["lost"]
    assert 0 < received <= turns(server) * DATAGRAMS_A_TURN
