# SPDX-License-Identifier: Apache-2.0
"""How does one decision of a plan compare with what the host is?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    OK = "ok"
    DIFFERS = "differs"
    ABSENT = "not here"
    REBOOT = "needs a reboot"


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
        return self.verdict in (Verdict.DIFFERS, Verdict.REBOOT)
