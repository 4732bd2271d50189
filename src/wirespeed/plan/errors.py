# SPDX-License-Identifier: Apache-2.0
"""What can go wrong while planning?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.model.errors import BadInput
from wirespeed.model.words import counted


@dataclass(frozen=True, slots=True)
class Fault:
    """One wrong key of a file, with its value as written. `allowed` says what it must be."""

    key: str
    value: str
    allowed: str

    def __str__(self) -> str:
        return f"{self.key} = {self.value}: {self.allowed}"


class PlanError(BadInput):
    """No plan can be made from the input."""


class FileFaults(PlanError):
    """Everything that is wrong with one file, at once."""

    def __init__(self, source: str, faults: Iterable[Fault], next_step: str) -> None:
        self.faults = tuple(dict.fromkeys(faults))
        count = counted(len(self.faults), "error")
        lines = "\n".join(f"  {fault}" for fault in self.faults)
        super().__init__(f"{source}: {count}\n{lines}", next_step)
