# SPDX-License-Identifier: Apache-2.0
"""Define the errors of planning."""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.model.errors import BadInput
from wirespeed.model.input.fault import Fault
from wirespeed.model.words import counted


class PlanError(BadInput):
    """No plan can be made from the input."""


class FileFaults(PlanError):
    """All errors of one file."""

    def __init__(self, source: str, faults: Iterable[Fault], next_step: str) -> None:
        # Not by hash: the value may be a list.
        self.faults = tuple({str(fault): fault for fault in faults}.values())
        count = counted(len(self.faults), "error")
        lines = "\n".join(f"  {fault}" for fault in self.faults)
        super().__init__(f"{source}: {count}\n{lines}", next_step)
