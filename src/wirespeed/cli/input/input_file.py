# SPDX-License-Identifier: Apache-2.0
"""Read a text file that the user named."""

from __future__ import annotations

from pathlib import Path

from wirespeed.document.text_file import read_text_file
from wirespeed.model.errors import BadInput


def read_input(path: Path, next_step: str = "Check the path.") -> str:
    """Return the file's text. Raises BadInput with that next step."""
    try:
        return read_text_file(path)
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8 text"
        raise BadInput(f"{path} cannot be read: {why}", next_step) from fault
