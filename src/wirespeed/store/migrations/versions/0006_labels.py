# SPDX-License-Identifier: Apache-2.0
"""Let people name, tag and annotate runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("runs", sa.Column("name", sa.String(80)))
    op.add_column("runs", sa.Column("tags", sa.JSON))
    op.add_column("runs", sa.Column("note", sa.Text))
    op.create_index("ix_runs_name", "runs", ["name"], unique=True)
