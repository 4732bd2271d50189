# SPDX-License-Identifier: Apache-2.0
"""Keep what a run has changed on a host, so that it can be undone even after `kill -9`.

One file per run and host in the state directory of the machine that wirespeed runs on, with a
record a line: first the owner and the host's address, then each change, written and fsynced
*before* the change is made, then the numbers of the changes that were undone. The owner holds a
lock on its file for as long as it lives (the kernel lets go of it whatever ends the process), so a
journal whose lock can be taken is a leftover, and one whose lock cannot is a living run's and none
of our business.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TypedDict

from wirespeed.bench.host.change import Change
from wirespeed.bench.host.changes import change_from_json
from wirespeed.bench.interface import BenchError
from wirespeed.document.journal_lines import JournalLines, read_lines
from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import LOCALHOST, HostUnreachable, Runner

_SUFFIX = ".journal"


class _Text(TypedDict):
    encoding: str
    errors: str
    newline: str


# Damaged octets are read, and no line break but ours is one.
_TEXT = _Text(encoding="utf-8", errors="replace", newline="")


@dataclass(frozen=True, slots=True)
class Undone:
    """A sentence each for what was found and removed, and for what could not be."""

    done: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    def __add__(self, other: Undone) -> Undone:
        return Undone(self.done + other.done, self.failed + other.failed)


@dataclass(slots=True)
class _Found:
    """The content of a journal."""

    host: str
    changes: dict[int, Change] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    lines: JournalLines = field(default_factory=JournalLines)


class Journal:
    """The changes of one run on one host, in the order they were made. host: its address."""

    def __init__(self, path: Path, file: IO[str], found: _Found) -> None:
        self.path = path
        self.host = found.host
        # What may stand and cannot be undone: damaged records, changes of another version.
        self.unread = found.unread
        self._file = file
        self._lines = found.lines
        self._changes = found.changes

    @classmethod
    def create(cls, state_dir: Path, host: str) -> Journal:
        """Start a run's journal. Raises BenchError when the state directory is not writable."""
        directory = state_dir / "journal"
        name = f"{time.strftime('%Y%m%dT%H%M%S')}-{uuid.uuid4().hex[:8]}{_SUFFIX}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with one_at_a_time(state_dir):  # nobody may take it for a leftover before it is locked
                file = open(directory / name, "x+", **_TEXT)  # noqa: SIM115
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            raise BenchError(
                f"the journal of changes cannot be kept in {directory}: {fault.strerror}",
                "Make it writable, or set XDG_STATE_HOME to a directory that is.",
            ) from fault
        journal = cls(directory / name, file, _Found(host))
        journal._write({"owner": os.getpid(), "host": host, "began": time.time()})
        return journal

    @classmethod
    def adopt(cls, path: Path) -> Journal | None:
        """The journal of a run that is over, locked for us; None when its owner lives."""
        try:
            file = open(path, "r+", **_TEXT)  # noqa: SIM115
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        return cls(path, file, _replay(file))

    def note(self, change: Change) -> int:
        """Record a change that is about to be made; the number is for `undone`."""
        number = self._lines.last + 1
        self._write({"change": number, "kind": type(change).__name__, **asdict(change)})
        self._changes[number] = change
        return number

    def others(self) -> tuple[Change, ...]:
        """What other, living runs have changed on this host."""
        return of_living_runs(self.path.parents[1], self.host, besides=self)

    @property
    def standing(self) -> tuple[Change, ...]:
        """The changes not yet undone, oldest first."""
        return tuple(self._changes[n] for n in sorted(self._changes))

    def undo(self, number: int, runner: Runner, others: tuple[Change, ...] = ()) -> str | None:
        """Undo one change and record it; returns a sentence when there was something to do."""
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

    def undo_all(self, runner: Runner, others: tuple[Change, ...] = ()) -> Undone:
        """Undo what stands, newest first.

        others: what living runs have changed and still rely on. A change that cannot be undone
        stays in the journal, so that the next command tries again.
        """
        undone = Undone(failed=tuple(
            f"{self.path}: {sentence}. Compare {self.host or 'the host'} by hand, then remove the "
            "file"
            for sentence in self.unread
        ))  # fmt: skip
        where = "" if self.host == LOCALHOST else f"{runner.name}: "
        for number in sorted(self._changes, reverse=True):
            try:
                sentence = self.undo(number, runner, others)
            except HostUnreachable as fault:
                left = f"the changes on {self.host} are not undone: {fault.what}"
                return undone + Undone(failed=(left,))
            except (OSError, WirespeedError) as fault:
                left = f"{where}could not undo {self._changes[number]}: {fault}"
                undone += Undone(failed=(left,))
                continue
            if sentence:
                undone += Undone((f"{where}{sentence}",))
        return undone

    def close(self) -> None:
        """Drop the file when nothing stands any more; else leave it for the next command."""
        if not self._changes and not self.unread:
            self.path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, record: Mapping[str, object]) -> None:
        self._file.write(self._lines.line(record))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._lines.written()


