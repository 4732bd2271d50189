# SPDX-License-Identifier: Apache-2.0
"""Check which unix sockets count as bound without a listener."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path

from wirespeed.remote.local import LocalRunner
from wirespeed.sources.unix_sockets import not_listening

RUNNER = LocalRunner()


def test_not_listening_socket_is_returned_until_it_listens(tmp_path: Path) -> None:
    path = str(tmp_path / "a b")
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as server:
        server.bind(path)
        assert not_listening(RUNNER, {path}) == {path}
        server.listen()
        assert not_listening(RUNNER, {path}) == frozenset()


def test_not_listening_listener_with_a_connection_is_not_returned(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as server:
        server.bind(path)
        server.listen()
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as client:
            client.connect(path)
            accepted, _ = server.accept()
            with accepted:
                assert not_listening(RUNNER, {path}) == frozenset()


def test_not_listening_path_of_no_socket_here_is_not_returned(tmp_path: Path) -> None:
    """A socket of another network namespace has a file, but no line in this one's table."""
    path = tmp_path / "socket"
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as server:
        server.bind(str(path))
    assert path.exists()
    assert not_listening(RUNNER, {str(path)}) == frozenset()
