# SPDX-License-Identifier: Apache-2.0
"""How does wirespeed touch a host? Only through a Runner, so that the host may be another machine.

Implementations: local.py, ssh.py, recorded.py. They never import each other.
"""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from wirespeed.model.errors import WirespeedError


class RemoteError(WirespeedError):
    """A host could not be reached, or a command or file on it failed."""


class HostUnreachable(RemoteError):
    """No connection to the host that was named: like a file that is not there, bad input."""

    exit_code = 2


class ProgramMissing(RemoteError):
    """The host has no such program."""


class NotRecorded(OSError):
    """A recorded host was asked for a file that its recording does not hold."""


@dataclass(frozen=True, slots=True)
class Completed:
    argv: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str


class Process(Protocol):
    """A child that ends when its parent ends (PR_SET_PDEATHSIG), whatever ends the parent."""

    @property
    def pid(self) -> int: ...

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


class Runner(Protocol):
    """One host. No method goes through a shell; paths are absolute paths on that host."""

    @property
    def name(self) -> str: ...

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
    ) -> Process:
        """Start a child whose stdout and stderr go to the file `log`; env adds to ours."""
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

    def connect(self, path: str, kind: socket.SocketKind) -> socket.socket:
        """A connected unix socket of that kind (SOCK_STREAM or SOCK_SEQPACKET)."""
        ...
