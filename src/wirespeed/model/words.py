# SPDX-License-Identifier: Apache-2.0
"""How is a number of things written in a sentence?"""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """1 guest, 2 guests."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
