# SPDX-License-Identifier: Apache-2.0
"""Compare one decision of a plan with what the host is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    OK = "ok"
    DIFFERS = "differs"
    ABSENT = "not here"
    REBOOT = "needs a reboot"
    # What shows whether it is as planned cannot be read.
    UNCHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Row:
    """reason: why it was planned so; note: why it is not."""

    decision: str
    planned: str
    found: str
    verdict: Verdict
    reason: str
    note: str = ""

    @property
    def failed(self) -> bool:
        """Whether the host is not known to be as planned."""
        return self.verdict not in (Verdict.OK, Verdict.ABSENT)
