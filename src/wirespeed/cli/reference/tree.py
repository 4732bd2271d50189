# SPDX-License-Identifier: Apache-2.0
"""Walk the commands for pages, manuals and completion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wirespeed.cli.command_kinds import LazyVerb
from wirespeed.cli.commands.command import build_command


@dataclass(frozen=True, slots=True)
class Entry:
    """A command or a group of commands."""

    words: tuple[str, ...]
    """Its words, e.g. ("wirespeed", "study", "list")."""
    help: str
    arguments: tuple[Any, ...]
    options: tuple[Any, ...]
    inner: tuple[str, ...]
    """Names of the commands of a group."""

    @property
    def path(self) -> str:
        return " ".join(self.words)

    @property
    def usage(self) -> str:
        """Line with the words and the names of what follows them."""
        words = ["[OPTIONS]"] if self.options else []
        words += ["COMMAND"] if self.inner else []
        words += [a.metavar if a.required else f"[{a.metavar}]" for a in self.arguments]
        return " ".join([self.path, *words])


def entries() -> Iterator[Entry]:
    """Yield `wirespeed` and all its commands, each group before its commands."""
    yield from _walk(("wirespeed",), build_command())


def _walk(words: tuple[str, ...], command: Any) -> Iterator[Entry]:
    command = command.load() if isinstance(command, LazyVerb) else command
    params = [p for p in command.params if p.name != "help" and not getattr(p, "hidden", False)]
    inner: dict[str, Any] = getattr(command, "commands", {})
    yield Entry(
        words,
        (command.help or "").strip(),
        tuple(p for p in params if p.param_type_name == "argument"),
        tuple(p for p in params if p.param_type_name == "option"),
        tuple(inner),
    )
    for name, each in inner.items():
        yield from _walk((*words, name), each)


def option_text(option: Any) -> str:
    """Format an option with its value's name and its default."""
    metavar = "" if option.is_flag else f" {option.metavar or 'VALUE'}"
    default = option.default if isinstance(option.default, str | int) else None
    shown = f" (default {default})" if default not in (None, "", False, True) else ""
    return f"{', '.join(option.opts)}{metavar}{shown}"