def leftovers(state_dir: Path, host: str | None = None) -> Iterator[Journal]:
    """The journals of runs that are over but did not tidy up, locked for us.

    host: of this address alone.
    """
    for path in _journals(state_dir):
        journal = None if _not_opened(path) else Journal.adopt(path)
        if journal is None:
            continue
        if host in (None, journal.host):
            yield journal
        else:
            journal.close()


def drop_leftovers(state_dir: Path, host: str) -> None:
    """Forget what such runs have changed on a host that is no more."""
    for journal in leftovers(state_dir, host):
        journal.forget_all()
        journal.unread = ()
        journal.close()


def hosts_left(state_dir: Path) -> tuple[str, ...]:
    """The addresses of the hosts on which such runs have left changes."""
    found = set()
    for journal in leftovers(state_dir):
        if journal.standing or (journal.unread and journal.host):
            found.add(journal.host)
        journal.close()
    return tuple(sorted(found))


def nobodys(state_dir: Path) -> tuple[str, ...]:
    """What is the matter with leftovers that do not tell which host they are of."""
    found = [f"{path}: {why}. Run the command as the user whose file it is, or remove it"
             for path in _journals(state_dir) if (why := _not_opened(path))]  # fmt: skip
    for journal in leftovers(state_dir, ""):
        found += [f"{journal.path}: {sentence}. Remove the file once nothing of that run is left"
                  for sentence in journal.unread]  # fmt: skip
        journal.close()
    return tuple(found)


def of_living_runs(
    state_dir: Path, host: str, besides: Journal | None = None
) -> tuple[Change, ...]:
    """What runs on this host that have not ended have changed, oldest first."""
    paths = [path for path in _journals(state_dir) if besides is None or path != besides.path]
    return _standing(paths, host, alive=True)


def of_killed_runs(state_dir: Path, host: str) -> tuple[Change, ...]:
    """What runs that were killed have left on this host, oldest first; nothing is changed."""
    return _standing(_journals(state_dir), host, alive=False)


def _standing(paths: Iterable[Path], host: str, alive: bool) -> tuple[Change, ...]:
    """The changes on this host of those journals whose owner is alive, or is not."""
    found: list[Change] = []
    for path in paths:
        try:
            with open(path, **_TEXT) as file:
                if _is_locked(file) is alive:
                    seen = _replay(file)
                    found += seen.changes.values() if seen.host == host else ()
        except FileNotFoundError:  # that run has just ended
            continue
    return tuple(found)


@contextmanager
def one_at_a_time(state_dir: Path) -> Iterator[None]:
    """Held while reading what the host has and changing it, so that two runs do not both do so."""
    state_dir.mkdir(parents=True, exist_ok=True)
    with open(state_dir / "lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _journals(state_dir: Path) -> list[Path]:
    return sorted((state_dir / "journal").glob(f"*{_SUFFIX}"))


def _not_opened(path: Path) -> str | None:
    """Return why a journal cannot be opened, e.g. because another user's run left it."""
    try:
        open(path, "r+b").close()
    except FileNotFoundError:  # that run has just ended
        return None
    except OSError as fault:
        return fault.strerror
    return None


def _is_locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _replay(file: IO[str]) -> _Found:
    """What a journal holds."""
    file.seek(0)
    text = file.read()
    # The owner's record comes before the first change: without it, all that there is is damaged.
    lines = read_lines(text)
    found = _Found("", lines=lines)
    unread = list(lines.damaged)
    unknown: dict[int, str] = {}
    for record in lines.records:
        match record:
            case {"owner": _, "host": str(host)}:
                found.host = host
            case {"undone": int(number)}:
                found.changes.pop(number, None)
                unknown.pop(number, None)
            case {"change": int(number), "kind": kind, **fields}:
                try:
                    found.changes[number] = change_from_json({"kind": kind, **fields})
                except (WirespeedError, TypeError):
                    unknown[number] = f"{kind} {fields} was changed by another version"
            case _:
                unread.append(f"{json.dumps(record)} is a record that this version does not know")
    if text and not found.host and not unread:
        unread.append("no host is named in it: its first line is damaged")
    found.unread = (*unread, *unknown.values())
    return found
