# SPDX-License-Identifier: Apache-2.0
"""Represent the comparison of one decision with the host."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.apply.row import Verdict


@dataclass(frozen=True, slots=True)
class Found:
    verdict: Verdict
    text: str
    note: str = ""


def same(text: str) -> Found:
    return Found(Verdict.OK, text)


def differs(text: str, note: str = "") -> Found:
    return Found(Verdict.DIFFERS, text, note)


def absent(note: str) -> Found:
    """Return the finding of a decision that this host, by its nature, has nothing for."""
    return Found(Verdict.ABSENT, "", note)


def unchecked(reason: str) -> Found:
    """Return the finding of a decision whose value on the host cannot be read."""
    return Found(Verdict.UNCHECKED, "", reason)
