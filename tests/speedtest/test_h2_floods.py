# SPDX-License-Identifier: Apache-2.0
"""Test HTTP/2 overhead frames: beyond the allowance they end their own connection only."""

from __future__ import annotations

import select
import ssl
import struct
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from benchmarks.attacks import octets

from .certificates import Certificate, make_certificate
from .conftest import Serve, Server, running
from .h2_client import H2Client
from .test_results import metric

# Of proto/src/http2.rs: frames at once; beyond them 1000 a second.
AT_ONCE = 10_000
MEGABYTE = 1 << 20
ENHANCE_YOUR_CALM = 11
DATA, HEADERS, PRIORITY, SETTINGS, PING, GOAWAY = 0, 1, 2, 4, 6, 7
WINDOW_UPDATE, CONTINUATION, UNKNOWN = 8, 9, 0xBD
PADDED = 8


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def frames(octets: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield kind and payload of each whole frame."""
    at = 0
    while at + 9 <= len(octets):
        size = int.from_bytes(octets[at : at + 3], "big")
        yield octets[at + 3], octets[at + 9 : at + 9 + size]
        at += 9 + size


def many(piece: bytes) -> Callable[[int], bytes]:
    return lambda _: piece * 1000


FLOODS: dict[str, Callable[[int], bytes]] = {
    "settings": many(frame(SETTINGS, 0, 0)),
    "ping": many(frame(PING, 0, 0, b"12345678")),
    "window update": many(frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\1")),
    "priority": many(frame(PRIORITY, 0, 3, b"\0\0\0\0\x10")),
    "unknown": many(frame(UNKNOWN, 0, 0)),
    "empty data": many(frame(DATA, 0, 1)),
    "padding": many(frame(DATA, PADDED, 1, b"\x03\0\0\0")),
    "continuation": lambda sent: (
        (frame(HEADERS, 0, 3) if sent == 0 else b"") + frame(CONTINUATION, 0, 3) * 1000
    ),
    "rapid reset": lambda sent: octets.h2_rapid_resets(sent, 1000),
}


def flood(client: H2Client, piece: Callable[[int], bytes]) -> bytes:
    """Send until the server closes; return everything that it sent."""
    link, received, unsent, sent = client.socket, bytearray(), b"", 0
    link.setblocking(False)
    while True:
        select.select([link], [] if sent > AT_ONCE * 100 else [link], [])
        try:
            if not unsent:
                unsent, sent = piece(sent), sent + 1000
            unsent = unsent[link.send(unsent) :]
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError, BlockingIOError):
            pass
        except OSError:
            return bytes(received)
        try:
            chunk = link.recv(1 << 18)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            continue
        except OSError:
            chunk = b""
        if not chunk:
            return bytes(received)
        received += chunk


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"), "server")


@pytest.fixture(scope="module")
def server(binary: Path, certificate: Certificate) -> Iterator[Server]:
    with running(binary, ("--https",), list(certificate.options)) as started:
        yield started


@pytest.fixture(scope="module")
def ended(server: Server, certificate: Certificate) -> Mapping[str, Future[bytes]]:
    """Return what the server sent in each flood; all at once, because it lingers at each end."""

    def sent(name: str) -> bytes:
        with H2Client(server.ports["--https"], certificate) as client:
            if name in ("empty data", "padding"):
                client.ask("POST", "/nq/upload", with_body=True)
            return flood(client, FLOODS[name])

    with ThreadPoolExecutor(len(FLOODS)) as pool:
        return {name: pool.submit(sent, name) for name in FLOODS}


@pytest.mark.parametrize("name", FLOODS)
def test_h2_flood_beyond_the_allowance_ends_in_enhance_your_calm(
    ended: Mapping[str, Future[bytes]], server: Server, certificate: Certificate, name: str
) -> None:
    answers = list(frames(ended[name].result()))
    gone = [int.from_bytes(payload[4:8], "big") for kind, payload in answers if kind == GOAWAY]
    assert gone == [ENHANCE_YOUR_CALM]
    assert sum(kind == PING for kind, _ in answers) <= AT_ONCE * 2
    with H2Client(server.ports["--https"], certificate) as sound:
        assert sound.answer(sound.ask("GET", "/health")).body == b"ok\n"


def test_h2_flood_ended_is_counted(serve: Serve, certificate: Certificate) -> None:
    server = serve(*certificate.options, protocols=("--https", "--metrics"))
    with H2Client(server.ports["--https"], certificate) as client:
        flood(client, FLOODS["ping"])
    assert metric(server, "http2_floods_total") == 1


def test_h2_window_updates_for_what_was_sent_end_nothing(
    server: Server, certificate: Certificate
) -> None:
    """A client may open two windows for each frame of data, however many there are."""
    with H2Client(server.ports["--https"], certificate) as client:
        updates = 0
        take = client.take

        def open_windows(event: object) -> None:
            nonlocal updates
            take(event)  # type: ignore[arg-type]
            if size := getattr(event, "flow_controlled_length", 0):
                client.machine.increment_flow_control_window(size)
                client.machine.increment_flow_control_window(size, stream)
                updates += 2

        client.machine.acknowledge_received_data = lambda *_: None  # type: ignore[method-assign]
        client.take = open_windows  # type: ignore[method-assign]
        stream = client.ask("GET", "/nq/large")
        while updates < AT_ONCE * 2:
            client.read()
            assert not client.closed
        client.take = take  # type: ignore[method-assign]
        client.machine.reset_stream(stream)
        client.send()
        assert client.answer(client.ask("GET", "/health")).body == b"ok\n"
