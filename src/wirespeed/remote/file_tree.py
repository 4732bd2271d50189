# SPDX-License-Identifier: Apache-2.0
"""Hold the files, folders and links of a host as names in memory.

Links are followed inside the tree alone, as in a chroot: an absolute target begins at its root, and
one that leads out of the root is a dead end. What may be looked up is bounded, since an archive's
links may form loops and name each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.errors import BadInput
from wirespeed.model.input.text import printable

# MAXSYMLINKS of Linux.
_HOPS = 40
_STEPS = 20_000_000
_FOUND = 100_000
_NEXT = "A host's own /proc and /sys have no such links; ask for the file again."


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True, slots=True)
class TooLarge:
    """A file that was not kept."""


Folder = dict[str, "Node"]
Node = str | Link | TooLarge | Folder


class FileTree:
    """A host's files by their absolute paths; a file's content is its node, a str."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._root: Folder = {}
        self._steps = 0

    def add(self, path: str, node: Node) -> None:
        """Add a file, link or folder; of several with one path the last one stays.

        A folder keeps what it has. A path through a link or a file is skipped: no tool that packs a
        host writes one.
        """
        *above, last = path.strip("/").split("/")
        at = self._root
        for part in above:
            below = at.setdefault(part, {})
            if not isinstance(below, dict):
                return
            at = below
        if not (node == {} and isinstance(at.get(last), dict)):
            at[last] = node

    def find(self, path: str) -> Node | None:
        """Return what the path names, with every link followed; None where it names nothing."""
        return self._follow(path, follow_last=True)

    def has(self, path: str) -> bool:
        """Return whether the path exists. A link exists whatever its target is."""
        return self._follow(path, follow_last=False) is not None

    def real_path(self, path: str) -> str | None:
        """Return the path without links; None where it names nothing in the tree."""
        walked = self._walk(path, follow_last=True)
        return None if walked is None else "/" + "/".join(walked[1])

    def names(self, path: str) -> tuple[str, ...]:
        """Return the names in a folder, sorted; none where there is no such folder."""
        found = self.find(path)
        return tuple(sorted(found)) if isinstance(found, dict) else ()

    def glob(self, pattern: str) -> tuple[str, ...]:
        """Return the paths that match. A wildcard never matches a slash. Raises BadInput."""
        paths = [""]
        for part in pattern.strip("/").split("/"):
            if not re.search(r"[*?\[]", part):
                paths = [f"{path}/{part}" for path in paths]
                continue
            wanted = re.compile(as_regex(part))
            paths = [
                f"{path}/{name}"
                for path in paths
                for name in self.names(path)
                if wanted.fullmatch(name)
            ]
            if len(paths) > _FOUND:
                raise BadInput(f"{self.name}: more than {_FOUND} paths are {pattern}", _NEXT)
        return tuple(path for path in paths if self.has(path))

    def _follow(self, path: str, *, follow_last: bool) -> Node | None:
        walked = self._walk(path, follow_last=follow_last)
        return None if walked is None else walked[0]

    def _walk(self, path: str, *, follow_last: bool) -> tuple[Node, list[str]] | None:
        """Return the node and the names of its real path; None where it does not exist."""
        waiting = path.split("/")[::-1]
        folders: list[Folder] = [self._root]
        names: list[str] = []
        node: Node = self._root
        hops = 0
        while waiting:
            self._count()
            part = waiting.pop()
            if part in ("", "."):
                continue
            if not isinstance(node, dict):
                return None
            if part == "..":
                if not names:
                    return None
                names.pop()
                folders.pop()
                node = folders[-1]
                continue
            below = node.get(part)
            if below is None:
                return None
            if isinstance(below, Link) and (follow_last or any(waiting)):
                hops += 1
                if hops > _HOPS:
                    return None
                if below.target.startswith("/"):
                    folders, names, node = [self._root], [], self._root
                waiting += below.target.split("/")[::-1]
                continue
            names.append(part)
            node = below
            if isinstance(below, dict):
                folders.append(below)
        return node, names

    def _count(self) -> None:
        self._steps += 1
        if self._steps > _STEPS:
            raise BadInput(f"{printable(self.name, 80)}: its links name each other endlessly",
                           _NEXT)  # fmt: skip

    def links(self, folder: str) -> Iterator[tuple[str, str]]:
        """Yield name and target of every link in a folder."""
        found = self.find(folder)
        for name, node in sorted(found.items() if isinstance(found, dict) else ()):
            if isinstance(node, Link):
                yield name, node.target


def as_regex(pattern: str) -> str:
    """Return the glob pattern as a regular expression; wildcards never match a slash."""
    pieces = re.split(r"(\*|\?|\[[^\]/]+\])", pattern)
    wildcards = {"*": "[^/]*", "?": "[^/]"}
    return "".join(
        wildcards.get(
            piece, piece if piece.startswith("[") and len(piece) > 2 else re.escape(piece)
        )
        for piece in pieces
    )
