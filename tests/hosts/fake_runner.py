# SPDX-License-Identifier: Apache-2.0
"""Simulate a host with dictionaries: its files, and the output of its commands."""

from __future__ import annotations

import fnmatch
import socket
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.remote.interface import Completed, Process, ProgramMissing, RemoteError


@dataclass
class FakeRunner:
    """Files by path; commands by argv. A file may be an OSError to raise."""

    name: str = "fake"
    files: dict[str, str | OSError] = field(default_factory=dict)
    commands: dict[tuple[str, ...], Completed] = field(default_factory=dict)

    def answer(
        self, argv: Sequence[str], stdout: str, stderr: str = "", exit_code: int = 0
    ) -> None:
        self.commands[tuple(argv)] = Completed(tuple(argv), exit_code, stdout, stderr)

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        assert (stdin, env, check) == (None, None, False), timeout_s
        if not any(known[0] == argv[0] for known in self.commands):
            raise ProgramMissing(f"{argv[0]} is not installed")
        if tuple(argv) not in self.commands:
            raise RemoteError(f"{argv} hangs")
        return self.commands[tuple(argv)]

    def read(self, path: str) -> str:
        got = self.read_many([path])[path]
        if isinstance(got, OSError):
            raise got
        return got

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        return {path: self.files.get(path, FileNotFoundError(path)) for path in paths}

    def glob(self, *patterns: str) -> tuple[str, ...]:
        existing = {above for path in self.files for above in _with_parents(path)}
        return tuple(sorted(path for path in existing if any(_matches(path, p) for p in patterns)))

    def readlink(self, path: str) -> str:
        raise AssertionError(f"nothing follows links ({path})")

    def write(self, path: str, text: str) -> None:
        raise AssertionError(f"nothing writes ({path}: {text})")

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log: str,
        env: Mapping[str, str] | None = None,
        cpus: Collection[int] | None = None,
    ) -> Process:
        raise AssertionError(f"nothing starts {argv} ({log}, {env}, {cpus})")

    def connect(self, path: str, kind: socket.SocketKind) -> socket.socket:
        raise AssertionError(f"nothing connects to {path} ({kind})")


def _with_parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(2, len(parts) + 1)]


def _matches(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))
