# SPDX-License-Identifier: Apache-2.0
"""WebSocket client that can also violate the protocol (RFC 6455)."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from typing import Any

from tests.support.waiting import PATIENCE_S

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
PROTOCOL = "net.measurementlab.ndt.v7"
MASK = b"\1\2\3\4"


def upgrade(path: str, headers: dict[str, str] | None = None) -> bytes:
    """Return the request that opens a WebSocket; `headers` replace those with the same name."""
    fields = {
        "Host": "localhost",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": PROTOCOL,
    } | (headers or {})
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def length(size: int) -> bytes:
    """Return the length of a masked frame in its shortest form, the only allowed one."""
    if size < 126:
        return struct.pack(">B", 0x80 | size)
    if size < 65536:
        return struct.pack(">BH", 0x80 | 126, size)
    return struct.pack(">BQ", 0x80 | 127, size)


def frame(opcode: int, payload: bytes = b"", *, first_byte: int | None = None) -> bytes:
    """One masked frame; `first_byte` replaces FIN and opcode."""
    first = 0x80 | opcode if first_byte is None else first_byte
    masked = bytes(byte ^ MASK[at % 4] for at, byte in enumerate(payload))
    return bytes([first]) + length(len(payload)) + MASK + masked


def masked_binary(size: int) -> bytes:
    """Return a binary frame whose payload is random, so that masking changes nothing."""
    return b"\x82" + length(size) + MASK + os.urandom(size)


class Peer:
    """One connection to an ndt7 server."""

    def __init__(self, link: socket.socket):
        """Read the answer to a request that was sent."""
        self.link = link
        link.settimeout(PATIENCE_S)
        self.stream = link.makefile("rb")
        self.status = int(self.stream.readline().split()[1])
        self.headers: dict[str, str] = {}
        while line := self.stream.readline().strip():
            name, value = line.decode().split(": ", 1)
            self.headers[name] = value
        self.texts: list[dict[str, Any]] = []
        self.binary_bytes = 0

    def rest(self) -> bytes:
        """Everything until the server closes."""
        try:
            return self.stream.read()
        except ConnectionResetError:
            return b""

    def send(self, data: bytes) -> None:
        self.link.sendall(data)

    def receive(self) -> tuple[int, bytes]:
        head = self.stream.read(2)
        if len(head) < 2:
            raise EOFError
        size = head[1]
        assert size < 128, "a server does not mask"
        if size == 126:
            size = struct.unpack(">H", self.stream.read(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.stream.read(8))[0]
        return head[0] & 15, self.stream.read(size)

    def until(self, wanted: int) -> bytes:
        """Return the payload of the next frame of this kind; count or keep those before it."""
        while True:
            opcode, payload = self.receive()
            if opcode == BINARY:
                self.binary_bytes += len(payload)
            elif opcode == TEXT:
                self.texts.append(json.loads(payload))
            if opcode == wanted:
                return payload

    def close_code(self) -> int:
        return int(struct.unpack(">H", self.until(CLOSE)[:2])[0])

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self.link.close()
