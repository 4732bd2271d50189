# SPDX-License-Identifier: Apache-2.0
"""Which tables has the store? Runs, points, trials of every attempt, and series.

Times are ISO 8601 in UTC. A column of type JSON holds a model type as store/codec.py writes it, a
trial as store/trials.py does.
Changing a table needs a migration in migrations/versions; a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)

# audits: of each host; null where an older version ran.
RUNS = Table(
    "runs",
    METADATA,
    Column("id", String(80), primary_key=True),
    Column("study", String(64), nullable=False),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("resolved", JSON, nullable=False),
    Column("command", JSON, nullable=False),
    Column("versions", JSON, nullable=False),
    Column("host", JSON, nullable=False),
    Column("started_at", String(32), nullable=False),
    Column("finished_at", String(32)),
    Column("audits", JSON),
)

# state: a PointState (records.py). Only a complete point has a result, and it is written in the
# same transaction as the state. attempt: which attempt's trials belong to it. sut, explanations:
# null until it began or was complete, and where an older version measured it. point_id: Point.key.
# design: the point's id, the number of the repeat and the factors that are on; null as above.
POINTS = Table(
    "points",
    METADATA,
    Column("run_id", String(80), ForeignKey("runs.id"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("point_id", String(12), nullable=False),
    Column("label", Text, nullable=False),
    Column("spec", JSON, nullable=False),
    Column("parameters", JSON, nullable=False),
    Column("state", String(8), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("started_at", String(32)),
    Column("finished_at", String(32)),
    Column("error", Text),
    Column("plan", JSON),
    Column("bench", JSON),
    Column("result", JSON),
    Column("sut", JSON),
    Column("explanations", JSON),
    Column("design", JSON),
    UniqueConstraint("run_id", "point_id"),
)

TRIALS = Table(
    "trials",
    METADATA,
    Column("run_id", String(80), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("ended_at", String(32), nullable=False),
    Column("trial", JSON, nullable=False),
    ForeignKeyConstraint(["run_id", "ordinal"], ["points.run_id", "points.ordinal"]),
)

# What was counted or sampled over time in a trial; at_ns and values are packed by store/series.py.
SERIES = Table(
    "series",
    METADATA,
    Column("run_id", String(80), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("name", String(120), primary_key=True),
    Column("unit", String(40), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("epoch", Text, nullable=False),
    Column("at_ns", LargeBinary, nullable=False),
    Column("values", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["run_id", "ordinal", "attempt", "number"],
        ["trials.run_id", "trials.ordinal", "trials.attempt", "trials.number"],
    ),
)
