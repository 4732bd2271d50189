# SPDX-License-Identifier: Apache-2.0
"""Print everything that the commands print: text, JSON, tables, errors.

Names and texts come from documents, hosts and databases of others. A control character in them
would be a command to the terminal (move the cursor, fill the clipboard, hide a line). So each is
printed as its escape, e.g. `\x1b`. Newline and tab are our own layout. The linter rejects any other
way to print in `wirespeed.cli`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from textwrap import wrap
from typing import Any, NoReturn

from rich import text as rich_text
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.style import StyleType

# C0 without newline and tab, DEL and C1.
_CONTROLS = [*(c for c in range(0x20) if chr(c) not in "\n\t"), *range(0x7F, 0xA0)]
# Marks that reorder text, line separators, and octets of file names that are not UTF-8.
_UNSEEN = [0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A),
           *range(0xD800, 0xE000)]  # fmt: skip
_IN_JSON = {code: f"\\u{code:04x}" for code in (*_CONTROLS, *_UNSEEN)}
# A file or a pipe has no width: this one fits each row on one line.
FILE_WIDTH = 200
# Longer lines of a paragraph are hard to read.
_READABLE = 100
_IN_TEXT = _IN_JSON | {code: f"\\x{code:02x}" for code in _CONTROLS}


def visible(text: str) -> str:
    """Return the text with every control character as its escape."""
    return text.translate(_IN_TEXT)


def print_line(text: str, *, stderr: bool = False) -> None:
    """Print a line of text."""
    print_text(f"{text}\n", stderr=stderr)


def print_text(text: str, *, stderr: bool = False) -> None:
    """Print text that ends its own lines."""
    _write(visible(text), stderr)


def print_json(text: str) -> None:
    """Print a JSON document, with one line break after it; it stays valid JSON."""
    _write(f"{text.rstrip().translate(_IN_JSON)}\n", stderr=False)


def plain_console(*, stderr: bool = False, width: int | None = None) -> Console:
    """Return a console for tables; [brackets] and :words: in titles and names are text."""
    return _VisibleConsole(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)


def results_console() -> Console:
    """Return a console for stdout, as wide as the terminal or as COLUMNS says."""
    console = plain_console()
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return plain_console(width=FILE_WIDTH)


def print_paragraph(
    text: str, console: Console, *, first: str = "", width: int = _READABLE, style: str = ""
) -> None:
    """Print text broken between words at `width`, or at the console's width if that is less.

    first: prefix of the first line; later lines are indented by its length.
    """
    columns = min(console.width, width)
    lines = wrap(
        visible(text), columns, initial_indent=first, subsequent_indent=" " * len(first),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    for line in lines:
        console.print(line, style=style, soft_wrap=True)


class Text(rich_text.Text):
    """Styled text with every control character as its escape; rich would drop some of them."""

    def __init__(self, text: str = "", style: StyleType = "", **options: Any) -> None:
        super().__init__(visible(text), style, **options)

    def append(
        self, text: rich_text.Text | str, style: str | StyleType | None = None
    ) -> rich_text.Text:
        return super().append(visible(text) if isinstance(text, str) else text, style)


class _VisibleConsole(Console):
    def render_str(self, text: str, **options: Any) -> rich_text.Text:
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render a renderable; every part of every table passes here.

        Control segments are rich's own.
        """
        for segment in super().render(renderable, options):
            shown = segment.control or segment.text == visible(segment.text)
            yield segment if shown else Segment(visible(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        end_unread()


def _write(text: str, stderr: bool) -> None:
    stream = sys.stderr if stderr else sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        end_unread()


def end_unread() -> NoReturn:
    """End with 141, as a program does whose reader has closed the pipe, e.g. `head`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(128 + 13)
