# SPDX-License-Identifier: Apache-2.0
"""Add to the documentation site which version it is of. MkDocs calls on_config."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any


def on_config(config: Any) -> Any:
    """Name the version in every page's title and foot."""
    config.copyright = f"wirespeed {version('wirespeed')}, Apache License 2.0"
    config.site_name = f"wirespeed {version('wirespeed')}"
    return config
