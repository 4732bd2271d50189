# SPDX-License-Identifier: Apache-2.0
"""Open an SQLite file that another host wrote, which may be hostile.

The file is never written, and no file next to it is read. Its tables and columns must be those of
wirespeed's migrations, without views, triggers and virtual tables. Its pages must pass SQLite's own
check. Reading ends after a number of steps that grows with the file's size. Source:
https://sqlite.org/security.html, "Untrusted SQLite Database Files".
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from itertools import repeat
from pathlib import Path

from sqlalchemy import StaticPool, create_engine, event

from wirespeed.model.errors import BadInput
from wirespeed.store import sqlite_file
from wirespeed.store.errors import StoreError, as_store_errors
from wirespeed.store.schema import migrate, outdated, revisions
from wirespeed.store.store import Store, migrated_copy

MAX_OCTETS = 1 << 30
# No run of wirespeed's has a larger value, in octets.
_MAX_VALUE = 64 << 20
# Instructions of SQLite's virtual machine: for an empty file, and per octet. Reading a whole run
# takes less than one per octet.
_STEPS, _STEPS_OCTET = 20_000_000, 20
_EVERY = 100_000
FETCH_AGAIN = "Fetch the file again; if it stays so, look who wrote it on that host."


@contextmanager
def open_foreign(path: Path) -> Iterator[Store]:
    """Open a file of runs for reading. Raises BadInput where it is another file or too slow."""
    octets = _size(path)
    with ExitStack() as stack:
        with as_bad_input(str(path)):
            with closing(_opened(path, octets)) as connection:
                _check_schema(connection, path)
                _check_pages(connection, path)
            engine = sqlite_file.engine_of(lambda: _opened(path, octets))
            event.listen(engine, "begin", sqlite_file.begin_to_read)
            stack.callback(engine.dispose)
            if outdated(engine, str(path)) is not None:
                with closing(_opened(path, octets)) as connection:
                    engine = migrated_copy(connection, stack)
        yield Store.over(engine, str(path), path)


@contextmanager
def as_bad_input(where: str) -> Iterator[None]:
    """Turn store errors into BadInput: the file is wrong, not the store that it goes into."""
    try:
        with as_store_errors(where):
            yield
    except StoreError as fault:
        what = fault.what
        if what.endswith(": interrupted"):
            what = f"{where}: reading it takes more steps than a file of runs needs"
        raise BadInput(what, FETCH_AGAIN) from fault


def _size(path: Path) -> int:
    try:
        found = os.stat(path)
    except OSError as fault:
        raise BadInput(f"{path}: cannot be read: {fault.strerror}", "Check the path.") from fault
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path}: is no file", "Check the path.")
    if found.st_size > MAX_OCTETS:
        raise BadInput(
            f"{path}: has {found.st_size} octets; at most {MAX_OCTETS} are read",
            "Delete runs there with `wirespeed runs delete RUN`, and fetch it again.",
        )
    return found.st_size


def _opened(path: Path, octets: int) -> sqlite3.Connection:
    """Open the file so that it is not written, runs no function, and reading ends."""
    connection = sqlite_file.connect(path, "mode=ro&immutable=1")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
    connection.execute("PRAGMA cell_size_check = ON")
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    # Ends SQLite by StopIteration. A function in Python would run signal handlers, whose exceptions
    # SQLite drops: a Ctrl-C would be lost.
    go_on = repeat(0, (_STEPS + _STEPS_OCTET * octets) // _EVERY)
    connection.set_progress_handler(go_on.__next__, _EVERY)
    return connection


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    found = _objects(connection)
    strange = [(kind, name) for kind, name, _ in found if kind not in ("table", "index")]
    if strange:
        kind, name = strange[0]
        raise BadInput(f"{path}: no file of runs: it has a {kind} {name!r}", FETCH_AGAIN)
    for revision in sorted(revisions(), reverse=True):
        if _shape(connection) == _expected(revision):
            return
    names = ", ".join(sorted(name for kind, name, _ in found if kind == "table")[:8])
    raise BadInput(
        f"{path}: its tables are not those of a store of any schema up to "
        f"{max(revisions())} ({names or 'none'})",
        "Fetch it again, or update wirespeed here.",
    )


Shape = frozenset[tuple[object, ...]]


def _shape(connection: sqlite3.Connection) -> Shape:
    """Return tables and indexes, and each column's name, type, key and whether it is computed."""
    rows: set[tuple[object, ...]] = set()
    for kind, name, statement in _objects(connection):
        words = (statement or "").upper()
        rows.add((kind, name, "CHECK" in words, "VIRTUAL" in words))
        if kind == "table":
            quoted = name.replace('"', '""')
            for column in connection.execute(f'PRAGMA table_xinfo("{quoted}")'):
                _, column_name, column_type, _, _, key, hidden = column
                rows.add((name, column_name, column_type.upper(), key, hidden))
    return frozenset(rows)


def _objects(connection: sqlite3.Connection) -> list[tuple[str, str, str | None]]:
    query = "SELECT type, name, sql FROM sqlite_master ORDER BY rowid LIMIT 100"
    return [(str(kind), str(name), sql) for kind, name, sql in connection.execute(query)]


@cache
def _expected(revision: str) -> Shape:
    """Return the shape that wirespeed's migrations up to the revision make."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.begin() as connection:
        migrate(connection, revision)
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        shape = _shape(driver)
    engine.dispose()
    return shape


def _check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Check that no page has two uses, so that reading ends and reads each page once."""
    (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if said != "ok":
        raise BadInput(f"{path}: it is damaged: {str(said).splitlines()[-1]}", FETCH_AGAIN)
