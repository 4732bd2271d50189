# SPDX-License-Identifier: Apache-2.0
"""The base of this package's errors."""

from __future__ import annotations

from wirespeed.model.errors import WirespeedError


class LabError(WirespeedError):
    """A lab cannot be started, used or taken down."""
