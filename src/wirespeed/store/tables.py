# SPDX-License-Identifier: Apache-2.0
"""Define the tables of the store.

For runs: runs, points, trials of every attempt, and series. For a fleet: snapshots of hosts,
imports of runs, leases and pair tests. Recordings of counters have tables of their own. Times are
ISO 8601 in UTC. A JSON column has a model type as store/codec.py writes it, a trial as
store/trials.py does. A changed table needs a migration in migrations/versions; a test compares the
two.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
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

# audits: of each host; null where an older version ran. name, tags, note: what people said of the
# run in this store (labels.py); null where nothing.
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
    Column("name", String(80)),
    Column("tags", JSON),
    Column("note", Text),
    Index("ix_runs_name", "name", unique=True),
)

# state: a PointState (records.py). Only a complete point has a result, which is written in the same
# transaction as the state. attempt: the attempt whose trials belong to the point. sut,
# explanations: null until the point began or was complete, and where an older version measured it.
# point_id: Point.key. design: the point's id, the number of the repeat and the factors that are on;
# null where an older version measured it.
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

# Counts or samples over time in a trial; store/series.py packs at_ns and values.
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

# Snapshots of a fleet's hosts. name: as in the inventory. audit: null where it was not audited.
SNAPSHOTS = Table(
    "snapshots",
    METADATA,
    Column("name", String(253), primary_key=True),
    Column("collected_at", String(32), primary_key=True),
    Column("address", Text, nullable=False),
    Column("site", Text, nullable=False),
    Column("hardware", String(12), nullable=False),
    Column("versions", JSON, nullable=False),
    Column("facts", JSON, nullable=False),
    Column("audit", JSON),
)

# Runs that another host measured into its own store, with their ids there and here. settled: number
# of points that were done when the run was copied.
IMPORTS = Table(
    "imports",
    METADATA,
    Column("host", String(253), primary_key=True),
    Column("source", String(80), primary_key=True),
    Column("started_at", String(32), primary_key=True),
    Column("run_id", String(80), ForeignKey("runs.id"), nullable=False),
    Column("settled", Integer, nullable=False),
)

# Holders of hosts, links and generators, with the expiry by the database's clock. token: each lease
# raises it, none lowers it; holder: null once the lease is released.
LEASES = Table(
    "leases",
    METADATA,
    Column("resource", String(253), primary_key=True),
    Column("token", BigInteger, nullable=False),
    Column("holder", Text),
    Column("expires_at", DateTime(timezone=True)),
)

# Measurements that need several hosts at once. state: a PairState (pairs.py); token: of the lease
# of its last attempt; run_id: null until it is complete.
PAIR_TESTS = Table(
    "pair_tests",
    METADATA,
    Column("name", String(120), primary_key=True),
    Column("study", Text, nullable=False),
    Column("lab", Text, nullable=False),
    Column("resources", JSON, nullable=False),
    Column("state", String(8), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("run_id", String(80)),
    Column("error", Text),
    Column("finished_at", String(32)),
)

# Counters of a host over time. run_id: the run that it was recorded with, which may be deleted
# alone. sparse: reads of a host without a CPU to spare, see kpi/pace.py. clock: a RecordingClock.
RECORDINGS = Table(
    "recordings",
    METADATA,
    Column("id", String(80), primary_key=True),
    Column("host", Text, nullable=False),
    Column("run_id", String(80)),
    Column("started_at", String(32), nullable=False),
    Column("finished_at", String(32)),
    Column("rate_hz", Float, nullable=False),
    Column("sparse", Boolean, nullable=False),
    Column("clock", JSON, nullable=False),
)

RECORDED_SERIES = Table(
    "recorded_series",
    METADATA,
    Column("recording_id", String(80), ForeignKey("recordings.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("source", String(120), nullable=False),
    Column("key", String(120), nullable=False),
    Column("labels", JSON, nullable=False),
    Column("unit", String(40), nullable=False),
    Column("kind", String(16), nullable=False),
)

# Reads of one source; chunk_codec.py packs series, moments, took and values. A chunk of 1 s is
# written at once, and merged with its neighbours each minute.
CHUNKS = Table(
    "chunks",
    METADATA,
    Column("recording_id", String(80), ForeignKey("recordings.id"), primary_key=True),
    Column("source", String(120), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("epoch", Text, nullable=False),
    Column("begin_ns", BigInteger, nullable=False),
    Column("end_ns", BigInteger, nullable=False),
    Column("reads", Integer, nullable=False),
    Column("columns", Integer, nullable=False),
    Column("series", LargeBinary, nullable=False),
    Column("moments", LargeBinary, nullable=False),
    Column("took", LargeBinary, nullable=False),
    Column("values", LargeBinary, nullable=False),
)

# Least and most of the series of a merged chunk (extremes.py): over all of it, and in buckets.
EXTREMES = Table(
    "extremes",
    METADATA,
    Column("recording_id", String(80), ForeignKey("recordings.id"), primary_key=True),
    Column("source", String(120), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("begin_ns", BigInteger, nullable=False),
    Column("end_ns", BigInteger, nullable=False),
    Column("buckets", Integer, nullable=False),
    Column("columns", Integer, nullable=False),
    Column("series", LargeBinary, nullable=False),
    Column("whole", LargeBinary, nullable=False),
    Column("edges", LargeBinary, nullable=False),
    Column("fine", LargeBinary, nullable=False),
)

MARKS = Table(
    "marks",
    METADATA,
    Column("recording_id", String(80), ForeignKey("recordings.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("at_ns", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("text", Text, nullable=False),
)
