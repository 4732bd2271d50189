# SPDX-License-Identifier: Apache-2.0
"""Write a file that tells about hosts or users: whole or not at all, for its owner alone."""

from __future__ import annotations

import os
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700


def write_private(path: Path, text: str) -> None:
    """Write the text as UTF-8, whatever the umask is. Folders are made. Raises OSError."""
    make_private_folder(path.parent)
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(part, flags, FILE_MODE), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def make_private_folder(path: Path) -> None:
    """Make a folder and those above it that are missing. What is there stays as it is.

    Raises FileExistsError where it is a file, OSError.
    """
    for folder in reversed([each for each in path.parents if not each.exists()]):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    path.mkdir(mode=FOLDER_MODE, exist_ok=True)
