# SPDX-License-Identifier: Apache-2.0
"""Find the TCP addresses on which a process listens, in the reader's network namespace."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterator

from wirespeed.remote.interface import Runner

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
# Local address and inode of a socket in state LISTEN (proc_pid_net(5)).
_LISTENER = re.compile(r"^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ 0A (?:\S+ +){5}(\d+)", re.MULTILINE)
_SOCKET = re.compile(r"socket:\[(\d+)\]$")


def listeners(runner: Runner, pid: int) -> frozenset[tuple[str, int]]:
    """Return addresses and ports; none where this user may not see the sockets of the process."""
    links = (runner.readlink(path) for path in runner.glob(f"/proc/{pid}/fd/[0-9]*"))
    inodes = {found[1] for link in links if (found := _SOCKET.search(link))}
    if not inodes:
        return frozenset()
    return frozenset(_listeners(runner, inodes))


def _listeners(runner: Runner, inodes: set[str]) -> Iterator[tuple[str, int]]:
    for text in runner.read_many(_TABLES).values():
        if isinstance(text, str):  # there is no tcp6 without IPv6
            for address, port, inode in _LISTENER.findall(text):
                if inode in inodes:
                    yield _address(address), int(port, 16)


def _address(printed: str) -> str:
    """Return the address of its words, which are printed as numbers of this machine."""
    words = (printed[at : at + 8] for at in range(0, len(printed), 8))
    octets = b"".join(int(word, 16).to_bytes(4, sys.byteorder) for word in words)
    return socket.inet_ntop(socket.AF_INET if len(octets) == 4 else socket.AF_INET6, octets)
