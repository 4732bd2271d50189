# SPDX-License-Identifier: Apache-2.0
"""Test that sockets get short paths for any environment."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.remote.interface import Completed, RemoteError
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.socket_paths import (
    SOCKET_BASE_MAX,
    SOCKET_PATH_MAX,
    check_socket_path,
    local_socket_base,
    socket_base,
)


@pytest.fixture
def short() -> Iterator[str]:
    """Provide a directory whose path has the longest length of a base."""
    with tempfile.TemporaryDirectory(prefix="ws-", dir="/tmp") as directory:
        path = f"{directory}/" + "b" * (SOCKET_BASE_MAX - len(directory) - 1)
        Path(path).mkdir()
        yield path


def test_socket_base_as_long_as_allowed_is_taken(
    short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", short)
    assert socket_base(LocalRunner()) == local_socket_base() == short


@pytest.mark.parametrize("name", ["b" * 140 + "/" + "b" * 140, "b", "\u00e9" * 20, "none"])
def test_socket_base_unfit_directory_is_passed_over(
    name: str, short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer by one octet or many, longer in octets but not in letters, or absent.
    unfit = Path(short) / name if name == "b" else Path(short).parent / name
    if name != "none":
        unfit.mkdir(parents=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(unfit))
    monkeypatch.setenv("TMPDIR", str(unfit))
    base = local_socket_base()
    assert base != str(unfit)
    assert len(base) <= SOCKET_BASE_MAX
    assert os.access(base, os.W_OK)


def test_socket_base_relative_directory_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", ".")
    assert Path(local_socket_base()).is_absolute()


def test_socket_base_no_directory_is_named() -> None:
    class Nowhere(LocalRunner):
        def run(self, *_words: object, **_more: object) -> Completed:
            return super().run(["true"])

    with pytest.raises(RemoteError) as caught:
        socket_base(Nowhere())
    assert f"have more than {SOCKET_BASE_MAX} octets" in caught.value.what
    assert "TMPDIR" in caught.value.next_step


def test_check_socket_path_agrees_with_the_kernel(short: str) -> None:
    path = f"{short}/" + "s" * (SOCKET_PATH_MAX - len(short) - 1)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
    check_socket_path("net_vhost1", path)
    with socket.socket(socket.AF_UNIX) as server, pytest.raises(OSError, match="too long"):
        server.bind(f"{path}s")
    with pytest.raises(RemoteError) as caught:
        check_socket_path("net_vhost1", f"{path}s")
    assert caught.value.what.startswith("net_vhost1: the path of its socket has 108 octets, ")
