# SPDX-License-Identifier: Apache-2.0
"""Emulate a host whose files live in a dict, for what no test may do to the real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch

from wirespeed.remote.local import LocalRunner


class FakeHost(LocalRunner):
    """A host with the files in `files`.

    `on_write` may reject a write, or answer it as a kernel would. locked: paths whose lock is held.
    """

    def __init__(
        self,
        files: dict[str, str],
        on_write: Callable[[dict[str, str], str, str], None] | None = None,
    ) -> None:
        super().__init__()
        self.files = files
        self.on_write = on_write
        self.locked: set[str] = set()

    def read(self, path: str) -> str:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    def write(self, path: str, text: str) -> None:
        if self.on_write:
            self.on_write(self.files, path, text)
        else:
            self.files[path] = text

    def glob(self, *patterns: str) -> tuple[str, ...]:
        return tuple(sorted(f for f in self.files if any(fnmatch(f, p) for p in patterns)))

    @contextmanager
    def lock(self, path: str) -> Iterator[None]:
        assert path not in self.locked
        self.locked.add(path)
        yield
        self.locked.remove(path)

    def readlink(self, path: str) -> str:
        return self.read(path)
