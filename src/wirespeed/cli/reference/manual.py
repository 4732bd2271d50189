# SPDX-License-Identifier: Apache-2.0
"""Write manual pages, one a verb, of the texts that --help prints (man(7), man-pages(7))."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from wirespeed.cli.reference.tree import Entry, entries, option_text
from wirespeed.cli.version import version_line


def manual_pages() -> Mapping[str, str]:
    """Return each page by the name of its file, e.g. "wirespeed-run.1"."""
    pages: dict[str, list[str]] = {}
    for entry in entries():
        name = "-".join(entry.words[:2])
        lines = pages.setdefault(name, _head(name, entry) if len(entry.words) < 3 else [])
        lines += _section(entry)
    for lines in pages.values():
        lines += [".SH EXIT STATUS", _text(_EXIT)]
        lines += [".SH SEE ALSO", "/usr/share/doc/wirespeed/reference"]
    return {f"{name}.1": "\n".join(lines) + "\n" for name, lines in pages.items()}


_EXIT = (
    "0: done, and the answer is good. 1: tried and failed, or the answer is negative. "
    "2: a word, file or host cannot be used; nothing was changed. 70: an error of wirespeed."
)


def _head(name: str, entry: Entry) -> list[str]:
    summary = re.split(r"[.;:]\s|\n", entry.help)[0].rstrip(".")
    source = version_line().strip()
    return [
        f'.TH {name.upper()} 1 "" "{source}" "wirespeed"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(summary[:1].lower() + summary[1:])}",
    ]


def _section(entry: Entry) -> Iterator[str]:
    yield f".SH {_text(entry.path.upper())}" if len(entry.words) > 2 else ".SH SYNOPSIS"
    yield f".B {_text(entry.usage)}"
    if len(entry.words) < 3:
        yield ".SH DESCRIPTION"
    for paragraph in entry.help.split("\n\n"):
        yield ".PP"
        yield _text(" ".join(paragraph.split()))
    rows = [(a.metavar, getattr(a, "help", None)) for a in entry.arguments]
    rows += [(option_text(o), o.help) for o in entry.options]
    for term, meaning in rows:
        yield ".TP"
        yield f"\\fB{_text(term)}\\fR"
        yield _text(" ".join((meaning or "").split()))
    if entry.inner and len(entry.words) == 1:
        yield ".SH COMMANDS"
        for name in entry.inner:
            yield ".TP"
            yield f"\\fBwirespeed\\-{_text(name)}\\fR(1)"


def _text(text: str) -> str:
    """Escape what roff reads as a request or a special character."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
