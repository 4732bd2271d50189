# SPDX-License-Identifier: Apache-2.0
"""Add least and most of the series of a merged chunk, for pages that show hours."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "extremes",
        sa.Column("recording_id", sa.String(80), nullable=False),
        sa.Column("source", sa.String(120), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("begin_ns", sa.BigInteger, nullable=False),
        sa.Column("end_ns", sa.BigInteger, nullable=False),
        sa.Column("buckets", sa.Integer, nullable=False),
        sa.Column("columns", sa.Integer, nullable=False),
        sa.Column("series", sa.LargeBinary, nullable=False),
        sa.Column("whole", sa.LargeBinary, nullable=False),
        sa.Column("edges", sa.LargeBinary, nullable=False),
        sa.Column("fine", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("recording_id", "source", "number", name="pk_extremes"),
        sa.ForeignKeyConstraint(["recording_id"], ["recordings.id"], name="fk_extremes_recordings"),
    )
