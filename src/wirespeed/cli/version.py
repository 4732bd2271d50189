# SPDX-License-Identifier: Apache-2.0
"""Name the program and its version."""

from __future__ import annotations

from importlib.metadata import version


def version_line() -> str:
    """Return name and version, as `wirespeed --version` prints them."""
    return f"wirespeed {version('wirespeed')}\n"
