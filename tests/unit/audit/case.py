# SPDX-License-Identifier: Apache-2.0
"""Describe a broken host and the finding that one rule must report for it."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.audit.rule import Subject


@dataclass(frozen=True)
class Case:
    """A broken host for one rule."""

    rule: str
    what: str
    subject: Subject
    found: tuple[str, ...]
    """Part of each finding's "subject: found" text, in order."""
    fix: str = ""
    """Part of a command that corrects it."""

    def __str__(self) -> str:
        return f"{self.rule} {self.what}"
