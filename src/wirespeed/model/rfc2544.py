# SPDX-License-Identifier: Apache-2.0
"""Times that RFC 2544 sets for trials, in seconds."""

from __future__ import annotations

from typing import Final

FINAL_S: Final = 60.0
"""Section 24: the least length of a final trial."""
RESIDUAL_S: Final = 2.0
"""Section 23: the wait for residual frames after a trial."""
PAUSE_S: Final = 5.0
"""Section 23: the time that the DUT gets to restabilize before the next trial."""
