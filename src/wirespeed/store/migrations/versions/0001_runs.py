# SPDX-License-Identifier: Apache-2.0
"""Create runs, points and trials."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(80), primary_key=True),
        sa.Column("study", sa.String(64), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("resolved", sa.JSON, nullable=False),
        sa.Column("command", sa.JSON, nullable=False),
        sa.Column("versions", sa.JSON, nullable=False),
        sa.Column("host", sa.JSON, nullable=False),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("finished_at", sa.String(32)),
    )
    op.create_table(
        "points",
        sa.Column("run_id", sa.String(80), sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("ordinal", sa.Integer, primary_key=True),
        sa.Column("point_id", sa.String(12), nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("spec", sa.JSON, nullable=False),
        sa.Column("parameters", sa.JSON, nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("started_at", sa.String(32)),
        sa.Column("finished_at", sa.String(32)),
        sa.Column("error", sa.Text),
        sa.Column("plan", sa.JSON),
        sa.Column("bench", sa.JSON),
        sa.Column("result", sa.JSON),
        sa.UniqueConstraint("run_id", "point_id"),
    )
    op.create_table(
        "trials",
        sa.Column("run_id", sa.String(80), primary_key=True),
        sa.Column("ordinal", sa.Integer, primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("ended_at", sa.String(32), nullable=False),
        sa.Column("trial", sa.JSON, nullable=False),
        sa.ForeignKeyConstraint(["run_id", "ordinal"], ["points.run_id", "points.ordinal"]),
    )
