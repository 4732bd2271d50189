# SPDX-License-Identifier: Apache-2.0
"""Compare a database's schema with this version's, and migrate an older one."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from wirespeed.store.errors import NoStore, StoreError


def outdated(engine: Engine, shown: str) -> str | None:
    """Return the database's revision where it is older, "" where the database is empty.

    Returns None where it is current. shown: the store's name in errors. Raises StoreError for a
    newer one.
    """
    script = ScriptDirectory.from_config(_config())
    with engine.begin() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    if current == script.get_current_head():
        return None
    if current is not None and current not in revisions():
        raise StoreError(
            f"store {shown}: its schema is {current!r}, which a newer wirespeed made; this one "
            f"knows schemas up to {script.get_current_head()!r}",
            "Update wirespeed, or name another store with --store.",
        )
    return current or ""


def revisions() -> frozenset[str]:
    """Return every revision that this version can read."""
    script = ScriptDirectory.from_config(_config())
    return frozenset(revision.revision for revision in script.walk_revisions())


def migrate(connection: Connection, revision: str = "head") -> None:
    """Migrate the database in the connection's transaction."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def check_current(engine: Engine, shown: str) -> None:
    """Raise StoreError where the database is of another version, NoStore where it is empty."""
    current = outdated(engine, shown)
    if current == "":
        raise NoStore(
            f"store {shown}: no run yet",
            "Measure one: `wirespeed run wire`, with the same --store.",
        )
    if current is not None:
        raise StoreError(
            f"store {shown}: its schema {current} is older than this wirespeed's",
            "Take a dump of it, then run `wirespeed runs upgrade` with the same --store.",
        )
