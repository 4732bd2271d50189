# SPDX-License-Identifier: Apache-2.0
"""Report all errors of a study file at once."""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.model.errors import BadInput
from wirespeed.model.input.fault import Fault


class StudyError(BadInput):
    """A study cannot be read, or asks for something that cannot be measured."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        # Not by hash: the value may be a list.
        self.faults = tuple({str(fault): fault for fault in faults}.values())
        count = f"{len(self.faults)} faults" if len(self.faults) > 1 else "1 fault"
        lines = "\n".join(f"  {fault}" for fault in self.faults)
        super().__init__(
            f"{source}: {count}\n{lines}",
            "Correct the study file or --set; docs/reference/study-file.md lists every key.",
        )
