# SPDX-License-Identifier: Apache-2.0
"""Read a host's files and command outputs, and note what could not be read.

A file that does not exist means that the fact is absent. A file without permission, or one that a
recording lacks, gives a `Missing` fact with the reason, once per fact. A file with invalid content
is an error; all errors of a host are reported at once (`HostUnreadable`).
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Mapping, Sequence

from wirespeed.model.cpuset import parse_list
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.host.facts import Missing
from wirespeed.model.input.bounded import MAX_INTEGER
from wirespeed.model.input.fault import show
from wirespeed.model.input.text import printable
from wirespeed.remote.interface import (
    Completed,
    NotRecorded,
    ProgramMissing,
    RemoteError,
    Runner,
)

COMMAND_TIMEOUT_S = 10.0
# Longest excerpt of a host's answer in an error or a reason, in characters.
_SHOWN = 300

Files = Mapping[str, str]


class HostUnreadable(BadInput):
    """Raised for files of a host, mostly of a recorded one, with values that no kernel writes."""

    def __init__(self, host: str, faults: list[str]) -> None:
        fault = faulty_file(
            f"files of host {host} hold values that cannot be true",
            faults,
            "If it is a recording, take it again with `wirespeed inspect --record DIR`; if not, "
            "correct the value on the host.",
        )
        super().__init__(fault.what, fault.next_step)
        self.faults = tuple(faults)


class Reader:
    """Reads one host through its Runner, and collects missing facts and errors."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._missing: dict[str, str] = {}
        self._faults: list[str] = []

    @property
    def missing(self) -> tuple[Missing, ...]:
        return tuple(Missing(fact, reason) for fact, reason in sorted(self._missing.items()))

    def lacks(self, fact: str, reason: str) -> None:
        """Note that a fact is unknown; the first of several reasons is kept."""
        self._missing.setdefault(fact, printable(reason, _SHOWN))

    def fault(self, where: str, what: str) -> None:
        """Note an invalid value."""
        self._faults.append(printable(f"{where}: {what}", _SHOWN))

    def matches(
        self, fact: str, where: str, text: str, form: re.Pattern[str], wanted: str
    ) -> list[re.Match[str]]:
        """Match each line of a text that is not empty; note a line that is not `wanted`."""
        found = []
        for line in filter(None, text.split("\n")):
            if match := form.fullmatch(line):
                found.append(match)
            else:
                self.lacks(fact, f"{where}: {show(line)} is not {wanted}")
        return found

    def count(self, fact: str, where: str, text: str | None) -> int | None:
        """Read a whole number that a program wrote; note another text. None without a number."""
        number = whole(text)
        if text is not None and number is None:
            self.lacks(fact, f"{where}: {show(text)} is not a whole number")
        return number

    def raise_faults(self) -> None:
        """Raise HostUnreadable if any value read so far was invalid."""
        if self._faults:
            raise HostUnreadable(self._runner.name, self._faults)

    def text(self, path: str, fact: str) -> str | None:
        """Return the content without the final newline; None when absent or noted as missing."""
        return self.files([path], fact).get(path)

    def many(self, patterns: Iterable[str], fact: str) -> dict[str, str]:
        """Return the content of every readable file that matches one of the patterns, by path."""
        return self.files(self.names(*patterns, fact=fact), fact)

    def files(self, paths: Sequence[str], fact: str) -> dict[str, str]:
        """Return the content of the files that exist and may be read, by path."""
        if not paths:
            return {}
        contents = {
            path: self._content(path, got, fact)
            for path, got in self._runner.read_many(paths).items()
        }
        return {path: text for path, text in contents.items() if text is not None}

    def names(self, *patterns: str, fact: str) -> tuple[str, ...]:
        """Return the paths that match any of the patterns. `[0-9]*` matches only a number."""
        try:
            paths = self._runner.glob(*patterns)
        except NotRecorded as absent:
            self.lacks(fact, str(absent))
            return ()
        numbered = re.compile("|".join(map(_numbered, patterns)), re.DOTALL)
        for path in paths:
            if not numbered.fullmatch(path):
                self.lacks(fact, f"{path} is no path of a kernel")
        return tuple(filter(numbered.fullmatch, paths))

    def command(self, argv: list[str], fact: str) -> Completed | None:
        """Return the command's output; None when the program is missing or did not end."""
        try:
            return self._runner.run(argv, timeout_s=COMMAND_TIMEOUT_S, check=False)
        except ProgramMissing:
            return None
        except RemoteError as failure:
            self.lacks(fact, failure.what)
            return None

    def output(
        self, argv: list[str], fact: str, *, needs: str, failed: str, line: int = -1
    ) -> str | None:
        """Return what a command prints; None where it is missing or fails, with a noted reason.

        needs: the reason where it is missing. failed: what its own reason is put after. line: index
        of that reason in what it prints.
        """
        done = self.command(argv, fact)
        if done is None:
            self.lacks(fact, needs)
            return None
        if done.exit_code != 0:
            said = (done.stderr or done.stdout).strip().splitlines()
            self.lacks(fact, f"{failed}: {said[line] if said else done.exit_code}")
            return None
        return done.stdout

    def number(self, files: Files, path: str, default: int, base: int = 10) -> int:
        """Return the whole number in that file; `default` where there is no such file."""
        text = files.get(path)
        if text is None:
            return default
        try:
            number = int(text, base)
        except ValueError:
            self.fault(path, f"{text[:_SHOWN]!r} is not a whole number")
            return default
        if abs(number) > MAX_INTEGER:
            self.fault(path, "has a number of more than 64 bits")
            return default
        return number

    def cpus(self, files: Files, path: str) -> tuple[int, ...]:
        """Return the CPUs of the list in that file; empty where there is no such file."""
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
        elif got.errno == errno.EFBIG:
            self.lacks(fact, f"{path} is too large to be the kernel's: {got.strerror}")
        # Reading a sysfs attribute without a value fails with EINVAL, ENODEV or the like, e.g. the
        # speed of a NIC without link. The value is then absent, as with an absent file.
        return None


def whole(text: str | None) -> int | None:
    """Return the text as a whole number; None for other text or more than 18 digits."""
    return int(text) if text is not None and re.fullmatch("[0-9]{1,18}", text) else None


def _numbered(pattern: str) -> str:
    """Return the glob pattern as a regular expression in which `[0-9]*` is a number."""
    pieces = re.split(r"(\[0-9\]\*|\*)", pattern)
    wildcards = {"[0-9]*": "[0-9]{1,9}", "*": "[^/]*"}
    return "".join(wildcards.get(piece, re.escape(piece)) for piece in pieces)
