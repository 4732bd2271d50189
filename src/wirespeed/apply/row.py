# SPDX-License-Identifier: Apache-2.0
"""Represent the comparison of one decision of a plan with the host."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    OK = "ok"
    DIFFERS = "differs"
    ABSENT = "not here"
    REBOOT = "needs a reboot"
    # The value on the host cannot be read.
    UNCHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Row:
    """One decision or setting, planned and found."""

    decision: str
    planned: str
    found: str
    verdict: Verdict
    reason: str
    """Reason in the plan."""
    note: str = ""
    """Reason of the difference."""

    @property
    def failed(self) -> bool:
        """True if the host is not known to match the plan."""
        return self.verdict not in (Verdict.OK, Verdict.ABSENT)
