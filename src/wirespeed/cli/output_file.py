# SPDX-License-Identifier: Apache-2.0
"""Write a text file that the user named."""

from __future__ import annotations

from pathlib import Path

from wirespeed.model.errors import BadInput


def write_output(path: Path, text: str) -> None:
    """Write the file. Raises BadInput."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror}",
            "Name a file in a folder that exists and can be written.",
        ) from error
