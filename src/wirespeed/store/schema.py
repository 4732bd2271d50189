# SPDX-License-Identifier: Apache-2.0
"""Compare a database's schema with this version's, and migrate an older one.

Alembic is imported for a migration alone: a verb that reads a store of this version starts faster.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, String, column, inspect, select, table

from wirespeed.store.errors import RECOVER, Damaged, NoStore, StoreError

_MIGRATIONS = Path(__file__).parent / "migrations"
# Alembic's own table.
_VERSION = table("alembic_version", column("version_num", String))


def outdated(engine: Engine, shown: str) -> str | None:
    """Return the database's revision where it is older, "" where the database is empty.

    Returns None where it is current. shown: the store's name in errors. Raises StoreError for a
    newer one.
    """
    with engine.begin() as connection:
        current = _revision(connection, shown)
    newest = max(revisions())
    if current == newest:
        return None
    if current is not None and current not in revisions():
        raise StoreError(
            f"store {shown}: its schema is {current!r}, which a newer wirespeed made; this one "
            f"knows schemas up to {newest!r}",
            "Update wirespeed, or name another store with --store.",
        )
    return current or ""


def revisions() -> frozenset[str]:
    """Return every revision that this version can read: the numbers of its migrations' files."""
    return frozenset(file.name[:4] for file in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def migrate(connection: Connection, revision: str = "head") -> None:
    """Migrate the database in the connection's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _revision(connection: Connection, shown: str) -> str | None:
    """Return the database's revision; None where it has none. Raises Damaged for several."""
    if not inspect(connection).has_table(_VERSION.name):
        return None
    # The table may be a view without an end.
    found = connection.execute(select(_VERSION.c.version_num).limit(2)).scalars().all()
    if len(found) > 1:
        raise Damaged(f"store {shown}: it has more than one schema version", RECOVER)
    return found[0] if found else None


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
