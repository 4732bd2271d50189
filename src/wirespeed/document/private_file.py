# SPDX-License-Identifier: Apache-2.0
"""Write files whole or not at all, private ones for their owner; read those that are our own."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700
# A file that steers what we do is small.
OWN_OCTETS = 1 << 20


def write_private(path: Path, text: str) -> None:
    """Write the text as UTF-8 for any umask. Creates folders. Raises OSError."""
    make_private_folder(path.parent)
    write_whole(path, text, FILE_MODE)


def write_whole(path: Path, text: str, mode: int = 0o666) -> None:
    """Write the text as UTF-8, or keep the old file. mode: less the umask. Raises OSError."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(part, flags, mode), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_own(path: Path) -> str:
    """Read a UTF-8 file that steers what we do.

    Raises FileNotFoundError, PermissionError where another user owns it or all may write it,
    OSError, UnicodeDecodeError.
    """
    # A pipe would keep us waiting.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), encoding="utf-8") as file:
        found = os.fstat(file.fileno())
        if {path.lstat().st_uid, found.st_uid} - _trusted():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        if found.st_mode & stat.S_IWOTH:
            raise PermissionError(errno.EPERM, "every user can write it", str(path))
        if found.st_size > OWN_OCTETS:
            raise OSError(errno.EFBIG, f"more than {OWN_OCTETS:,} octets", str(path))
        return file.read()


def make_private_folder(path: Path) -> None:
    """Make a folder and its missing parents. Existing folders stay unchanged.

    Raises FileExistsError where it is a file, PermissionError where another user could exchange its
    content, OSError.
    """
    missing = [each for each in (path, *path.parents) if not os.path.lexists(each)]
    _check_owner(missing[-1].parent if missing else path)
    for folder in reversed(missing[1:]):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    path.mkdir(mode=FOLDER_MODE, exist_ok=True)
    _check_owner(path)


def _check_owner(folder: Path) -> None:
    """Refuse a folder, or a link to one, that someone else made, e.g. in /var/tmp."""
    target = folder.stat()
    if {folder.lstat().st_uid, target.st_uid} - _trusted():
        raise PermissionError(errno.EPERM, "its folder belongs to another user", str(folder))
    if target.st_mode & stat.S_IWOTH and not target.st_mode & stat.S_ISVTX:
        raise PermissionError(
            errno.EPERM, "every user can exchange the files in its folder", str(folder)
        )


def _trusted() -> set[int]:
    """Return the users whose files are ours: whoever called sudo is trusted with root's."""
    caller = os.environ.get("SUDO_UID", "")
    return {0, os.geteuid(), int(caller) if caller.isascii() and caller.isdigit() else 0}
