# SPDX-License-Identifier: Apache-2.0
"""How is a text file read that the user named?"""

from __future__ import annotations

from pathlib import Path

from wirespeed.model.errors import BadInput


def read_input(path: Path) -> str:
    """The file's text. Raises BadInput."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8 text"
        raise BadInput(f"{path} cannot be read: {why}", "Check the path.") from fault
