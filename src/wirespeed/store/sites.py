# SPDX-License-Identifier: Apache-2.0
"""Read the results of all sites' speed-test servers from one PostgreSQL.

Each site's servers have a role and a schema of their own, in which they create their tables
(speedtest/server/src/results/postgresql.rs); no site reads or changes another's.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, TextClause, create_engine, text

from wirespeed.model.errors import BadInput
from wirespeed.model.host.sites import Day, Site
from wirespeed.model.input.bounded import load_json
from wirespeed.store.errors import as_store_errors
from wirespeed.store.url import store_url

_SITES = """
SELECT table_schema FROM information_schema.tables
WHERE table_name = 'speedtest_result' ORDER BY table_schema
"""
_TOTALS = """
SELECT count(*), count(*) FILTER (WHERE record->>'ended' = 'aborted'),
  to_char(min(time) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"'),
  to_char(max(time) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"')
FROM {table} WHERE time > now() - make_interval(days => :days) AND record ? 'directions'
"""
_DAYS = """
SELECT to_char(time AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*),
  percentile_cont(0.5) WITHIN GROUP (ORDER BY (way->>'bits_per_second')::float8)
FROM {table}, jsonb_array_elements(record->'directions') AS way
WHERE time > now() - make_interval(days => :days) AND record ? 'directions'
  AND way->>'server' = :server
GROUP BY 1 ORDER BY 1
"""
_LIMITS = """
SELECT way->'verdict'->>'limited_by', count(*)
FROM {table}, jsonb_array_elements(record->'directions') AS way
WHERE time > now() - make_interval(days => :days) AND record ? 'directions'
  AND way->'verdict'->>'limited_by' IS NOT NULL
GROUP BY 1 ORDER BY 2 DESC, 1
"""
_OLD = "DELETE FROM {table} WHERE time < now() - make_interval(days => :days)"


def read_sites(named: str, days: int) -> tuple[Site, ...]:
    """Return the results of each site in the last `days` days. Raises StoreError, BadInput."""
    engine, url = _engine(named)
    with as_store_errors(url), engine.connect() as connection:
        return tuple(_site(connection, name, days) for name in _names(connection, url))


def forget_results(named: str, days: int) -> dict[str, int]:
    """Delete results older than `days`; return their number by site. Raises StoreError."""
    engine, url = _engine(named)
    with as_store_errors(url), engine.begin() as connection:
        return {
            name: connection.execute(_on(connection, name, _OLD), {"days": days}).rowcount
            for name in _names(connection, url)
        }


def _engine(named: str) -> tuple[Engine, str]:
    url = store_url(named)
    shown = url.render_as_string(hide_password=True)
    if not url.drivername.startswith("postgresql"):
        raise BadInput(
            f"--database {shown}: several sites share a PostgreSQL",
            "Name it as postgresql://user@host/database.",
        )
    return create_engine(url, json_deserializer=load_json), shown


def _names(connection: Connection, url: str) -> list[str]:
    names = list(connection.execute(text(_SITES)).scalars())
    if not names:
        raise BadInput(
            f"{url}: no schema has results of a speed-test server that this role may read",
            "docs/howto/run-a-speedtest-server.md says how sites get their schemas.",
        )
    return names


def _on(connection: Connection, site: str, query: str) -> TextClause:
    quoted = connection.dialect.identifier_preparer.quote_identifier(site)
    return text(query.format(table=f"{quoted}.speedtest_result"))


def _site(connection: Connection, name: str, days: int) -> Site:
    def rows(query: str, **more: object) -> list[tuple[Any, ...]]:
        found = connection.execute(_on(connection, name, query), {"days": days, **more})
        return [tuple(row) for row in found]

    ((tests, aborted, first, last),) = rows(_TOTALS)
    # The server sends what its client downloads.
    download, upload = (
        tuple(Day(*row) for row in rows(_DAYS, server=server)) for server in ("sends", "receives")
    )
    return Site(name, tests, aborted, first, last, download, upload, dict(rows(_LIMITS)))
