# SPDX-License-Identifier: Apache-2.0
"""A broken host and what one rule must say of it."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.audit.rule import Subject


@dataclass(frozen=True)
class Case:
    """found: a part of each finding's "subject: found" text, in order. fix: a part of a command."""

    rule: str
    what: str
    subject: Subject
    found: tuple[str, ...]
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.rule} {self.what}"
