# SPDX-License-Identifier: Apache-2.0
"""What has a run changed on a host, so that it can be undone even after `kill -9`?

One file per run and host in the state directory of the machine that wirespeed runs on, one JSON
object a line: first the owner and the host's address, then each change, written and fsynced
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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from wirespeed.bench.host.change import Change
from wirespeed.bench.host.changes import change_from_json
from wirespeed.bench.interface import BenchError
from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import LOCALHOST, HostUnreachable, Runner

_SUFFIX = ".journal"


@dataclass(frozen=True, slots=True)
class Undone:
    """A sentence each for what was found and removed, and for what could not be."""

    done: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    def __add__(self, other: Undone) -> Undone:
        return Undone(self.done + other.done, self.failed + other.failed)


class Journal:
    """The changes of one run on one host, in the order they were made. host: its address."""

    def __init__(self, path: Path, file: IO[str], host: str, changes: dict[int, Change]) -> None:
        self.path = path
        self.host = host
        self._file = file
        self._changes = changes

    @classmethod
    def create(cls, state_dir: Path, host: str) -> Journal:
        """Start a run's journal. Raises BenchError when the state directory is not writable."""
        directory = state_dir / "journal"
        name = f"{time.strftime('%Y%m%dT%H%M%S')}-{uuid.uuid4().hex[:8]}{_SUFFIX}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with one_at_a_time(state_dir):  # nobody may take it for a leftover before it is locked
                file = open(directory / name, "x+", encoding="utf-8")  # noqa: SIM115
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            raise BenchError(
                f"the journal of changes cannot be kept in {directory}: {fault.strerror}",
                "Make it writable, or set XDG_STATE_HOME to a directory that is.",
            ) from fault
        journal = cls(directory / name, file, host, {})
        journal._write({"owner": os.getpid(), "host": host, "began": time.time()})
        return journal

    @classmethod
    def adopt(cls, path: Path) -> Journal | None:
        """The journal of a run that is over, locked for us; None when its owner lives."""
        try:
            file = open(path, "r+", encoding="utf-8")  # noqa: SIM115
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        host, changes = _replay(file)
        return cls(path, file, host, changes)

    def note(self, change: Change) -> int:
        """Record a change that is about to be made; the number is for `undone`."""
        number = max(self._changes, default=0) + 1
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
        undone = Undone()
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
        if not self._changes:
            self.path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, record: Mapping[str, object]) -> None:
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def leftovers(state_dir: Path, host: str | None = None) -> Iterator[Journal]:
    """The journals of runs that are over but did not tidy up, locked for us.

    host: of this address alone.
    """
    for path in _journals(state_dir):
        journal = Journal.adopt(path)
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
        journal.close()


def hosts_left(state_dir: Path) -> tuple[str, ...]:
    """The addresses of the hosts on which such runs have left changes."""
    found = set()
    for journal in leftovers(state_dir):
        if journal.standing:
            found.add(journal.host)
        journal.close()
    return tuple(sorted(found))


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
            with open(path, encoding="utf-8") as file:
                if _is_locked(file) is alive:
                    owner, changes = _replay(file)
                    found += changes.values() if owner == host else ()
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


def _is_locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _replay(file: IO[str]) -> tuple[str, dict[int, Change]]:
    """The host and the standing changes of a journal.

    A last line that was cut off is left out: it was never synced, so its change was never made.
    """
    host = ""
    changes: dict[int, Change] = {}
    file.seek(0)
    for line in file:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            break
        if "owner" in record:
            host = record["host"]
        elif "undone" in record:
            changes.pop(record["undone"], None)
        else:
            number = record.pop("change")
            changes[number] = change_from_json(record)
    file.seek(0, os.SEEK_END)
    return host, changes
