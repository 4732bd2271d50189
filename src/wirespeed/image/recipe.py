# SPDX-License-Identifier: Apache-2.0
"""Describe the content of an image, and identify images with the same content."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

# Version of build.py's steps: another number makes another image.
_MAKING = 3
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that no package installs."""

    source: Path
    """Path on this machine."""
    target: str
    """Absolute path in the image."""
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class Recipe:
    """Content of an image."""

    name: str
    suite: str
    """Code name of the Debian release."""
    packages: tuple[str, ...]
    kernel: str
    """Package that depends on the kernel's package."""
    files: tuple[OwnFile, ...]
    configured: bool
    """True if the packages' scripts run, as in an installation.

    Otherwise packages are only unpacked, which takes a third of the time and suffices for a guest
    with an init of wirespeed's.
    """
    disk: str
    """"squashfs" (read only, a tmpfs over it) or "ext4" (writable through a qcow2 overlay)."""
    left_out: tuple[str, ...] = ()
    """Patterns of packaged files that are not needed there (dpkg's path-exclude)."""

    @property
    def digest(self) -> str:
        """Hash of package names and contents of own files; package versions are not included.

        An image is therefore as old as its build; `--rebuild` makes it again from the mirror's
        packages. Raises FileNotFoundError for an own file that has not been built.
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
