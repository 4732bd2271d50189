# SPDX-License-Identifier: Apache-2.0
"""Define the store's errors, and translate those of database drivers."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.words import counted

# SQLite: SQLITE_FULL, and SQLITE_IOERR where the journal cannot grow; PostgreSQL: 53100 disk_full.
_FULL = ("database or disk is full", "No space left on device", "could not extend file")
_OTHER_FILE = ("file is not a database", "unable to open database file")
_LOCKED = ("database is locked", "database table is locked")
# SQLite: SQLITE_CORRUPT, text that is not UTF-8, JSON that a query cannot read.
_DAMAGED = ("malformed", "Could not decode to UTF-8")

# Decoding raises these for values that no version up to this one wrote.
UNREADABLE = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError,
    struct.error, zlib.error,
)  # fmt: skip


class StoreError(WirespeedError):
    """Raised when the store cannot be read or written. Earlier results stay."""


class NoStore(BadInput, StoreError):
    """Raised when the named store is another type of file, or missing."""


class NoSuchRun(BadInput, StoreError):
    """Raised when the store has no run of that name."""


class NoSuchPoint(BadInput, StoreError):
    """Raised when the run has no point of that name, or more than one."""


class Damaged(StoreError):
    """Raised for a run, or a store, with data that no version wrote. Other runs are readable."""


class RecordingDeleted(StoreError):
    """Raised when the recording that is being written was deleted: it takes no more reads."""


class RunInUse(BadInput, StoreError):
    """Raised when another process measures the run."""


RECOVER = (
    "Every other run can be read by its id. With the same --store, `wirespeed runs check` tests "
    "all of them (PRAGMA integrity_check, too); `wirespeed runs delete RUN` removes a damaged one. "
    "`sqlite3 FILE .recover | sqlite3 NEW` saves into a new file what SQLite can read."
)


def damaged_runs(url: str, damaged: Mapping[str, str]) -> Damaged:
    """Return the error with the damaged runs of a store; its other runs were read."""
    lines = "\n".join(f"  {run_id}: {why}" for run_id, why in damaged.items())
    return Damaged(f"store {url}: {counted(len(damaged), 'run')} damaged\n{lines}", RECOVER)


def damage(error: BaseException) -> str | None:
    """Return one line on the damage, or None where the error has another cause."""
    if isinstance(error, DBAPIError):
        said = _message(error)
        return said if any(text in said for text in _DAMAGED) else None
    if isinstance(error, UNREADABLE):
        lines = str(error).splitlines() or [type(error).__name__]
        return f"{lines[0][:200]} ({type(error).__name__})"
    return None


@contextmanager
def as_store_errors(url: str) -> Iterator[None]:
    """Turn the database driver's errors into a StoreError that names the store."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        raise _store_error(url, _message(error)) from error


def _message(error: BaseException) -> str:
    said = str(error.orig if isinstance(error, DBAPIError) else error).strip()
    return said.splitlines()[0] if said else type(error).__name__


def _store_error(url: str, said: str) -> StoreError:
    if any(text in said for text in _FULL):
        return StoreError(
            f"store {url}: the disk is full ({said}); results up to here are kept",
            "Free some space, then continue with the same --store and --resume.",
        )
    if any(text in said for text in _OTHER_FILE):
        return NoStore(
            f"store {url}: the file is no SQLite database that can be opened",
            "Name the file of a store with --store, or one that is not there yet.",
        )
    if any(text in said for text in _LOCKED):
        return StoreError(
            f"store {url}: another process has kept it locked for 60 s",
            "Wait for that process, then run this again; what was stored before stays.",
        )
    if any(text in said for text in _DAMAGED):
        return Damaged(f"store {url}: it is damaged ({said})", RECOVER)
    return StoreError(
        f"store {url}: {said}",
        "Check that the database can be reached and written, or name another with --store.",
    )
