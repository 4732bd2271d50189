# SPDX-License-Identifier: Apache-2.0
"""Has this database the tables that this version of wirespeed needs? If older, bring it up."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from wirespeed.store.errors import StoreError


def bring_up(engine: Engine) -> None:
    """Migrate to this version's schema. Raises StoreError when the database is newer."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    script = ScriptDirectory.from_config(config)
    known = {revision.revision for revision in script.walk_revisions()}
    with engine.begin() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
        if current == script.get_current_head():
            return
        if current is not None and current not in known:
            url = engine.url.render_as_string(hide_password=True)
            raise StoreError(
                f"store {url}: its schema is {current!r}, which a newer wirespeed made; this one "
                f"knows schemas up to {script.get_current_head()!r}",
                "Update wirespeed, or name another store with --store.",
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
