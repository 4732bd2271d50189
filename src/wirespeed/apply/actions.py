# SPDX-License-Identifier: Apache-2.0
"""What is done to a host to change it: write kernel files, run commands.

The same actions are performed through a Runner (apply, rollback) or written as a shell script that
the host runs by itself (at boot, or when nobody confirms a change), so that both do the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.remote.interface import RemoteError, Runner

# A command of the host's own that changes settings: a NIC may take seconds to make its VFs.
COMMAND_S = 120.0


@dataclass(frozen=True, slots=True)
class Put:
    """Write a text to a kernel file. may_fail: the file may be absent or refuse it; what became
    of it is read back."""

    path: str
    text: str
    may_fail: bool = False


@dataclass(frozen=True, slots=True)
class PutEach:
    """Write a text to every kernel file that matches a pattern; refusals are read back."""

    pattern: str
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """Run a command. may_fail: what became of it is read back."""

    argv: tuple[str, ...]
    may_fail: bool = False


Action = Put | PutEach | Run

# $1: the file, $2: the text.
_FUNCTIONS = """\
put() { printf '%s\\n' "$2" > "$1"; }
try_put() { put "$1" "$2" 2>/dev/null || true; }
try_run() { "$@" 2>/dev/null || true; }
"""


def perform(runner: Runner, actions: Iterable[Action]) -> None:
    """Raises OSError and RemoteError where an action that must succeed does not."""
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
    """The actions for a POSIX shell. One that fails does not keep the others from being done."""
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
        # A lost connection is no refusal of the kernel's.
        if not may_fail or not isinstance(fault, OSError):
            raise
