# SPDX-License-Identifier: Apache-2.0
"""Implement the Runner of a recorded host: it answers from a folder of `inspect --record`.

A file that the host did not have is absent here as well. A file that was not recorded raises
`NotRecorded`, so that the fact is reported as unknown. Nothing can be started or written.
"""

from __future__ import annotations

import re
import socket
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from wirespeed.remote.file_tree import as_regex
from wirespeed.remote.interface import (
    Completed,
    Connection,
    NotRecorded,
    Process,
    ProgramMissing,
    RemoteError,
)
from wirespeed.remote.recording import Recording, known_paths, load


class RecordedRunner:
    """Answers from a Recording; `open` reads one from a folder."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._paths = sorted(_with_folders(known_paths(recording)))

    @classmethod
    def open(cls, folder: str) -> RecordedRunner:
        """Return the host recorded in that folder. Raises BadInput when it is incomplete."""
        return cls(load(Path(folder)))

    @property
    def name(self) -> str:
        return self._recording.host

    @property
    def address(self) -> str:
        return self._recording.host

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,  # noqa: ARG002 (nothing runs, so nothing can last)
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        if argv[0] in self._recording.programs_missing:
            raise ProgramMissing(f"{argv[0]} was not installed on {self.name}")
        found = [c for c in self._recording.commands if c.argv == tuple(argv)]
        if not found or stdin is not None or env is not None:
            raise RemoteError(f"`{' '.join(argv)}` is not in the recording of {self.name}")
        done = Completed(found[-1].argv, found[-1].exit_code, found[-1].stdout, found[-1].stderr)
        if check and done.exit_code != 0:
            raise RemoteError(f"`{' '.join(argv)}` ended with {done.exit_code}: {done.stderr}")
        return done

    def read(self, path: str) -> str:
        got = self._read(path)
        if isinstance(got, OSError):
            raise got
        return got

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        return {path: self._read(path) for path in paths}

    def _read(self, path: str) -> str | OSError:
        recording = self._recording
        if path in recording.files:
            return recording.files[path]
        if path in recording.denied:
            return PermissionError(f"{path} could not be read when {self.name} was recorded")
        if path in recording.absent:
            return FileNotFoundError(f"{self.name} had no {path}")
        if path in recording.unreadable:
            return OSError(f"{path} could not be read when {self.name} was recorded")
        return NotRecorded(f"{path} is not in the recording of {self.name}")

    def glob(self, *patterns: str) -> tuple[str, ...]:
        for pattern in patterns:
            if pattern not in self._recording.globs:
                raise NotRecorded(f"{pattern} is not in the recording of {self.name}")
        return self.known(patterns)

    def known(self, patterns: Sequence[str]) -> tuple[str, ...]:
        """Return the recorded paths that match one of the patterns, sorted."""
        return tuple(sorted({path for pattern in patterns for path in self._matches(pattern)}))

    def _matches(self, pattern: str) -> Iterator[str]:
        """Yield the paths that match, of the sorted ones that begin as the pattern does."""
        begin = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
        wanted = re.compile(as_regex(pattern))
        for number in range(bisect_left(self._paths, begin), len(self._paths)):
            path = self._paths[number]
            if not path.startswith(begin):
                return
            if wanted.fullmatch(path):
                yield path

    def readlink(self, path: str) -> str:
        raise NotRecorded(f"the target of {path} is not in the recording of {self.name}")

    def write(self, path: str, text: str) -> None:
        raise self._not_there(f"write {len(text)} characters to {path}")

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log: str,
        env: Mapping[str, str] | None = None,
        cpus: Collection[int] | None = None,
        nice: int | None = None,
    ) -> Process:
        raise self._not_there(
            f"start {argv[0]} (log {log}, environment {env}, CPUs {cpus}, nice {nice})"
        )

    def lock(self, path: str) -> AbstractContextManager[None]:
        raise self._not_there(f"lock {path}")

    def connect(self, path: str, kind: socket.SocketKind) -> Connection:
        raise self._not_there(f"open a {kind.name} connection to {path}")

    def _not_there(self, what: str) -> RemoteError:
        return RemoteError(
            f"{self.name} is a recording; it cannot {what}", "Use --host ssh://user@host."
        )


def _with_folders(paths: Iterable[str]) -> set[str]:
    """Return the paths and every folder above them, because a glob may name a folder."""
    found: set[str] = set()
    for path in paths:
        above = path
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found
