# SPDX-License-Identifier: Apache-2.0
"""How does a file get to a host so that a power loss leaves either the old or the new one?

sync(1) of coreutils 8.24 and later takes the names of files and directories to bring to the disk.
"""

from __future__ import annotations

import posixpath

from wirespeed.remote.interface import Runner

_NEW = ".wirespeed-new"


def read_text(runner: Runner, path: str) -> str | None:
    """A file's text; None where there is none."""
    try:
        return runner.read(path)
    except FileNotFoundError:
        return None


def replace_file(runner: Runner, path: str, text: str) -> None:
    """Make the file hold this text; its folder exists."""
    new = f"{path}{_NEW}"
    runner.write(new, text)
    runner.run(["sync", new])
    runner.run(["mv", "-T", new, path])
    runner.run(["sync", posixpath.dirname(path)])


def remove_file(runner: Runner, path: str) -> None:
    """Also what a replacement that was cut left."""
    runner.run(["rm", "-f", path, f"{path}{_NEW}"])
    runner.run(["sync", posixpath.dirname(path)])


def append_text(runner: Runner, path: str, text: str) -> None:
    """Add to a file, which is made if need be; on the disk when this returns."""
    runner.run(["dd", f"of={path}", "oflag=append", "conv=notrunc,fsync", "status=none"],
               stdin=text)  # fmt: skip
