# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a study file, said in one go?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.model.errors import BadInput


@dataclass(frozen=True, slots=True)
class Fault:
    """One wrong key. `value` is as written; `allowed` says what would be right."""

    key: str
    value: object
    allowed: str

    def __str__(self) -> str:
        return f"{self.key} = {show(self.value)}: {self.allowed}"


class StudyError(BadInput):
    """A study cannot be read, or says something that cannot be measured."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        # Not by hash: the value may be a list.
        self.faults = tuple({str(fault): fault for fault in faults}.values())
        count = f"{len(self.faults)} faults" if len(self.faults) > 1 else "1 fault"
        lines = "\n".join(f"  {fault}" for fault in self.faults)
        super().__init__(
            f"{source}: {count}\n{lines}",
            "Correct the study file or --set; docs/reference/study-file.md lists every key.",
        )


def show(value: object) -> str:
    """The value in TOML's spelling, shortened to one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        text = '"' + value.replace('"', '\\"') + '"'
    elif isinstance(value, list | tuple):
        text = "[" + ", ".join(show(item) for item in value) + "]"
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{key} = {show(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, float):
        text = f"{value:.12g}"
    else:
        text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."
