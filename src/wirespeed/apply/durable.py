# SPDX-License-Identifier: Apache-2.0
"""Write files of a host so that a power loss leaves either the old or the new file.

sync(1) of coreutils 8.24 and later takes the names of files and directories to flush.
"""

from __future__ import annotations

import posixpath

from wirespeed.remote.interface import Runner

_NEW = ".wirespeed-new"


def read_text(runner: Runner, path: str) -> str | None:
    """Return a file's text; None where there is no file."""
    try:
        return runner.read(path)
    except FileNotFoundError:
        return None


def replace_file(runner: Runner, path: str, text: str, *, same_mode: bool = False) -> None:
    """Replace the file's text; its folder exists. same_mode: keep its mode and owner; it exists."""
    new = f"{path}{_NEW}"
    if same_mode:
        # Writing to the copy keeps its mode.
        runner.run(["cp", "-p", path, new])
    runner.write(new, text)
    runner.run(["sync", new])
    runner.run(["mv", "-T", new, path])
    runner.run(["sync", posixpath.dirname(path)])


def remove_file(runner: Runner, path: str) -> None:
    """Remove the file, and the rest of an interrupted replacement."""
    runner.run(["rm", "-f", path, f"{path}{_NEW}"])
    runner.run(["sync", posixpath.dirname(path)])


def end_replacement(runner: Runner, path: str) -> None:
    """Remove the rest of an interrupted replacement; the file stays."""
    runner.run(["rm", "-f", f"{path}{_NEW}"])


def append_text(runner: Runner, path: str, text: str) -> None:
    """Append to a file, created if needed; the text is on the disk on return."""
    runner.run(["dd", f"of={path}", "oflag=append", "conv=notrunc,fsync", "status=none"],
               stdin=text)  # fmt: skip
