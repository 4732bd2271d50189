# SPDX-License-Identifier: Apache-2.0
"""Define the errors of planning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.model.errors import BadInput
from wirespeed.model.words import counted


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in one key of a file."""

    key: str
    value: str
    """Value as written."""
    allowed: str
    """Allowed values, completing the error message."""

    def __str__(self) -> str:
        return f"{self.key} = {self.value}: {self.allowed}"


class PlanError(BadInput):
    """No plan can be made from the input."""


class FileFaults(PlanError):
    """All errors of one file."""

    def __init__(self, source: str, faults: Iterable[Fault], next_step: str) -> None:
        self.faults = tuple(dict.fromkeys(faults))
        count = counted(len(self.faults), "error")
        lines = "\n".join(f"  {fault}" for fault in self.faults)
        super().__init__(f"{source}: {count}\n{lines}", next_step)
