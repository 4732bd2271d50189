# SPDX-License-Identifier: Apache-2.0
"""Add recordings of counters over time, with their marks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "recordings",
        sa.Column("id", sa.String(80), nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("run_id", sa.String(80)),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("finished_at", sa.String(32)),
        sa.Column("rate_hz", sa.Float, nullable=False),
        sa.Column("sparse", sa.Boolean, nullable=False),
        sa.Column("clock", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_recordings"),
    )
    op.create_table(
        "recorded_series",
        sa.Column("recording_id", sa.String(80), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("source", sa.String(120), nullable=False),
        sa.Column("key", sa.String(120), nullable=False),
        sa.Column("labels", sa.JSON, nullable=False),
        sa.Column("unit", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("recording_id", "number", name="pk_recorded_series"),
        sa.ForeignKeyConstraint(
            ["recording_id"], ["recordings.id"], name="fk_recorded_series_recordings"
        ),
    )
    op.create_table(
        "chunks",
        sa.Column("recording_id", sa.String(80), nullable=False),
        sa.Column("source", sa.String(120), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("epoch", sa.Text, nullable=False),
        sa.Column("begin_ns", sa.BigInteger, nullable=False),
        sa.Column("end_ns", sa.BigInteger, nullable=False),
        sa.Column("reads", sa.Integer, nullable=False),
        sa.Column("columns", sa.Integer, nullable=False),
        sa.Column("series", sa.LargeBinary, nullable=False),
        sa.Column("moments", sa.LargeBinary, nullable=False),
        sa.Column("took", sa.LargeBinary, nullable=False),
        sa.Column("values", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("recording_id", "source", "number", name="pk_chunks"),
        sa.ForeignKeyConstraint(["recording_id"], ["recordings.id"], name="fk_chunks_recordings"),
    )
    op.create_table(
        "marks",
        sa.Column("recording_id", sa.String(80), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("at_ns", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("recording_id", "number", name="pk_marks"),
        sa.ForeignKeyConstraint(["recording_id"], ["recordings.id"], name="fk_marks_recordings"),
    )
