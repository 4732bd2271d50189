# SPDX-License-Identifier: Apache-2.0
"""Add the counts and samples over time of a trial."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "series",
        sa.Column("run_id", sa.String(80), primary_key=True),
        sa.Column("ordinal", sa.Integer, primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(120), primary_key=True),
        sa.Column("unit", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("epoch", sa.Text, nullable=False),
        sa.Column("at_ns", sa.LargeBinary, nullable=False),
        sa.Column("values", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "ordinal", "attempt", "number"],
            ["trials.run_id", "trials.ordinal", "trials.attempt", "trials.number"],
        ),
    )
