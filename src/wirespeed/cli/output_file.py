# SPDX-License-Identifier: Apache-2.0
"""Check and write a file that the user named, for every verb."""

from __future__ import annotations

import errno
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from wirespeed.document.private_file import write_private, write_whole
from wirespeed.model.errors import BadInput, WirespeedError

# Errors of the disk, not of the name that the user gave.
_OF_THE_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})


def write_output(path: Path, text: str, *, private: bool = False) -> None:
    """Write the file completely, or keep the old one. Devices and pipes are written into.

    private: readable by its owner only; its folder is made. Raises BadInput where the name cannot
    be used, WirespeedError where the disk is full or fails.
    """
    with _as_output_errors(path):
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        elif private:
            write_private(path, text)
        else:
            write_whole(path.resolve(), text)


@contextmanager
def writing(path: Path) -> Iterator[IO[str]]:
    """Yield a file to write to, piece by piece; it takes its name at the end, or the old one stays.

    Raises BadInput, WirespeedError, as write_output does.
    """
    with _as_output_errors(path):
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", newline="") as file:
                yield file
            return
        whole = path.resolve()
        part = whole.with_name(f".{whole.name}.part")
        try:
            with part.open("w", encoding="utf-8", newline="") as file:
                yield file
            part.replace(whole)
        finally:
            part.unlink(missing_ok=True)


def check_file(path: Path) -> None:
    """Raise BadInput where no file of this name can be written. No folder is made for it."""
    check_no_folder(path)
    check_folder(path.parent)


def check_no_folder(path: Path) -> None:
    """Raise BadInput where the name is a folder's, or empty."""
    if not path.name or path.is_dir():
        raise BadInput(
            f'"{path}" is a folder, not a file', f"Name a file in it, e.g. {path / 'report.html'}."
        )


def check_folder(path: Path) -> None:
    """Raise BadInput where the folder does not exist."""
    if not path.is_dir():
        raise BadInput(
            f"{path}: there is no such folder",
            f"Check its name, or make it: {shlex.join(['mkdir', '-p', str(path)])}",
        )


@contextmanager
def _as_output_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = f"{path} cannot be written: {error.strerror}"
        if error.errno in _OF_THE_DISK:
            raise WirespeedError(what, "Free some space there, or name another file.") from error
        raise BadInput(what, "Name a file in a folder that exists and can be written.") from error
