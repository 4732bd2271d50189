# SPDX-License-Identifier: Apache-2.0
"""Define the Runner, the only way for wirespeed to reach a host, local or remote.

Implementations: local.py, ssh.py, recorded.py. They never import each other.
"""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, Self

from wirespeed.model.errors import WirespeedError

# Address of the machine that wirespeed itself runs on.
LOCALHOST = "localhost"


class RemoteError(WirespeedError):
    """Raised when a host cannot be reached, or when a command or file on it fails."""


class HostUnreachable(RemoteError):
    """Raised when the named host cannot be reached: bad input, like the name of a missing file."""

    exit_code = 2


class HostLost(HostUnreachable):
    """Raised when the connection to a host breaks after it answered, so work was in progress."""

    exit_code = 1


class ProgramMissing(RemoteError):
    """Raised when the host does not have the program."""


class NotRecorded(OSError):
    """Raised for a file that is not part of the recording: nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Completed:
    argv: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str


class Process(Protocol):
    """A child that ends with its parent, or with the connection to it, for any reason."""

    @property
    def pid(self) -> int:
        """Process ID on its own host."""
        ...

    def fileno(self) -> int:
        """Return a local descriptor that select() reports readable once the child has ended."""
        ...

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal's number; None while the child runs."""
        ...

    def wait(self, timeout_s: float) -> int:
        """Wait for the end and return the exit code. Raises TimeoutError."""
        ...

    def signal(self, number: int) -> None: ...


class Connection(Protocol):
    """A connected unix socket: the part of `socket.socket` that wirespeed uses.

    Over SOCK_SEQPACKET each sendall sends one message and each recv returns one.
    """

    def sendall(self, data: bytes, /) -> None: ...

    def recv(self, most: int, /) -> bytes:
        """Return received data; b"" when the other end is closed. Raises TimeoutError."""
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
        """Address of the host for another Runner: LOCALHOST or ssh://[user@]host[:port]."""
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
        """Run a command to its end.

        With check, a non-zero exit code raises RemoteError with the text of standard error. Raises
        ProgramMissing when the host has no such program, RemoteError when the command does not end.
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
        """Start a child whose stdout and stderr go to the file `log`.

        env is added to the current environment. cpus, nice: the CPUs that it may use and its nice
        value, where given.
        """
        ...

    def read(self, path: str) -> str:
        """Return a text file's content. Raises FileNotFoundError, PermissionError, like open()."""
        ...

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        """Return each file's content, or the error that read() would raise; one ssh round trip."""
        ...

    def write(self, path: str, text: str) -> None: ...

    def glob(self, *patterns: str) -> tuple[str, ...]:
        """Return existing paths that match one of the patterns, sorted; one round trip over ssh."""
        ...

    def readlink(self, path: str) -> str:
        """Return the resolved target of a symbolic link, as os.path.realpath does."""
        ...

    def lock(self, path: str) -> AbstractContextManager[None]:
        """Hold the lock on that file (flock(2)) in the context.

        Waits for the lock, and creates the file if needed.
        """
        ...

    def connect(self, path: str, kind: socket.SocketKind) -> Connection:
        """Return a connected unix socket of that kind (SOCK_STREAM or SOCK_SEQPACKET)."""
        ...
