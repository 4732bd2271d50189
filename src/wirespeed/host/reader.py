# SPDX-License-Identifier: Apache-2.0
"""How are files and command outputs of a host read so that what cannot be read is told, not lost?

A file that does not exist is an answer (absent). A file that may not be read, or that a recording
does not hold, is a `Missing` fact with the reason, noted once per fact. A file whose content makes
no sense is a fault; all faults of a host are told at once (`HostUnreadable`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wirespeed.model.cpuset import parse_list
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.facts import Missing
from wirespeed.remote.interface import (
    Completed,
    NotRecorded,
    ProgramMissing,
    RemoteError,
    Runner,
)

COMMAND_TIMEOUT_S = 10.0

Files = Mapping[str, str]


class HostUnreadable(BadInput):
    """Files of a host, mostly of a recorded one, hold what no kernel writes there."""

    def __init__(self, host: str, faults: list[str]) -> None:
        said = faulty_file(
            f"what {host} says of itself makes no sense",
            faults,
            "If it is a recording, take it again with `wirespeed inspect --record DIR`; if not, "
            "correct the value on the host.",
        )
        super().__init__(said.what, said.next_step)
        self.faults = tuple(faults)


class Reader:
    """Reads one host through its Runner and collects what could not be read, or not understood."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._missing: dict[str, str] = {}
        self._faults: list[str] = []

    @property
    def missing(self) -> tuple[Missing, ...]:
        return tuple(Missing(fact, reason) for fact, reason in sorted(self._missing.items()))

    def lacks(self, fact: str, reason: str) -> None:
        """Note that a fact is unknown; the first reason given for a fact stands."""
        self._missing.setdefault(fact, reason)

    def fault(self, where: str, what: str) -> None:
        """Note a value that makes no sense."""
        self._faults.append(f"{where}: {what}")

    def raise_faults(self) -> None:
        """Raises HostUnreadable if any value read so far made no sense."""
        if self._faults:
            raise HostUnreadable(self._runner.name, self._faults)

    def text(self, path: str, fact: str) -> str | None:
        """The file's content without the final newline, or None (absent, or noted as missing)."""
        return self.files([path], fact).get(path)

    def many(self, patterns: Iterable[str], fact: str) -> dict[str, str]:
        """The content of every readable file that matches one of the patterns, by path."""
        return self.files(self.names(*patterns, fact=fact), fact)

    def files(self, paths: Sequence[str], fact: str) -> dict[str, str]:
        """The content of those of the files that exist and may be read, by path."""
        if not paths:
            return {}
        contents = {
            path: self._content(path, got, fact)
            for path, got in self._runner.read_many(paths).items()
        }
        return {path: text for path, text in contents.items() if text is not None}

    def names(self, *patterns: str, fact: str) -> tuple[str, ...]:
        """The paths that match one of the patterns."""
        try:
            return self._runner.glob(*patterns)
        except NotRecorded as absent:
            self.lacks(fact, str(absent))
            return ()

    def command(self, argv: list[str], fact: str) -> Completed | None:
        """What the command printed; None where the host has no such program or it did not end."""
        try:
            return self._runner.run(argv, timeout_s=COMMAND_TIMEOUT_S, check=False)
        except ProgramMissing:
            return None
        except RemoteError as failure:
            self.lacks(fact, failure.what)
            return None

    def number(self, files: Files, path: str, default: int, base: int = 10) -> int:
        """The whole number in that file; `default` where there is no such file."""
        text = files.get(path)
        if text is None:
            return default
        try:
            return int(text, base)
        except ValueError:
            self.fault(path, f"{text!r} is not a whole number")
            return default

    def cpus(self, files: Files, path: str) -> tuple[int, ...]:
        """The CPUs of the list in that file; none where there is no such file."""
        try:
            return parse_list(files.get(path, ""))
        except ValueError as fault:
            self.fault(path, str(fault))
            return ()

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
