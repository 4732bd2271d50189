# SPDX-License-Identifier: Apache-2.0
"""Ask a bridge for the configuration of its ports: OpenFlow 1.5 over its management socket.

This opens the socket that `ovs-ofctl` would open: starting a program takes longer than the answer,
and each trial waits for one. Source: OpenFlow Switch Specification 1.5.1, sections 7.1, 7.2.1
(ports) and 7.3.5 (multipart messages).
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

from wirespeed.remote.interface import Connection, Runner
from wirespeed.sources.errors import NoAnswer

_VERSION = 6
_HELLO, _ERROR, _MULTIPART_REQUEST, _MULTIPART_REPLY = 0, 1, 18, 19
_PORT_DESC, _MORE_FOLLOW = 13, 1
_HEADER = struct.Struct(">BBHI")
_MULTIPART = struct.Struct(">HH4x")
_ALL_PORTS = struct.pack(">I4x", 0xFFFFFFFF)
_PORT = struct.Struct(">4xH2x6x2x16sI4x")
_BITS = {0: "PORT_DOWN", 2: "NO_RECV", 5: "NO_FWD", 6: "NO_PACKET_IN"}
# A bridge has fewer ports; each part of the answer has up to 64 KiB.
_PARTS_MAX = 64


def port_configs(runner: Runner, path: str, timeout_s: float = 10.0) -> dict[str, str]:
    """Return the configuration bits (OFPPC_*) of each port by its name; "0" for none.

    path: management socket of the bridge. timeout_s: longest wait for each piece of the answer.
    Raises NoAnswer.
    """
    try:
        with runner.connect(path, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_s)
            connection.sendall(_message(_HELLO) + _message(_MULTIPART_REQUEST, _request()))
            return dict(_ports(connection))
    except (OSError, ValueError, struct.error) as fault:
        raise NoAnswer(f"the bridge does not describe its ports on {path}: {fault}") from fault


def _request() -> bytes:
    return _MULTIPART.pack(_PORT_DESC, 0) + _ALL_PORTS


def _message(kind: int, body: bytes = b"") -> bytes:
    return _HEADER.pack(_VERSION, kind, _HEADER.size + len(body), kind) + body


def _ports(connection: Connection) -> Iterator[tuple[str, str]]:
    for _ in range(_PARTS_MAX):
        body = _reply(connection)
        what, flags = _MULTIPART.unpack_from(body)
        if what != _PORT_DESC:
            raise ValueError(f"it answers with multipart type {what}, not {_PORT_DESC}")
        yield from _described(body[_MULTIPART.size :])
        if not flags & _MORE_FOLLOW:
            return
    raise ValueError(f"its answer has more than {_PARTS_MAX} parts")


def _reply(connection: Connection) -> bytes:
    """Return the body of the next multipart reply; skip the greeting and what nobody asked for."""
    while True:
        version, kind, length, _ = _HEADER.unpack(_exactly(connection, _HEADER.size))
        if length < _HEADER.size:
            raise ValueError(f"it sends a message of {length} octets")
        body = _exactly(connection, length - _HEADER.size)
        if kind == _ERROR:
            raise ValueError(f"it answers with error {body[:4].hex()}")
        if kind == _MULTIPART_REPLY and version == _VERSION:
            return body


def _described(ports: bytes) -> Iterator[tuple[str, str]]:
    while ports:
        length, name, config = _PORT.unpack_from(ports)
        if length < _PORT.size:
            raise ValueError(f"it describes a port in {length} octets")
        yield name.partition(b"\0")[0].decode(errors="replace"), _words(config)
        ports = ports[length:]


def _words(config: int) -> str:
    bits = (bit for bit in range(32) if config >> bit & 1)
    return " ".join(_BITS.get(bit, f"bit {bit}") for bit in bits) or "0"


def _exactly(connection: Connection, octets: int) -> bytes:
    found = b""
    while len(found) < octets:
        piece = connection.recv(octets - len(found))
        if not piece:
            raise OSError("the connection ended in the middle of the answer")
        found += piece
    return found
