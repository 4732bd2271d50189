# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/cli.md: every verb with its arguments and options, as in --help."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.cli.reference.markdown import MADE, table
from wirespeed.cli.reference.tree import Entry, entries, option_text


def cli_page() -> str:
    """Return every verb with its arguments and options, as in --help."""
    lines = [
        "# Commands\n", MADE,
        "Exit codes: [exit-codes.md](exit-codes.md). Defaults of options from a file: "
        "[configuration.md](configuration.md).\n",
    ]  # fmt: skip
    for entry in entries():
        lines += _command(entry)
    return "\n".join(lines) + "\n"


def _command(entry: Entry) -> Iterator[str]:
    yield f"## {entry.path}\n"
    yield f"{entry.help}\n"
    yield f"```\n{entry.usage}\n```\n"
    rows = [(a.metavar, getattr(a, "help", None) or "") for a in entry.arguments]
    rows += [(option_text(o), o.help or "") for o in entry.options]
    if rows:
        yield from table(("argument or option", "meaning"), rows)
