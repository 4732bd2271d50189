# SPDX-License-Identifier: Apache-2.0
"""Connect to a unix socket of another host, forwarded by ssh or relayed by agent.py."""

from __future__ import annotations

import socket
from collections.abc import Callable

from wirespeed.remote import agent
from wirespeed.remote.interface import RemoteError


class SshConnection:
    """A unix socket of the other host.

    relayed: whether agent.py relays its messages, each after its length.
    """

    def __init__(
        self,
        near: socket.socket,
        check: Callable[[], None],
        close: Callable[[], object],
        *,
        relayed: bool,
    ) -> None:
        """Wrap a connected local socket.

        check: raises HostLost when the connection to the host is broken.
        """
        self._near, self._check, self._close, self._relayed = near, check, close, relayed

    def __enter__(self) -> SshConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def settimeout(self, timeout_s: float | None, /) -> None:
        self._near.settimeout(timeout_s)

    def sendall(self, data: bytes, /) -> None:
        try:
            # One short call is sent whole, so that a keepalive never splits it.
            self._near.sendall(agent.LENGTH.pack(len(data)) + data if self._relayed else data)
        except OSError:
            self._check()
            raise

    def recv(self, most: int, /) -> bytes:
        try:
            received = self._message(most) if self._relayed else self._near.recv(most)
        except OSError:
            self._check()
            raise
        if not received:
            self._check()
        return received

    def _message(self, most: int) -> bytes:
        """Return one message; like SOCK_SEQPACKET, drop what is longer than `most`."""
        head = self._exactly(agent.LENGTH.size)
        if not head:
            return b""
        octets = agent.LENGTH.unpack(head)[0]
        if octets > agent.MESSAGE_MAX:
            raise RemoteError(
                f"a relayed message has {octets} octets; at most {agent.MESSAGE_MAX} are read"
            )
        return self._exactly(octets)[:most]

    def _exactly(self, octets: int) -> bytes:
        """Return exactly this number of octets; b"" where the connection ends."""
        found = b""
        while len(found) < octets:
            piece = self._near.recv(octets - len(found))
            if not piece:
                return b""
            found += piece
        return found

    def close(self) -> None:
        self._close()
