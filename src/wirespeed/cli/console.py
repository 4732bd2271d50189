# SPDX-License-Identifier: Apache-2.0
"""How do the commands print tables and sentences?"""

from __future__ import annotations

from rich.console import Console


def plain_console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A console that prints text unchanged: titles and names may have [brackets]."""
    return Console(stderr=stderr, width=width, highlight=False, markup=False)
