# SPDX-License-Identifier: Apache-2.0
"""Define the times that RFC 2544 requires of trials, in seconds."""

from __future__ import annotations

from typing import Final

FINAL_S: Final = 60.0
"""Least length of a final trial (section 24)."""
RESIDUAL_S: Final = 2.0
"""Wait for residual frames after a trial (section 23)."""
PAUSE_S: Final = 5.0
"""Time for the DUT to restabilize before the next trial (section 23)."""
