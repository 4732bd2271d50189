# SPDX-License-Identifier: Apache-2.0
"""Read a file of text that somebody else may have written."""

from __future__ import annotations

import errno
from pathlib import Path

from wirespeed.model.errors import BadInput
from wirespeed.model.input.bounded import MAX_CHARACTERS


def read_input(path: Path, next_step: str = "Check the path.") -> str:
    """Return the text of a file that the user named. Raises BadInput with that next step."""
    try:
        return read_text_file(path)
    except (OSError, UnicodeDecodeError) as fault:
        raise BadInput(f"{path} cannot be read: {why_unread(fault)}", next_step) from fault


def why_unread(fault: OSError | UnicodeDecodeError) -> str:
    """Return why a file could not be read, without its name."""
    return str(fault.strerror) if isinstance(fault, OSError) else "it is not UTF-8 text"


def read_text_file(path: Path, encoding: str = "utf-8") -> str:
    """Return the file's text. encoding: utf-8-sig skips the mark that some editors write.

    Raises OSError, also for more than MAX_CHARACTERS, and UnicodeDecodeError.
    """
    with path.open(encoding=encoding) as file:
        text = file.read(MAX_CHARACTERS + 1)
    if len(text) > MAX_CHARACTERS:
        raise OSError(errno.EFBIG, f"more than {MAX_CHARACTERS} characters", str(path))
    return text
