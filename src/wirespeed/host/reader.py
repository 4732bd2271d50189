# SPDX-License-Identifier: Apache-2.0
"""How are files and command outputs of a host read so that what cannot be read is told, not lost?

A file that does not exist is an answer (None). A file that may not be read, or that a recording
does not hold, is a `Missing` fact with the reason, noted once per fact.
"""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.model.facts import Missing
from wirespeed.remote.interface import (
    Completed,
    NotRecorded,
    ProgramMissing,
    RemoteError,
    Runner,
)

COMMAND_TIMEOUT_S = 10.0


class Reader:
    """Reads one host through its Runner and collects what could not be read in `missing`."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._missing: dict[str, str] = {}

    @property
    def host_name(self) -> str:
        return self._runner.name

    @property
    def missing(self) -> tuple[Missing, ...]:
        return tuple(Missing(fact, reason) for fact, reason in sorted(self._missing.items()))

    def lacks(self, fact: str, reason: str) -> None:
        """Note that a fact is unknown; the first reason given for a fact stands."""
        self._missing.setdefault(fact, reason)

    def text(self, path: str, fact: str) -> str | None:
        """The file's content without the final newline, or None (absent, or noted as missing)."""
        return self._content(path, self._runner.read_many([path])[path], fact)

    def many(self, patterns: Iterable[str], fact: str) -> dict[str, str]:
        """The content of every readable file that matches one of the patterns, by path."""
        paths = [path for pattern in patterns for path in self._runner.glob(pattern)]
        if not paths:
            return {}
        contents = {
            path: self._content(path, got, fact)
            for path, got in self._runner.read_many(paths).items()
        }
        return {path: text for path, text in contents.items() if text is not None}

    def names(self, pattern: str) -> tuple[str, ...]:
        """The paths that match."""
        return self._runner.glob(pattern)

    def command(self, argv: list[str], fact: str) -> Completed | None:
        """What the command printed; None where the host has no such program or it did not end."""
        try:
            return self._runner.run(argv, timeout_s=COMMAND_TIMEOUT_S, check=False)
        except ProgramMissing:
            return None
        except RemoteError as failure:
            self.lacks(fact, failure.what)
            return None

    def _content(self, path: str, got: str | OSError, fact: str) -> str | None:
        if isinstance(got, str):
            return got.removesuffix("\n")
        if isinstance(got, PermissionError):
            self.lacks(fact, f"needs root to read {path}")
        elif isinstance(got, NotRecorded):
            self.lacks(fact, str(got))
        # sysfs answers a read of an attribute that has no value here with EINVAL, ENODEV and the
        # like (a NIC without link has no speed): that is an absent value, as is an absent file.
        return None
