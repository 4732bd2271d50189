# SPDX-License-Identifier: Apache-2.0
"""Open SQLite files: make them private, wait for their locks, keep readers from writing.

Every transaction takes its lock at its begin, and a writer's COMMIT may wait for readers. Only
these two places wait. Source: https://sqlite.org/lockingv3.html.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import OperationalError

from wirespeed.document.private_file import FILE_MODE, make_private_folder
from wirespeed.model.input.bounded import load_json
from wirespeed.store.errors import NoStore, StoreError

WAIT_S = 60
_LOG = logging.getLogger(__name__)
_STEP_S = 5


def connect(path: Path, options: str) -> sqlite3.Connection:
    """Open an existing file. options: of a URI, e.g. "mode=ro" (https://sqlite.org/uri.html)."""
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?{options}",
        uri=True,
        timeout=_STEP_S,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def writing_engine(path: Path) -> Engine:
    """Open the file for writing, and create it for its owner alone. Raises StoreError."""
    _make(path)

    def opened() -> sqlite3.Connection:
        connection = connect(path, "mode=rw")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    engine = engine_of(opened)
    event.listen(engine, "begin", _begin_to_write)
    event.listen(engine, "commit", lambda connection: _patiently(connection, "COMMIT"))
    return engine


def reading_engine(path: Path) -> Engine:
    """Open an existing file for reading.

    SQLite may write once, to undo what a killed writer left.
    """

    def opened() -> sqlite3.Connection:
        connection = connect(path, "mode=rw")
        connection.execute("PRAGMA query_only = ON")
        return connection

    engine = engine_of(opened)
    event.listen(engine, "begin", begin_to_read)
    return engine


def engine_of(opened: Callable[[], sqlite3.Connection]) -> Engine:
    """Make an engine that opens a connection with `opened` for each transaction."""
    return create_engine(
        "sqlite://", creator=opened, poolclass=NullPool, json_deserializer=load_json
    )


def begin_to_read(connection: Connection) -> None:
    """Begin a transaction that sees one state of the file."""
    connection.exec_driver_sql("BEGIN")
    _patiently(connection, "SELECT 1 FROM sqlite_master LIMIT 1")


def copy(source: sqlite3.Connection, target: Path) -> None:
    """Copy one state of a file atomically, also while the file is written."""
    partial = target.with_name(f"{target.name}.partial")
    partial.unlink(missing_ok=True)
    _make(partial)
    try:
        with closing(connect(partial, "mode=rw")) as here:
            source.backup(here)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _begin_to_write(connection: Connection) -> None:
    _patiently(connection, "BEGIN IMMEDIATE")


def _patiently(connection: Connection, statement: str) -> None:
    """Run a statement; wait up to WAIT_S for other processes, and log it every _STEP_S."""
    for waited_s in range(_STEP_S, WAIT_S + _STEP_S, _STEP_S):
        try:
            connection.exec_driver_sql(statement)
        except OperationalError as fault:
            if not is_busy(fault) or waited_s >= WAIT_S:
                raise
            _LOG.warning(
                "wirespeed: the store is locked by another process; waiting, %d of %d s",
                waited_s,
                WAIT_S,
            )
        else:
            return


def is_busy(fault: OperationalError) -> bool:
    """Return whether another process holds the lock."""
    code = getattr(fault.orig, "sqlite_errorcode", 0) or 0
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _make(path: Path) -> None:
    """Create the file and its folders, for their owner alone. Existing ones stay unchanged."""
    try:
        make_private_folder(path.parent)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE))
    except IsADirectoryError:
        return  # SQLite reports it like every other file that is no database
    except OSError as error:
        kind = StoreError if error.errno == errno.ENOSPC else NoStore
        raise kind(
            f"store {path}: cannot be made: {error.strerror}", "Name another place with --store."
        ) from error
