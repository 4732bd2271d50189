# SPDX-License-Identifier: Apache-2.0
"""Add the hosts' audits; for each point its SUT and what limits it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("runs", sa.Column("audits", sa.JSON))
    op.add_column("points", sa.Column("sut", sa.JSON))
    op.add_column("points", sa.Column("explanations", sa.JSON))
