# SPDX-License-Identifier: Apache-2.0
"""Record what a run changes on a host, so that it can be undone even after `kill -9`.

Each run has one file per host, in the local state directory, with one record a line. The first
record is the owner and the host's address. Each change is written and fsynced *before* it is made;
the numbers of undone changes follow. The owner holds a lock on its file while it lives; the kernel
releases the lock however the process ends. A journal whose lock is free is a leftover; a locked one
belongs to a living run.
"""

from __future__ import annotations

import fcntl
import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from wirespeed.bench.host.change import Change, ChangedSince
from wirespeed.bench.host.changes import HugePagesAdded
from wirespeed.bench.host.journal_file import (
    SUFFIX,
    TEXT,
    Found,
    of_living_runs,
    one_at_a_time,
    replay,
)
from wirespeed.bench.interface import BenchError
from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import LOCALHOST, HostUnreachable, Runner

# Name of a journal until it is locked; no reader opens it. A kill leaves at most this one file.
_UNLOCKED = "new"


@dataclass(frozen=True, slots=True)
class Undone:
    """Outcome of undoing: what was done and what failed, a sentence each."""

    done: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """Those of `failed` that no later command tries again: somebody else changed the setting."""

    def __add__(self, other: Undone) -> Undone:
        return Undone(
            self.done + other.done, self.failed + other.failed, self.left + other.left
        )  # fmt: skip

    @property
    def standing(self) -> tuple[str, ...]:
        """Those of `failed` that stay in the journal."""
        return tuple(sentence for sentence in self.failed if sentence not in self.left)


class Journal:
    """Changes of one run on one host, in the order they were made. host: its address."""

    def __init__(self, path: Path, file: IO[str], found: Found) -> None:
        self.path = path
        self.host = found.host
        # Changes that may stand and cannot be undone: damaged records, changes of another version.
        self.unread = found.unread
        self._file = file
        self._lines = found.lines
        self._changes = found.changes

    @classmethod
    def create(cls, state_dir: Path, host: str) -> Journal:
        """Start a run's journal. Raises BenchError when the state directory is not writable."""
        directory = state_dir / "journal"
        # Names are in the order of time, also where clocks change or users have time zones.
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        path = directory / f"{now}-{uuid.uuid4().hex[:8]}{SUFFIX}"
        new = directory / _UNLOCKED
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with one_at_a_time(state_dir):  # the name is for one run at a time
                new.unlink(missing_ok=True)
                file = open(new, "x+", **TEXT)  # noqa: SIM115
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                new.rename(path)
        except OSError as fault:
            raise BenchError(
                f"the journal of changes cannot be kept in {directory}: {fault.strerror}",
                "Make it writable, or set XDG_STATE_HOME to a directory that is.",
            ) from fault
        journal = cls(path, file, Found(host))
        journal._write({"owner": os.getpid(), "host": host, "began": time.time()})
        return journal

    @classmethod
    def adopt(cls, path: Path) -> Journal | None:
        """Lock and return the journal of a run that is over; None when its owner lives."""
        try:
            file = open(path, "r+", **TEXT)  # noqa: SIM115
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        return cls(path, file, replay(file))

    def note(self, change: Change) -> int:
        """Record a change that is about to be made; return its number for `undone`."""
        number = self._lines.last + 1
        self._write({"change": number, "kind": type(change).__name__, **asdict(change)})
        self._changes[number] = change
        return number

    def others(self) -> tuple[Change, ...]:
        """Return what other, living runs have changed on this host."""
        return of_living_runs(self._state_dir, self.host, except_for=self.path)

    @property
    def _state_dir(self) -> Path:
        return self.path.parents[1]

    @property
    def standing(self) -> tuple[Change, ...]:
        """Changes not yet undone, oldest first."""
        return tuple(self._changes[n] for n in sorted(self._changes))

    def undo(self, number: int, runner: Runner, others: tuple[Change, ...] = ()) -> str | None:
        """Undo one change and record that; return a sentence when there was something to do."""
        change = self._changes[number]
        sentence = None if change.relied_on(others) else change.undo(runner)
        self.forget(number)
        return sentence

    def forget(self, number: int) -> None:
        """Record that a change does not stand."""
        self._write({"undone": number})
        del self._changes[number]

    def forget_all(self) -> None:
        for number in sorted(self._changes, reverse=True):
            self.forget(number)

    def undo_all(self, runner: Runner) -> Undone:
        """Undo what stands, newest first, huge pages last.

        What a living run relies on is left to that run. A change that cannot be undone stays in the
        journal, so that the next command tries again.
        """
        undone = Undone(failed=tuple(
            f"{self.path}: {sentence}. Compare {self.host or 'the host'} by hand, then remove the "
            "file"
            for sentence in self.unread
        ))  # fmt: skip
        newest_first = sorted(self._changes, reverse=True)
        pages = [n for n in newest_first if isinstance(self._changes[n], HugePagesAdded)]
        try:
            # A run that begins meanwhile must not count on what is about to be undone.
            with one_at_a_time(self._state_dir):
                others = self.others()
                for number in newest_first:
                    if number not in pages:
                        undone += self._attempt(number, runner, others)
            # Undo of pages waits for the pools' lock. The run that holds it may wait for the lock
            # above.
            for number in pages:
                undone += self._attempt(number, runner, ())
        except HostUnreachable as fault:
            left = f"the changes on {self.host} are not undone: {fault.what}"
            undone += Undone(failed=(left,))
        return undone

    def _attempt(self, number: int, runner: Runner, others: tuple[Change, ...]) -> Undone:
        """Undo one change; return the outcome.

        Raises only HostUnreachable: no other failure may keep other changes from being undone.
        """
        where = "" if self.host == LOCALHOST else f"{runner.name}: "
        why: object
        try:
            try:
                sentence = self.undo(number, runner, others)
                return Undone((f"{where}{sentence}",) if sentence else ())
            except ChangedSince as fault:
                self.forget(number)
                sentence = f"{where}{fault.what}"
                return Undone(failed=(sentence,), left=(sentence,))
        except HostUnreachable:
            raise
        except (OSError, WirespeedError) as fault:
            why = fault
        except (ValueError, LookupError, TypeError) as fault:  # a value of another version
            why = repr(fault)
        return Undone(failed=(f"{where}could not undo {self._changes[number]}: {why}",))

    def close(self) -> None:
        """Remove the file when no change stands; else leave it for the next command."""
        if not self._changes and not self.unread:
            self.path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, record: Mapping[str, object]) -> None:
        self._file.write(self._lines.line(record))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._lines.written()
