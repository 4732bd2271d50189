# SPDX-License-Identifier: Apache-2.0
"""Describe a setting of a bench or its host that changed while a point was measured."""

from __future__ import annotations

from dataclasses import dataclass

# Value of a setting that is not there.
ABSENT = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that differed before and after a trial; ABSENT where it did not exist."""

    what: str
    """Name for people, e.g. "vnf0/lcore1: CPUs" or "Open vSwitch: rule in_port=1"."""
    before: str
    after: str
    host: str = ""
    splits: bool = True
    """True if trials before and after it are of two configurations."""

    def __str__(self) -> str:
        if self.before == ABSENT:
            return f"{self.what} was added: {self.after}"
        if self.after == ABSENT:
            return f"{self.what} was removed: {self.before}"
        return f"{self.what} changed from {self.before} to {self.after}"
