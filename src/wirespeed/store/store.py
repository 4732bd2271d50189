# SPDX-License-Identifier: Apache-2.0
"""How is the results database opened: SQLite by default, PostgreSQL by URL?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import NoSuchModuleError

from wirespeed.model.installed import install_extra
from wirespeed.store.errors import StoreError, as_store_errors
from wirespeed.store.schema import bring_up
from wirespeed.store.url import store_url


class Store:
    """An open results database; run_writer.py writes a run to it, read.py reads it."""

    def __init__(self, named: str | None = None) -> None:
        """Open the store (see store/url.py), making or migrating its tables as needed."""
        url = store_url(named)
        # As it is written after --store: without the driver's name, and without a password.
        shown = url.set(drivername=url.get_backend_name())
        self.url = shown.render_as_string(hide_password=True)
        if url.drivername == "sqlite":
            _make_directory(Path(str(url.database)).parent)
        try:
            self._engine = create_engine(url)
        except (ModuleNotFoundError, NoSuchModuleError) as error:
            raise StoreError(
                f"store {self.url}: the PostgreSQL driver is not installed",
                f"Install it: {install_extra('postgresql')}",
            ) from error
        if url.drivername == "sqlite":
            event.listen(self._engine, "connect", _check_foreign_keys)
        with as_store_errors(self.url):
            bring_up(self._engine)

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
        """Everything inside is kept, or on an exception nothing is. Raises StoreError."""
        with as_store_errors(self.url), self._engine.begin() as connection:
            yield connection

    def begin(self) -> AbstractContextManager[Connection]:
        """A transaction that raises the driver's own errors."""
        return self._engine.begin()


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"store: cannot make {path}: {error.strerror}", "Name another place with --store."
        ) from error


def _check_foreign_keys(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
