# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/cli.md: every verb with its arguments and options, as in --help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wirespeed.cli.command import build_command
from wirespeed.cli.command_kinds import LazyVerb
from wirespeed.cli.reference.markdown import MADE, table


def cli_page() -> str:
    """Return every verb with its arguments and options, as in --help."""
    lines = [
        "# Commands\n", MADE,
        "Exit codes: [exit-codes.md](exit-codes.md). Defaults of options from a file: "
        "[configuration.md](configuration.md).\n",
    ]  # fmt: skip
    lines += _command("wirespeed", build_command())
    return "\n".join(lines) + "\n"


def _command(path: str, command: Any) -> Iterator[str]:
    command = command.load() if isinstance(command, LazyVerb) else command
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [
        p
        for p in command.params
        if p.param_type_name == "option" and p.name != "help" and not p.hidden
    ]
    subcommands = getattr(command, "commands", {})
    words = ["[OPTIONS]"] if options else []
    words += ["COMMAND"] if subcommands else []
    words += [a.metavar if a.required else f"[{a.metavar}]" for a in arguments]
    yield f"## {path}\n"
    yield f"{(command.help or '').strip()}\n"
    yield f"```\n{' '.join([path, *words])}\n```\n"
    rows = [(a.metavar, getattr(a, "help", None) or "") for a in arguments]
    rows += [(_option(o), o.help or "") for o in options]
    if rows:
        yield from table(("argument or option", "meaning"), rows)
    for name, inner in subcommands.items():
        yield from _command(f"{path} {name}", inner)


def _option(option: Any) -> str:
    """Format an option with its value's name and its default."""
    metavar = "" if option.is_flag else f" {option.metavar or 'VALUE'}"
    default = option.default if isinstance(option.default, str | int) else None
    shown = f" (default {default})" if default not in (None, "", False, True) else ""
    return f"{', '.join(option.opts)}{metavar}{shown}"
