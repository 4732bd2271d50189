# SPDX-License-Identifier: Apache-2.0
"""Test that a booting machine is waited for, and that ssh gets a connection without lost data."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wirespeed.remote import awaited

BANNER = b"SSH-2.0-OpenSSH\r\n"


@contextmanager
def machine(listening: socket.socket, *lives: Callable[[socket.socket], None]) -> Iterator[None]:
    """Serve each connection by the next of these; then stop listening."""
    fault: list[BaseException] = []

    def serve() -> None:
        try:
            with listening:
                for live in lives:
                    connected, _ = listening.accept()
                    with connected:
                        live(connected)
        except BaseException as error:
            fault.append(error)
            raise

    thread = threading.Thread(target=serve)
    thread.start()
    yield
    thread.join(60)
    assert not thread.is_alive()
    assert fault == []


def on_port() -> tuple[socket.socket, str]:
    listening = socket.create_server(("127.0.0.1", 0))
    return listening, f"127.0.0.1:{listening.getsockname()[1]}"


def on_socket(folder: Path) -> tuple[socket.socket, str]:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "control"))
    listening.listen()
    return listening, str(folder / "control")


def soon() -> float:
    return time.monotonic() + 60


def test_behind_a_serial_port_sshd_is_asked_for_and_its_first_line_left(tmp_path: Path) -> None:
    listening, way = on_socket(tmp_path)

    def asked(connected: socket.socket) -> None:
        assert connected.recv(100) == b"start\n"
        # The output of an earlier connection's sshd comes first.
        connected.sendall(b"\x17\x03rest of another" + BANNER)
        assert connected.recv(100) == b"SSH-2.0-client\r\n"

    with machine(listening, asked), awaited.awaited(way, soon()) as connected:
        assert connected.recv(len(BANNER)) == BANNER
        connected.sendall(b"SSH-2.0-client\r\n")


def test_a_port_is_tried_until_the_machine_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaited, "_NOT_YET_S", 0.0)
    listening, way = on_port()
    closed: list[int] = []

    def not_yet(connected: socket.socket) -> None:
        closed.append(connected.fileno())

    def answers(connected: socket.socket) -> None:
        connected.sendall(BANNER)

    with machine(listening, not_yet, not_yet, answers), awaited.awaited(way, soon()) as connected:
        assert connected.recv(100) == BANNER
    assert len(closed) == 2


def test_sshd_is_asked_for_again_where_the_line_was_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaited, "BANNER_S", 0.01)
    listening, way = on_socket(tmp_path)

    def second(connected: socket.socket) -> None:
        asked = b""
        while asked.count(b"start\n") < 2:
            asked += connected.recv(100)
        connected.sendall(BANNER)

    with machine(listening, second), awaited.awaited(way, soon()) as connected:
        assert connected.recv(100) == BANNER


def test_a_port_that_accepts_and_stays_silent_is_connected_to_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(awaited, "_NOT_YET_S", 0.0)
    listening, way = on_port()
    waits = iter([0.01, 60.0])
    connect = awaited._connected

    def connected_for(way: str, serial: bool) -> socket.socket:
        monkeypatch.setattr(awaited, "BANNER_S", next(waits))
        return connect(way, serial)

    monkeypatch.setattr(awaited, "_connected", connected_for)

    def silent(connected: socket.socket) -> None:
        assert connected.recv(100) == b""

    def answers(connected: socket.socket) -> None:
        connected.sendall(BANNER)

    with machine(listening, silent, answers), awaited.awaited(way, soon()) as connected:
        assert connected.recv(100) == BANNER


def test_a_machine_that_ended_is_not_waited_for() -> None:
    listening, way = on_port()
    with (
        machine(listening, lambda _: None),
        pytest.raises(SystemExit, match=f"{way}: the machine ended: Connection refused"),
    ):
        awaited.awaited(way, soon())


def test_one_that_never_comes_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="nobody answered within"):
        awaited.awaited(str(tmp_path / "none"), time.monotonic() + 0.3)
