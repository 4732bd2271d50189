# SPDX-License-Identifier: Apache-2.0
"""Test the description of a bridge's ports by OpenFlow 1.5; tests/real asks a real bridge."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wirespeed.remote.local import LocalRunner
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.openflow import port_configs

HELLO = bytes.fromhex("0600001000000001 0001000800000072")
ECHO = bytes.fromhex("0602000800000000")


def port(name: bytes, config: int, properties: bytes = b"") -> bytes:
    fixed = struct.pack(
        ">IHxx6sxx16sII", 1, 40 + len(properties), b"\x02" * 6, name, config, 0
    )  # fmt: skip
    return fixed + properties


def reply(*ports: bytes, more: bool = False) -> bytes:
    body = struct.pack(">HHxxxx", 13, int(more)) + b"".join(ports)
    return struct.pack(">BBHI", 6, 19, 8 + len(body), 18) + body


@contextmanager
def bridge(folder: Path, answer: bytes) -> Iterator[str]:
    """Yield the socket of a bridge that gives this answer once it has both messages."""
    path = str(folder / "b.mgmt")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()

        def serve() -> None:
            with listening.accept()[0] as connected:
                asked = connected.recv(32, socket.MSG_WAITALL)
                assert asked == bytes.fromhex(
                    "0600000800000000 0612001800000012 000d000000000000 ffffffff00000000"
                )
                connected.sendall(answer)

        server = threading.Thread(target=serve)
        server.start()
        yield path
        server.join(60)


def test_port_configs_of_all_parts_are_read(tmp_path: Path) -> None:
    first = reply(port(b"east", 0b100001), port(b"a-name-of-15-oct", 0, b"p" * 32), more=True)
    last = reply(port(b"ws", 1 << 2 | 1 << 6 | 1 << 9))
    with bridge(tmp_path, HELLO + ECHO + first + last) as path:
        found = port_configs(LocalRunner(), path)
    assert found == {
        "east": "PORT_DOWN NO_FWD", "a-name-of-15-oct": "0", "ws": "NO_RECV NO_PACKET_IN bit 9",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (HELLO, "ended in the middle"),
        (HELLO + bytes.fromhex("0601000c00000012 00010001"), "error 00010001"),
        (bytes.fromhex("0613000400000012"), "a message of 4 octets"),
        (reply(port(b"east", 0)[:20]), "requires a buffer"),
        (reply(struct.pack(">IHxx6sxx16sII", 1, 4, b"", b"east", 0, 0)), "a port in 4 octets"),
        (bytes.fromhex("0613001000000012 0001000000000000"), "multipart type 1"),
        (reply(more=True) * 64, "more than 64 parts"),
    ],
    ids=["cut", "error", "short message", "short port", "no length", "other type", "endless"],
)
def test_port_configs_of_a_wrong_answer_are_an_error(
    tmp_path: Path, answer: bytes, why: str
) -> None:
    with bridge(tmp_path, answer) as path, pytest.raises(NoAnswer, match=why):
        port_configs(LocalRunner(), path)


def test_port_configs_without_a_bridge_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoAnswer, match="No such file"):
        port_configs(LocalRunner(), str(tmp_path / "none.mgmt"))
