# SPDX-License-Identifier: Apache-2.0
"""Add repeats of a point, and the factors of its study that are on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("points", sa.Column("design", sa.JSON))
