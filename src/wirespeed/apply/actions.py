# SPDX-License-Identifier: Apache-2.0
"""Define the actions that change a host: write kernel files, run commands.

The same actions run through a Runner (apply, rollback) or as a shell script of the host. The host
runs the script at boot, or when no client confirms a change. Both have the same effect.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.remote.interface import RemoteError, Runner

# Commands of the host that change settings, in seconds: a NIC may take seconds to make its VFs.
COMMAND_S = 120.0


@dataclass(frozen=True, slots=True)
class Put:
    """Write a text to a kernel file."""

    path: str
    text: str
    may_fail: bool = False
    """True if the file may be absent or reject the text; the result is read back."""


@dataclass(frozen=True, slots=True)
class PutEach:
    """Write a text to every kernel file that matches a pattern; refusals are read back."""

    pattern: str
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """Run a command."""

    argv: tuple[str, ...]
    may_fail: bool = False
    """True if the command may fail; the result is read back."""


Action = Put | PutEach | Run

# $1: the file, $2: the text.
_FUNCTIONS = """\
put() { printf '%s\\n' "$2" > "$1"; }
try_put() { put "$1" "$2" 2>/dev/null || true; }
try_run() { "$@" 2>/dev/null || true; }
"""


def perform(runner: Runner, actions: Iterable[Action]) -> None:
    """Perform the actions. Raises OSError and RemoteError where one that must succeed fails."""
    for action in actions:
        match action:
            case Put():
                _put(runner, action.path, action.text, may_fail=action.may_fail)
            case PutEach():
                for path in runner.glob(action.pattern):
                    _put(runner, path, action.text, may_fail=True)
            case Run():
                runner.run(action.argv, timeout_s=COMMAND_S, check=not action.may_fail)


def script(purpose: str, actions: Iterable[Action]) -> str:
    """Return the actions as a POSIX shell script; a failed action does not stop the rest."""
    lines = ["#!/bin/sh", f"# {purpose}", _FUNCTIONS, "failed=0"]
    lines += [_line(action) for action in actions]
    return "\n".join([*lines, "exit $failed", ""])


def _line(action: Action) -> str:
    match action:
        case Put():
            words = shlex.join([action.path, action.text])
            return f"try_put {words}" if action.may_fail else f"put {words} || failed=1"
        case PutEach():
            text = shlex.quote(action.text)
            return f'for file in {action.pattern}; do try_put "$file" {text}; done'
        case Run():
            words = shlex.join(action.argv)
            return f"try_run {words}" if action.may_fail else f"{words} || failed=1"


def _put(runner: Runner, path: str, text: str, *, may_fail: bool) -> None:
    try:
        runner.write(path, f"{text}\n")
    except (OSError, RemoteError) as fault:
        # A lost connection does not mean that the kernel rejected the text.
        if not may_fail or not isinstance(fault, OSError):
            raise
