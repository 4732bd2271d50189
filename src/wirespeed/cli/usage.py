# SPDX-License-Identifier: Apache-2.0
"""Word a usage error in a command's own words: an unknown option, a value of the wrong type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from typer import TyperException

from wirespeed.cli.commands.command import VERBS

# The parser's own words, and ours.
_WORDS = {
    "Value error, ": "",
    "Input should be ": "must be ",
    ", unable to parse string as an integer": "",
    ", unable to parse string as a number": "",
    "Got unexpected extra argument(s) ": "too many words: ",
    "Invalid value for ": "",
}


def problem(error: TyperException, arguments: Sequence[str]) -> tuple[str, str, str]:
    """Return command, problem and next step; no problem where its help was printed."""
    context: Any = getattr(error, "ctx", None)
    if context is None:  # as for an option without its value
        command = " ".join(["wirespeed", *(word for word in arguments[:1] if word in VERBS)])
    else:
        command = context.command_path
    text = error.format_message().removesuffix(".")
    for theirs, ours in _WORDS.items():
        text = text.replace(theirs, ours)
    text = re.sub(r"^'(--[^']+)'", r"\1", text)
    return command, _with_value(text, error), f"`{command} --help` lists what it takes."


def _with_value(text: str, error: TyperException) -> str:
    """Format `'--frame': must be ...` with the value that was given."""
    option, colon, rule = text.partition(": must be ")
    errors = getattr(error.__cause__, "errors", None)
    if not colon or errors is None:
        return text[:1].lower() + text[1:]
    return f"{option} {errors()[0]['input']}: must be {rule}"
