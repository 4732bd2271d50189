# SPDX-License-Identifier: Apache-2.0
"""Define the base of this package's errors."""

from __future__ import annotations

from wirespeed.model.errors import WirespeedError


class LabError(WirespeedError):
    """Raised when a virtual testbed cannot be started, used or taken down."""
