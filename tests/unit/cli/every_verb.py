# SPDX-License-Identifier: Apache-2.0
"""Find every verb of the command from the command itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from wirespeed.cli.command_kinds import LazyVerb
from wirespeed.cli.commands.command import build_command


@cache
def every_command() -> Mapping[tuple[str, ...], Any]:
    """Return every command and group by its words, e.g. ("study", "list").

    () is `wirespeed` itself.
    """
    return MappingProxyType(dict(_walk((), build_command())))


def _walk(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    command = command.load() if isinstance(command, LazyVerb) else command
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _walk((*path, name), inner)
