# SPDX-License-Identifier: Apache-2.0
"""Which errors does the store raise?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from wirespeed.model.errors import BadInput, WirespeedError

# SQLite: SQLITE_FULL, and SQLITE_IOERR where the journal cannot grow; PostgreSQL: 53100 disk_full.
_FULL = ("database or disk is full", "No space left on device", "could not extend file")

_OTHER_FILE = "file is not a database"


class StoreError(WirespeedError):
    """The store cannot be read or written. What was stored before stays."""


class NoStore(BadInput, StoreError):
    """The file that is named as a store is another kind of file."""


class NoSuchRun(BadInput, StoreError):
    """The store has no run of that name."""


class NoSuchPoint(BadInput, StoreError):
    """The run has no point of that name, or more than one."""


@contextmanager
def as_store_errors(url: str) -> Iterator[None]:
    """Turn what the database driver raises into a StoreError that names the store."""
    try:
        yield
    except DBAPIError as error:
        said = str(error.orig).strip().splitlines()[0]
        if any(text in str(error.orig) for text in _FULL):
            raise StoreError(
                f"store {url}: the disk is full ({said}); results up to here are kept",
                "Free some space, then continue with `wirespeed run STUDY --resume`.",
            ) from error
        if _OTHER_FILE in said:
            raise NoStore(
                f"store {url}: the file is no SQLite database",
                "Name the file of a store with --store, or one that is not there yet.",
            ) from error
        raise StoreError(
            f"store {url}: {said}",
            "Check that the database can be reached and written, or name another with --store.",
        ) from error
