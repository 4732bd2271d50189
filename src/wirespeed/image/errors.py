# SPDX-License-Identifier: Apache-2.0
"""Define the base of this package's errors."""

from __future__ import annotations

from wirespeed.model.errors import WirespeedError


class ImageError(WirespeedError):
    """Raised when an image cannot be built, found or booted."""
