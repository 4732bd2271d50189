# SPDX-License-Identifier: Apache-2.0
"""Add hosts of a fleet: their snapshots, runs they measured themselves, leases and pair tests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "snapshots",
        sa.Column("name", sa.String(253), primary_key=True),
        sa.Column("collected_at", sa.String(32), primary_key=True),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("hardware", sa.String(12), nullable=False),
        sa.Column("versions", sa.JSON, nullable=False),
        sa.Column("facts", sa.JSON, nullable=False),
        sa.Column("audit", sa.JSON),
    )
    op.create_table(
        "imports",
        sa.Column("host", sa.String(253), primary_key=True),
        sa.Column("source", sa.String(80), primary_key=True),
        sa.Column("started_at", sa.String(32), primary_key=True),
        sa.Column("run_id", sa.String(80), sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("settled", sa.Integer, nullable=False),
    )
    op.create_table(
        "leases",
        sa.Column("resource", sa.String(253), primary_key=True),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "pair_tests",
        sa.Column("name", sa.String(120), primary_key=True),
        sa.Column("study", sa.Text, nullable=False),
        sa.Column("lab", sa.Text, nullable=False),
        sa.Column("resources", sa.JSON, nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("run_id", sa.String(80)),
        sa.Column("error", sa.Text),
        sa.Column("finished_at", sa.String(32)),
    )
