# SPDX-License-Identifier: Apache-2.0
"""Write tables of reference pages, and the line that names their origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MADE = "<!-- Made by `make docs`; change the code, not this page. -->\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a Markdown table, line by line."""
    yield f"| {' | '.join(head)} |\n|{'---|' * len(head)}"
    for row in rows:
        cells = (" ".join(cell.split()).replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(cells)} |"
    yield ""
