# SPDX-License-Identifier: Apache-2.0
"""Reject a folder of root's records that another user could have written or redirected."""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Sequence

from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import Runner

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NotOurs(WirespeedError):
    """Raised when the files there may be another user's. Nothing was changed."""


def check_own(runner: Runner, folder: str, files: Sequence[str]) -> None:
    """Raise NotOurs unless the folder, the folder above it and the existing files are safe.

    Safe are regular files and folders, without symbolic links, that root owns and only root can
    write.
    """
    paths = (posixpath.dirname(folder), folder, *files)
    # stat prints the existing paths; its exit code says that another one is missing.
    done = runner.run(["stat", "-c", "%f %u %n", "--", *paths], check=False)
    for line in done.stdout.splitlines():
        mode, user, path = line.split(" ", 2)
        wanted = stat.S_ISREG if path in files else stat.S_ISDIR
        why = _fault(int(mode, 16), int(user), ours=wanted(int(mode, 16)))
        if why:
            raise NotOurs(
                f"{path} on {runner.name} {why}; what root reads and writes there must be root's "
                "own",
                f"Look at it. If you do not need it, remove it: `rm -rf {folder}`.",
            )


def _fault(mode: int, user: int, *, ours: bool) -> str:
    if stat.S_ISLNK(mode):
        return "is a symbolic link"
    if not ours:
        return "is not a regular file or folder that wirespeed made"
    if user != 0:
        return f"belongs to user {user}"
    return "can be written by others" if mode & _OTHERS_WRITE else ""
