# SPDX-License-Identifier: Apache-2.0
"""Tell what was found of one decision."""

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
    """What would show the decision is not on this host, by its nature."""
    return Found(Verdict.ABSENT, "", note)


def unchecked(reason: str) -> Found:
    """What would show the decision cannot be read."""
    return Found(Verdict.UNCHECKED, "", reason)
