# SPDX-License-Identifier: Apache-2.0
"""Check that the plan's templates print values only through the escape of their language.

The environment escapes plain values. This checks what it cannot see. A value in a comment needs the
filter `comment`. No value may be inside quotes (XML's are part of its escape) or switch the escape
off. Prints one line per error and exits 1 if there is any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from wirespeed.plan.render.escape import language_of
from wirespeed.plan.render.interface import environment

TEMPLATES = Path("src/wirespeed/plan/render/templates")
_COMMENT = re.compile(r"(^|\s)#")
_SWITCHES = ("safe", "forceescape", "autoescape")


def faults_of(name: str, source: str) -> Iterator[str]:
    """Yield the errors of a template, whose name has the suffix of its language."""
    language = language_of(name).name
    before, words, value = "", [], False
    for line, kind, text in environment(language).lex(source):
        where = f"{name}:{line}"
        if text in _SWITCHES and kind == "name":
            yield f"{where}: {text} switches the escape off"
        if kind in {"data", "raw_begin"}:
            before = (before + text if kind == "data" else before).rpartition("\n")[2]
        elif kind == "variable_begin":
            value, words = True, []
        elif kind == "variable_end":
            value = False
            last = words[-1] if words[-2:-1] == ["|"] else None
            if _in_comment(language, before) != (last == "comment"):
                yield f"{where}: a value in a comment, and no other, ends in | comment"
            if language != "XML" and not _in_comment(language, before) and _quoted(before):
                yield f"{where}: a value inside quotes; its escape has its own"
        elif value and kind != "whitespace":
            words.append(text)


def _in_comment(language: str, before: str) -> bool:
    if language == "XML":
        return before.rfind("<!--") > before.rfind("-->")
    return _COMMENT.search(before) is not None


def _quoted(before: str) -> bool:
    return any(before.replace(f"\\{mark}", "").count(mark) % 2 for mark in "\"'`")


def main() -> int:
    templates = sorted(TEMPLATES.glob("*.j2"))
    faults = [
        fault
        for path in templates
        for fault in faults_of(path.name, path.read_text(encoding="utf-8"))
    ]
    print("\n".join(faults) or f"{len(templates)} templates print escaped values alone")
    return 1 if faults or not templates else 0


if __name__ == "__main__":
    sys.exit(main())
