# SPDX-License-Identifier: Apache-2.0
"""What is in a text file that the user named?"""

from __future__ import annotations

from pathlib import Path

from wirespeed.model.errors import BadInput


def read_input(path: Path) -> str:
    """The file's text. Raises BadInput."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        said = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8 text"
        raise BadInput(f"{path} cannot be read: {said}", "Check the path.") from fault
