# SPDX-License-Identifier: Apache-2.0
"""Simulate a file system that loses unsynced data at a power loss.

It is as careless as POSIX allows. A new or renamed file exists after a power loss only when its
folder was synced. It is then empty unless the file itself was synced.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field


@dataclass
class FakeDisk:
    """A disk in memory."""

    disk: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    room: int | None = None
    """Octets that may still be written; None: unlimited."""
    read_only: bool = False
    """True if writes fail."""
    _cached: dict[str, tuple[str, bool] | None] = field(default_factory=dict)
    """Path to its text, and whether that is on the disk; None: removed."""
    _new_folders: set[str] = field(default_factory=set)

    def read(self, path: str) -> str | None:
        if path in self._cached:
            cached = self._cached[path]
            return None if cached is None else cached[0]
        return self.disk.get(path)

    def write(self, path: str, text: str) -> None:
        if not self.has_folder(posixpath.dirname(path)):
            raise FileNotFoundError(2, "No such file or directory", path)
        if self.read_only:
            raise OSError(30, "Read-only file system", path)
        if self.room is not None:
            if len(text) > self.room:
                self._cached[path] = (text[: self.room], False)
                raise OSError(28, "No space left on device", path)
            self.room -= len(text)
        self._cached[path] = (text, False)

    def append_synced(self, path: str, text: str) -> None:
        fits = text if self.room is None else text[: self.room]
        whole = (self.read(path) or "") + fits
        if self.room is not None:
            self.room -= len(fits)
        self._cached.pop(path, None)
        self.disk[path] = whole
        if fits != text:
            raise OSError(28, "No space left on device", path)

    def move(self, old: str, new: str) -> None:
        text = self.read(old)
        if text is None:
            raise FileNotFoundError(2, "No such file or directory", old)
        cached = self._cached.get(old)
        self._cached[new] = cached if cached is not None else (text, True)
        self._cached[old] = None

    def remove(self, path: str) -> None:
        self._cached[path] = None

    def remove_tree(self, folder: str) -> None:
        for path in self.paths():
            if path.startswith(f"{folder}/"):
                self.remove(path)
        for known in (self.folders, self._new_folders):
            known -= {f for f in known if f == folder or f.startswith(f"{folder}/")}

    def make_folder(self, path: str) -> None:
        if not self.has_folder(path):
            self._new_folders.add(path)

    def remove_folder(self, path: str) -> None:
        if not any(other.startswith(f"{path}/") for other in (*self.paths(), *self.all_folders)):
            self.folders.discard(path)
            self._new_folders.discard(path)

    def has_folder(self, path: str) -> bool:
        return path in self.folders or path in self._new_folders

    @property
    def all_folders(self) -> set[str]:
        return self.folders | self._new_folders

    def paths(self) -> list[str]:
        return [p for p in {**self.disk, **self._cached} if self.read(p) is not None]

    def sync(self, path: str) -> bool:
        """Act like sync(1) on a file or folder; return whether it exists."""
        if self.has_folder(path):
            for name, cached in list(self._cached.items()):
                if posixpath.dirname(name) == path:
                    self._settle(name, cached)
            for folder in list(self._new_folders):
                if posixpath.dirname(folder) == path:
                    self._new_folders.discard(folder)
                    self.folders.add(folder)
            return True
        text = self.read(path)
        if text is None:
            return False
        self._cached[path] = (text, True)
        return True

    def sync_all(self) -> None:
        for path, cached in list(self._cached.items()):
            self._settle(path, None if cached is None else (cached[0], True))
        self.folders |= self._new_folders
        self._new_folders.clear()

    def lose_power(self, *, keep: bool) -> None:
        """Lose the power. keep: keep all data; else lose everything that was not synced."""
        if keep:
            self.sync_all()
        self._cached.clear()
        self._new_folders.clear()
        self.disk = {p: t for p, t in self.disk.items() if posixpath.dirname(p) in self.folders}

    def _settle(self, path: str, cached: tuple[str, bool] | None) -> None:
        if cached is None:
            self.disk.pop(path, None)
        else:
            self.disk[path] = cached[0] if cached[1] else ""
        del self._cached[path]
