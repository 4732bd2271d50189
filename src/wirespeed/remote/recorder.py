# SPDX-License-Identifier: Apache-2.0
"""Implement a Runner that reads through another one and records every answer.

`inspect --record` uses it. Secrets in configuration files are masked as they are read: neither the
recording nor the live run gets their values.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager

from wirespeed.remote.interface import (
    Completed,
    Connection,
    Process,
    ProgramMissing,
    RemoteError,
    Runner,
)
from wirespeed.remote.recording import RecordedCommand, Recording

# nova.conf contains the passwords of the message bus and of the service user.
_SECRET = re.compile(
    r"^(\s*\w*(?:password|secret|token|connection|transport_url)\w*\s*[=:]).*$",
    re.IGNORECASE | re.MULTILINE,
)


class Recorder:
    """Wraps a Runner; `recording` grows with every read, glob and command."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.recording = Recording(runner.name)

    @property
    def name(self) -> str:
        return self._runner.name

    @property
    def address(self) -> str:
        return self._runner.address

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        try:
            done = self._runner.run(argv, timeout_s=timeout_s, stdin=stdin, env=env, check=False)
        except ProgramMissing:
            self.recording.programs_missing.add(argv[0])
            raise
        self.recording.commands.append(
            RecordedCommand(done.argv, done.exit_code, done.stdout, done.stderr)
        )
        if check and done.exit_code != 0:
            raise RemoteError(f"`{' '.join(argv)}` ended with {done.exit_code}: {done.stderr}")
        return done

    def read(self, path: str) -> str:
        got = self.read_many([path])[path]
        if isinstance(got, str):
            return got
        raise got

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        contents = dict(self._runner.read_many(paths))
        for path, got in contents.items():
            if isinstance(got, FileNotFoundError | NotADirectoryError):
                self.recording.absent.add(path)
            elif isinstance(got, PermissionError):
                self.recording.denied.add(path)
            elif isinstance(got, OSError):
                self.recording.unreadable.add(path)
            else:
                contents[path] = self.recording.files[path] = without_secrets(path, got)
        return contents

    def glob(self, *patterns: str) -> tuple[str, ...]:
        found = self._runner.glob(*patterns)
        self.recording.globs.update(patterns)
        self.recording.names.update(found)
        return found

    def readlink(self, path: str) -> str:
        raise _not_kept(f"the target of {path}")

    def write(self, path: str, text: str) -> None:
        raise _not_kept(f"writing {len(text)} characters to {path}")

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log: str,
        env: Mapping[str, str] | None = None,
        cpus: Collection[int] | None = None,
        nice: int | None = None,
    ) -> Process:
        raise _not_kept(
            f"starting {argv[0]} (log {log}, environment {env}, CPUs {cpus}, nice {nice})"
        )

    def lock(self, path: str) -> AbstractContextManager[None]:
        raise _not_kept(f"a lock on {path}")

    def connect(self, path: str, kind: socket.SocketKind) -> Connection:
        raise _not_kept(f"a {kind.name} connection to {path}")


def without_secrets(path: str, text: str) -> str:
    """Mask the values of passwords and connection strings in the text of a *.conf file."""
    return _SECRET.sub(r"\1 ***", text) if path.endswith(".conf") else text


def _not_kept(what: str) -> RemoteError:
    return RemoteError(f"a recording keeps files, globs and commands, not {what}")
