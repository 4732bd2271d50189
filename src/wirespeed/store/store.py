# SPDX-License-Identifier: Apache-2.0
"""Open the results database for writing or reading: SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

import logging
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import URL, Connection, Engine, create_engine, make_url
from sqlalchemy.exc import NoSuchModuleError

from wirespeed.model.host.installed import install_extra
from wirespeed.model.input.bounded import load_json
from wirespeed.store import sqlite_file
from wirespeed.store.errors import NoStore, StoreError, as_store_errors
from wirespeed.store.schema import check_current, migrate, outdated
from wirespeed.store.url import is_named, shown_url, store_url

_LOG = logging.getLogger(__name__)


class Store:
    """An open results database; run_writer.py writes a run to it, read.py reads it."""

    url: str
    """Name of the store, as in --store, without a password."""
    file: Path | None
    """SQLite file that is read or written; None for PostgreSQL."""

    def __init__(self, named: str | None = None, *, exists: bool = False) -> None:
        """Open the store (see store/url.py) for writing; create or migrate its tables as needed.

        exists: reject a store that does not exist. An SQLite file is copied before a migration.
        Raises StoreError, NoStore.
        """
        url = store_url(named)
        self.url, self.file = shown_url(url), _file(url)
        if exists and self.file is not None:
            _check_exists(self.file, self.url)
        self._engine = (
            _postgresql(url, self.url)
            if self.file is None
            else sqlite_file.writing_engine(self.file)
        )
        with as_store_errors(self.url):
            _bring_up(self._engine, self.url, self.file)

    @classmethod
    def over(cls, engine: Engine, url: str, file: Path | None) -> Self:
        """Make a store over an engine whose tables are this version's."""
        store = cls.__new__(cls)
        store.url, store.file, store._engine = url, file, engine
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Run the body in a transaction: an exception undoes all of it. Raises StoreError."""
        with as_store_errors(self.url), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """Yield a connection without a transaction. Raises StoreError."""
        with as_store_errors(self.url), self._engine.connect() as connection:
            yield connection

    def begin(self) -> AbstractContextManager[Connection]:
        """Return a transaction that raises the driver's own errors."""
        return self._engine.begin()


@contextmanager
def open_to_read(named: str | None = None) -> Iterator[Store]:
    """Open an existing store; nothing is created, migrated or written.

    An SQLite file of an older schema is read through a private copy. Without a name, a missing
    default store is read as an empty one. Raises NoStore, StoreError.
    """
    url = store_url(named)
    shown, file = shown_url(url), _file(url)
    with ExitStack() as stack:
        if file is None:
            engine = _postgresql(url, shown)
            with as_store_errors(shown):
                check_current(engine, shown)
        else:
            engine = _reading_engine(file, shown, is_named(named), stack)
        stack.callback(engine.dispose)
        yield Store.over(engine, shown, file)


def _reading_engine(file: Path, shown: str, named: bool, stack: ExitStack) -> Engine:
    if not named and not file.exists():
        return migrated_copy(None, stack)
    _check_exists(file, shown)
    engine = sqlite_file.reading_engine(file)
    with as_store_errors(shown):
        if outdated(engine, shown) is None:
            return engine
        with closing(sqlite_file.connect(file, "mode=rw")) as connection:
            return migrated_copy(connection, stack)


def migrated_copy(source: sqlite3.Connection | None, stack: ExitStack) -> Engine:
    """Return a private copy of an SQLite file, migrated; without a file, an empty store.

    The copy is removed at the end of the stack. Raises the driver's errors.
    """
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="wirespeed-store-"))
    private = Path(folder) / "copy.sqlite"
    if source is not None:
        sqlite_file.copy(source, private)
    engine = sqlite_file.writing_engine(private)
    stack.callback(engine.dispose)
    with engine.begin() as connection:
        migrate(connection)
    return engine


def _bring_up(engine: Engine, shown: str, file: Path | None) -> None:
    current = outdated(engine, shown)
    if current is None:
        return
    if current and file is not None:
        kept = file.with_name(f"{file.name}.schema-{current}.bak")
        with closing(sqlite_file.connect(file, "mode=rw")) as connection:
            sqlite_file.copy(connection, kept)
        _LOG.warning("wirespeed: store %s is migrated; %s is a copy from before", shown, kept)
    with engine.begin() as connection:
        migrate(connection)


def _file(url: URL) -> Path | None:
    return Path(str(url.database)) if url.drivername == "sqlite" else None


def _check_exists(file: Path, shown: str) -> None:
    if not file.exists():
        raise NoStore(
            f"store {shown}: no such file, so no run yet",
            "Check --store and WIRESPEED_STORE, or measure a run into it: `wirespeed run wire`.",
        )


def check_postgresql() -> None:
    """Raise StoreError where the driver of a PostgreSQL store is not installed."""
    _postgresql(make_url("postgresql+psycopg://"), "postgresql://")


def _postgresql(url: URL, shown: str) -> Engine:
    try:
        return create_engine(url, json_deserializer=load_json)
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise StoreError(
            f"store {shown}: the PostgreSQL driver is not installed",
            f"Install it: {install_extra('postgresql')}",
        ) from error
