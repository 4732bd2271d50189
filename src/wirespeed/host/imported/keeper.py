# SPDX-License-Identifier: Apache-2.0
"""Keep the files of an archive that are read of a host, as names and texts in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import IO

from wirespeed.model.errors import BadInput
from wirespeed.model.input.text import printable
from wirespeed.remote.archive import NEXT, Budget, Member, members
from wirespeed.remote.file_tree import FileTree, Link, TooLarge
from wirespeed.remote.recorder import without_secrets

# In octets: one file that is kept, and all that are kept.
_FILE, _KEPT = 4 << 20, 64 << 20
# It has 3 MiB on 112 CPUs.
_LARGE = {"/proc/interrupts": 16 << 20}
# A host of 1,024 CPUs has 200,000 paths.
_PATHS = 400_000
# Folders that a snapshot of gather-sysinfo begins with; other archives have one folder above them.
_ROOTS = ("proc", "sys")


class Keeper:
    """Fills a FileTree with the wanted members of one archive."""

    def __init__(self, name: str, is_wanted: Callable[[str], bool]) -> None:
        self.tree = FileTree(name)
        self._name, self._is_wanted = name, is_wanted
        self._top: str | None = None
        self._octets = self._paths = 0

    @property
    def is_bare(self) -> bool:
        """No folder is above /proc and /sys, as in a snapshot of gather-sysinfo."""
        return self._top == ""

    def take(self, member: Member) -> None:
        """Keep the member if it is wanted. Raises BadInput at a limit, and for a second host."""
        path = self._path(member.parts)
        if path is None or not self._is_wanted(path + "/" * member.is_folder):
            return
        self._check_top(member.parts)
        self._paths += 1
        if self._paths > _PATHS:
            raise BadInput(f"{self._name}: more than {_PATHS} paths of a host", NEXT)
        if member.is_folder:
            self.tree.add(path, {})
        elif member.target is None:
            self._take_file(path, member)
        elif member.is_hard:
            self._take_hard(path, member.target)
        else:
            self.tree.add(path, Link(member.target))

    def _take_file(self, path: str, member: Member) -> None:
        assert member.read is not None  # it is neither a link nor a folder
        if member.size > _LARGE.get(path, _FILE):
            self.tree.add(path, TooLarge())
            return
        self._octets += member.size
        if self._octets > _KEPT:
            raise BadInput(f"{self._name}: more than {_KEPT >> 20} MiB of a host's files", NEXT)
        text = member.read().decode(errors="replace")
        self.tree.add(path, without_secrets(path, text))

    def _take_hard(self, path: str, target: str) -> None:
        """Keep a hard link to a file that was kept before, as tar(1) would make it."""
        to = self._path(PurePosixPath(target).parts)
        found = self.tree.find(to) if to is not None and ".." not in to.split("/") else None
        if isinstance(found, str):
            self._octets += len(found)
            self.tree.add(path, found)

    def _path(self, parts: tuple[str, ...]) -> str | None:
        """Return the path on the host; None for the archive's own folder."""
        below = parts if parts and parts[0] in _ROOTS else parts[1:]
        return "/" + "/".join(below) if below else None

    def _check_top(self, parts: tuple[str, ...]) -> None:
        top = "" if parts[0] in _ROOTS else parts[0]
        if self._top is None:
            self._top = top
        elif top != self._top:
            both = " and ".join(printable(each or ".", 60) for each in (self._top, top))
            raise BadInput(f"{self._name}: has files of two hosts, in {both}", NEXT)


def keep(file: IO[bytes], name: str, budget: Budget, is_wanted: Callable[[str], bool]) -> FileTree:
    """Return the wanted files of an archive. Raises BadInput."""
    keeper = Keeper(name, is_wanted)
    for member in members(file, name, budget):
        keeper.take(member)
    return keeper.tree
