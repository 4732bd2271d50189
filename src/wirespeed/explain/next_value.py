# SPDX-License-Identifier: Apache-2.0
"""Define the next value of a key, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.result.explanation import KeyValue


@dataclass(frozen=True, slots=True)
class Refusal:
    """No further value of a key."""

    why: str
    """Reason, as a clause."""


Next = KeyValue | Refusal

UNKNOWN = Refusal("not known what was measured")
