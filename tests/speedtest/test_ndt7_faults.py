# SPDX-License-Identifier: Apache-2.0
"""Test the server and concurrent clients against bad, slow and vanishing WebSocket peers."""

from __future__ import annotations

import json
import socket
import struct
from pathlib import Path

import pytest

from tests.support.websocket import CLOSE, PING, PONG, frame, masked_binary

from .conftest import PATIENCE_S, Serve, Server, wait_for_line
from .test_iperf3_faults import memory_kib
from .test_ndt7 import MEGABYTE, NORMAL, UPLOAD, connect, upload

DOWNLOAD = "/ndt/v7/download"


@pytest.fixture
def server(serve: Serve) -> Server:
    return serve(protocols=("--http",))


def still_serves(server: Server) -> None:
    with connect(server, UPLOAD) as peer:
        upload(peer, 1)
    assert server.process.poll() is None


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"\x82\x05hello", 1002),
        (frame(3), 1002),
        (frame(2, first_byte=0xC2), 1002),
        (frame(PING, b"x" * 126), 1002),
        (frame(PING, first_byte=0x09), 1002),
        (frame(0, b"out of nowhere"), 1002),
        (frame(2, b"a", first_byte=0x02) + frame(2, b"b"), 1002),
        (frame(1, b"\xff"), 1007),
        (frame(CLOSE, b"\x03"), 1002),
        (frame(1, b"x" * 20_000), 1009),
        (b"\x82\xff" + struct.pack(">Q", 2**24 + 1) + b"mask", 1009),
        (b"\xff" * 64, 1002),
    ],
    ids=[
        "not masked",
        "opcode",
        "reserved bit",
        "long ping",
        "ping in pieces",
        "continuation first",
        "message in a message",
        "not UTF-8",
        "half a close code",
        "long text",
        "long message",
        "garbage",
    ],
)
def test_a_violation_is_answered_with_its_close_code(
    server: Server, sent: bytes, code: int
) -> None:
    with connect(server, UPLOAD) as peer:
        peer.send(masked_binary(100_000) + sent)
        assert peer.close_code() == code
        assert peer.rest() == b""
    assert server.next_event("test ended early")["directions"][0]["bytes"] in range(100_002)
    still_serves(server)


@pytest.mark.parametrize("path", [UPLOAD, DOWNLOAD])
def test_a_client_that_vanishes_takes_only_its_own_test_with_it(server: Server, path: str) -> None:
    with connect(server, UPLOAD) as other:
        with connect(server, path) as peer:
            if path == UPLOAD:
                peer.send(masked_binary(MEGABYTE)[:-1])
            else:
                peer.receive()
            peer.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        event = server.next_event("test finished" if path == UPLOAD else "test ended early")
        assert event["directions"][0]["bytes"] < 2**33
        assert event["ended"] == ("left" if path == UPLOAD else "aborted")
        upload(other, 4)
    assert server.next_event("test finished")["directions"][0]["bytes"] == 4 * MEGABYTE


@pytest.mark.parametrize("rudely", [False, True], ids=["end of stream", "reset"])
def test_an_upload_whose_client_leaves_without_a_close_is_done(
    serve: Serve, tmp_path: Path, rudely: bool
) -> None:
    path = tmp_path / "results.jsonl"
    server = serve("--results", str(path), protocols=("--http",))
    with connect(server, UPLOAD) as peer:
        # A reset discards what has not left yet: so much leaves at once.
        peer.send(masked_binary(32 << 10))
        if rudely:
            peer.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    event = server.next_event("test finished")
    assert event["ended"] == "left"
    assert event["directions"][0]["bytes"] == 32 << 10
    record = json.loads(wait_for_line(path, PATIENCE_S))
    assert (record["ended"], record["directions"]) == ("left", event["directions"])
    with connect(server, UPLOAD) as peer:
        upload(peer, 1)
    assert server.next_event("test finished")["ended"] == "close"


def test_a_client_that_leaves_before_any_data_has_no_complete_result(server: Server) -> None:
    with connect(server, UPLOAD) as peer:
        peer.link.shutdown(socket.SHUT_WR)
        peer.rest()
    event = server.next_event("test ended early")
    assert (event["ended"], event["directions"][0]["bytes"]) == ("aborted", 0)
    assert "end of file" in event["because"]


def test_a_ping_is_answered_in_the_middle_of_an_upload(server: Server) -> None:
    with connect(server, UPLOAD) as peer:
        peer.send(masked_binary(MEGABYTE) + frame(PING, b"now"))
        assert peer.until(PONG) == b"now"
        upload(peer, 1)
    assert server.next_event("test finished")["directions"][0]["bytes"] == 2 * MEGABYTE


def test_a_flood_of_pings_without_reading_costs_no_memory(server: Server) -> None:
    before = memory_kib(server)
    with connect(server, UPLOAD) as peer:
        flood = b"".join(frame(PING, bytes([n % 256]) * 100) for n in range(2000))
        for _ in range(50):
            peer.send(flood)
        assert memory_kib(server) - before < 4096
        still_serves(server)
        peer.send(frame(CLOSE, NORMAL))
        assert peer.until(CLOSE) == NORMAL


def test_a_thousand_open_tests_cost_little(serve: Serve, tmp_path: Path) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\ntests_per_client = 0\nidle_s = 60\n")
    server = serve("--config", str(config), protocols=("--http",))
    before = memory_kib(server)
    peers = [connect(server, UPLOAD) for _ in range(1000)]
    try:
        assert all(peer.status == 101 for peer in peers)
        assert (memory_kib(server) - before) / len(peers) < 64
        still_serves(server)
    finally:
        for peer in peers:
            peer.link.close()
            peer.stream.close()


def test_a_client_that_never_answers_the_close_is_dropped(serve: Serve) -> None:
    server = serve("--max-duration", "1", protocols=("--http",))
    with connect(server, UPLOAD) as peer:
        assert peer.close_code() == 1000
        assert peer.rest() == b""
    server.next_event("test finished")
    with socket.create_connection(("127.0.0.1", server.ports["--http"]), PATIENCE_S):
        still_serves(server)
