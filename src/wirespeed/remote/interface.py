# SPDX-License-Identifier: Apache-2.0
"""How does wirespeed touch a host? Only through a Runner, so that the host may be another machine.

Implementations: local.py, ssh.py, recorded.py. They never import each other.
"""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, Self

from wirespeed.model.errors import WirespeedError

# The address of the machine that wirespeed itself runs on.
LOCALHOST = "localhost"


class RemoteError(WirespeedError):
    """A host could not be reached, or a command or file on it failed."""


class HostUnreachable(RemoteError):
    """There is no connection to the named host: the name is bad input, like a missing file's."""

    exit_code = 2


class HostLost(HostUnreachable):
    """The connection to a host broke after it had answered: something was being done there."""

    exit_code = 1


class ProgramMissing(RemoteError):
    """The host has no such program."""


class NotRecorded(OSError):
    """The file is not part of the recording, so that nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Completed:
    argv: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str


class Process(Protocol):
    """A child that ends when its parent ends, or the connection to it, whatever ends them."""

    @property
    def pid(self) -> int:
        """Its number on its own host."""
        ...

    def fileno(self) -> int:
        """A local descriptor that select() reports readable once the child has ended."""
        ...

    def poll(self) -> int | None:
        """The exit code, or None while it runs (negative: killed by that signal)."""
        ...

    def wait(self, timeout_s: float) -> int:
        """Wait for the end. Raises TimeoutError."""
        ...

    def signal(self, number: int) -> None: ...


class Connection(Protocol):
    """A connected unix socket: what we need of `socket.socket`.

    Over SOCK_SEQPACKET each sendall is one message, and each recv brings one.
    """

    def sendall(self, data: bytes, /) -> None: ...

    def recv(self, most: int, /) -> bytes:
        """b"" when the other end is closed. Raises TimeoutError."""
        ...

    def settimeout(self, timeout_s: float | None, /) -> None: ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


class Runner(Protocol):
    """One host. No method goes through a shell; paths are absolute paths on that host.

    Any method raises HostUnreachable when there is no connection, and HostLost when it breaks.
    """

    @property
    def name(self) -> str: ...

    @property
    def address(self) -> str:
        """How to get there again: LOCALHOST or ssh://[user@]host[:port]."""
        ...

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        """Run to the end. With check, a non-zero exit raises RemoteError with the stderr text.

        Raises ProgramMissing when the host has no such program, RemoteError when it does not end.
        """
        ...

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log: str,
        env: Mapping[str, str] | None = None,
        cpus: Collection[int] | None = None,
        nice: int | None = None,
    ) -> Process:
        """Start a child whose stdout and stderr go to the file `log`; env adds to ours.

        cpus, nice: where given, the CPUs that it may run on and its nice value.
        """
        ...

    def read(self, path: str) -> str:
        """A text file's content. Raises FileNotFoundError or PermissionError, as open() does."""
        ...

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        """Each file's content, or the error read() would raise for it; one round trip over ssh."""
        ...

    def write(self, path: str, text: str) -> None: ...

    def glob(self, *patterns: str) -> tuple[str, ...]:
        """Existing paths that match one of the patterns, sorted; one round trip over ssh."""
        ...

    def readlink(self, path: str) -> str:
        """The resolved target of a symbolic link (as os.path.realpath)."""
        ...

    def lock(self, path: str) -> AbstractContextManager[None]:
        """Wait for the one lock on that file (flock(2)), made if need be; held by the context."""
        ...

    def connect(self, path: str, kind: socket.SocketKind) -> Connection:
        """A connected unix socket of that kind (SOCK_STREAM or SOCK_SEQPACKET)."""
        ...
