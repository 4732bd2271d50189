# SPDX-License-Identifier: Apache-2.0
"""Run migrations on the connection that store/schema.py provides."""

from __future__ import annotations

from alembic import context

from wirespeed.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
