# SPDX-License-Identifier: Apache-2.0
"""What is an image made of, and when are two images the same?"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

# Of what build.py does with a recipe: another number, another image.
_MAKING = 2
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that no package brings. source: here; target: its absolute path in the image."""

    source: Path
    target: str
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class Recipe:
    """suite: Debian's code name. kernel: a package whose dependency is the kernel's own.

    configured: the packages' own scripts are run, as an installation does; otherwise they are only
    unpacked, which takes a third of the time and suffices for a guest whose init is ours.
    disk: "squashfs" (read only, a tmpfs over it) or "ext4" (written to, through a qcow2 overlay).
    left_out: patterns of what packages bring and nobody needs there (dpkg's path-exclude).
    """

    name: str
    suite: str
    packages: tuple[str, ...]
    kernel: str
    files: tuple[OwnFile, ...]
    configured: bool
    disk: str
    left_out: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Over names of packages and contents of our files; not over the packages' versions.

        An image is therefore as old as its build; `--rebuild` makes it anew from what the mirror
        has then. Raises FileNotFoundError for a file of ours that has not been built.
        """
        words = {
            "making": _MAKING,
            "name": self.name,
            "suite": self.suite,
            "packages": sorted(self.packages),
            "kernel": self.kernel,
            "files": sorted(
                [f.target, f.mode, hashlib.sha256(f.source.read_bytes()).hexdigest()]
                for f in self.files
            ),
            "configured": self.configured,
            "disk": self.disk,
            "left_out": sorted(self.left_out),
        }
        text = json.dumps(words, sort_keys=True).encode()
        return hashlib.sha256(text).hexdigest()[:_DIGITS]
