# SPDX-License-Identifier: Apache-2.0
"""Read the files of runs' changes, and separate those of living runs from leftovers."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypedDict

from wirespeed.bench.host.change import Change
from wirespeed.bench.host.changes import change_from_json
from wirespeed.document.journal_lines import JournalLines, read_lines
from wirespeed.model.errors import WirespeedError

SUFFIX = ".journal"


class _Text(TypedDict):
    encoding: str
    errors: str
    newline: str


# Damaged octets are kept, and only \n ends a line.
TEXT = _Text(encoding="utf-8", errors="replace", newline="")


@dataclass(slots=True)
class Found:
    """Content of a journal."""

    host: str
    changes: dict[int, Change] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    lines: JournalLines = field(default_factory=JournalLines)


def replay(file: IO[str]) -> Found:
    """Return what a journal holds."""
    file.seek(0)
    text = file.read()
    # The owner's record precedes the first change: without it, every record counts as damaged.
    lines = read_lines(text)
    found = Found("", lines=lines)
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


def of_living_runs(
    state_dir: Path, host: str, except_for: Path | None = None
) -> tuple[Change, ...]:
    """Return what living runs have changed on this host, oldest first."""
    paths = [path for path in journals(state_dir) if path != except_for]
    return _standing(paths, host, alive=True)


def of_killed_runs(state_dir: Path, host: str) -> tuple[Change, ...]:
    """Return what killed runs left on this host, oldest first; change nothing."""
    return _standing(journals(state_dir), host, alive=False)


def _standing(paths: Iterable[Path], host: str, alive: bool) -> tuple[Change, ...]:
    """Return the standing changes on this host from journals of living, or of dead, owners."""
    found: list[Change] = []
    for path in paths:
        try:
            with open(path, **TEXT) as file:
                if _is_locked(file) is alive:
                    seen = replay(file)
                    found += seen.changes.values() if seen.host == host else ()
        except FileNotFoundError:  # that run has just ended
            continue
    return tuple(found)


@contextmanager
def one_at_a_time(state_dir: Path) -> Iterator[None]:
    """Hold a lock while a run reads and changes a host, so that runs take turns."""
    state_dir.mkdir(parents=True, exist_ok=True)
    with open(state_dir / "lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def journals(state_dir: Path) -> list[Path]:
    return sorted((state_dir / "journal").glob(f"*{SUFFIX}"))


def not_opened(path: Path) -> str | None:
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
