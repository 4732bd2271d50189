# SPDX-License-Identifier: Apache-2.0
"""Run the real command on stores and files that a hostile or broken host left.

A command that might not end runs in a process of its own. Damaged values, of which there are many,
are read in this process: an exception that no command expects fails the test.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.fleet_hosts import recorded, snapshot
from tests.unit.cli.conftest import Command
from tests.unit.store.test_imports import measure
from tests.unit.store.test_store import start
from wirespeed.fleet.snapshot_file import SNAPSHOT_FILE
from wirespeed.store.in_use import held
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.store import Store

DATA = Path(__file__).parents[1] / "store" / "data"
# Limit for a command that never ends; no time is measured.
ENDS_S = 600


def command(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = os.environ | {"WIRESPEED_STORE": str(folder / "store.sqlite")}
    return subprocess.run(
        [sys.executable, "-m", "wirespeed.cli.main", *arguments],
        cwd=folder, env=env, input=stdin, capture_output=True, text=True, timeout=ENDS_S,
        check=False,
    )  # fmt: skip


def fetched(folder: Path, host: str = "compute-1") -> Path:
    path = folder / "fetched" / host / "runs.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    with Store(str(path)) as store:
        writer, point = start(store)
        measure(writer, point)
    return path


def script(statements: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(statements)

    return damage


RECURSIVE = (
    "PRAGMA foreign_keys=OFF; DROP TABLE {0}; CREATE VIEW {0} AS WITH RECURSIVE r(n) AS "
    "(SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT n AS id, n AS version_num FROM r;"
)


HOSTILE = {
    "view": (script(RECURSIVE.format("runs")), "it has a view 'runs'"),
    "version": (script(RECURSIVE.format("alembic_version")), "it has a view 'alembic_version'"),
    "trigger": (
        script("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END;"),
        "it has a trigger 't'",
    ),
    "virtual": (
        script("CREATE VIRTUAL TABLE f USING fts5(x);"), "its tables are not those of a store",
    ),
    "computed": (
        script("ALTER TABLE runs ADD COLUMN x AS (hex(zeroblob(1000000000)));"),
        "its tables are not those of a store",
    ),
    "index": (
        script("CREATE INDEX i ON runs (upper(id));"), "its tables are not those of a store",
    ),
    "id": (script("UPDATE runs SET id = '../../etc/x-1';"), "is no id of a run"),
    "future": (
        script("UPDATE runs SET started_at = '9999-01-01T00:00:00.000+00:00';"), "ahead of this",
    ),
    "nested": (script("UPDATE runs SET resolved = '" + "[" * 100_000 + "';"), "damaged"),
    "trial": (script("UPDATE trials SET trial = '{}';"), "damaged"),
    "series": (script("UPDATE series SET at_ns = x'7178';"), "damaged"),
}  # fmt: skip


@dataclass
class Added:
    """Answer of one command that adds all hostile files and an intact one."""

    done: subprocess.CompletedProcess[str]
    files: Mapping[str, Path]
    before: Mapping[str, bytes]


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Added:
    folder = tmp_path_factory.mktemp("hostile")
    original = fetched(folder, "intact").read_bytes()
    files = {name: folder / "fetched" / name / "runs.sqlite" for name in HOSTILE}
    for name, (damage, _) in HOSTILE.items():
        files[name].parent.mkdir()
        files[name].write_bytes(original)
        damage(files[name])
    before = {name: path.read_bytes() for name, path in files.items()}
    return Added(command(folder, "fleet", "add", "fetched"), files, before)


@pytest.mark.parametrize("name", HOSTILE)
def test_fleet_add_hostile_file_ends_and_is_refused(added: Added, name: str) -> None:
    done = added.done
    assert done.returncode == 1, done.stderr
    assert done.stdout == f"1 added, 0 known already, {len(HOSTILE)} not usable\n"
    assert "Traceback" not in done.stderr
    [reason] = [line for line in done.stderr.splitlines() if f"{name}/runs.sqlite" in line]
    assert HOSTILE[name][1] in reason
    assert added.files[name].read_bytes() == added.before[name]


@pytest.mark.parametrize("name", ["run-0001", "run-0002"])
def test_fleet_add_old_schema_is_added_and_not_changed(tmp_path: Path, name: str) -> None:
    path = tmp_path / "fetched" / "compute-1" / "runs.sqlite"
    path.parent.mkdir(parents=True)
    script((DATA / f"{name}.sql").read_text(encoding="utf-8"))(path)
    before = path.read_bytes()
    done = command(tmp_path, "fleet", "add", "fetched")
    assert (done.returncode, done.stdout[:7]) == (0, "1 added"), done.stderr
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_fleet_add_snapshot_of_another_host_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "fetched"
    written = {"victim": "compute-1", "compute-2": "compute-2", "{{ 1 }}": "{{ 1 }}"}
    for name, where in written.items():
        (folder / where).mkdir(parents=True)
        document = SNAPSHOT_FILE.document(snapshot(name, recorded(), audited=False, site="rack"))
        (folder / where / "snapshot.json").write_text(json.dumps(document))
    members = json.dumps({"compute-2": {"address": "192.0.2.2", "site": "fra"}})
    done = command(tmp_path, "fleet", "add", "fetched", "--members", "-", stdin=members)
    assert (done.returncode, done.stdout) == (1, "1 added, 0 known already, 2 not usable\n")
    assert "it names host 'victim', but is in the directory of compute-1" in done.stderr
    assert "is no host's name" in done.stderr
    (host,) = json.loads(command(tmp_path, "fleet", "hosts").stdout)
    assert (host["name"], host["address"], host["site"]) == ("compute-2", "192.0.2.2", "fra")


@pytest.mark.parametrize(
    "address", ["{{ lookup('pipe','id') }}", "-oProxyCommand=id", "a b", "\x1b"]
)
def test_fleet_add_members_that_are_no_addresses_are_refused(
    wirespeed: Command, tmp_path: Path, address: str
) -> None:
    fetched(tmp_path)
    (tmp_path / "members.json").write_text(json.dumps({"compute-1": {"address": address}}))
    done = wirespeed("fleet", "add", "fetched", "--members", "members.json")
    assert (done.code, "is no address" in done.err) == (2, True)


def test_fleet_add_snapshot_from_the_future_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fetched" / "compute-1" / "snapshot.json"
    path.parent.mkdir(parents=True)
    document = SNAPSHOT_FILE.document(snapshot("compute-1", recorded(), audited=False))
    ahead = datetime.now(UTC) + timedelta(hours=1)
    document["collected_at"] = ahead.isoformat(timespec="milliseconds")
    path.write_text(json.dumps(document))
    done = command(tmp_path, "fleet", "add", "fetched")
    assert (done.returncode, "ahead of this machine's clock" in done.stderr) == (1, True)


def three_runs(path: Path) -> None:
    with Store(str(path)) as store:
        for _ in range(3):
            writer, point = start(store)
            measure(writer, point)


@pytest.mark.parametrize("column", ["id", "study", "title", "host", "started_at", "resolved"])
def test_runs_with_32_damaged_octets_lists_the_others(
    wirespeed: Command, tmp_path: Path, column: str
) -> None:
    path = tmp_path / "runs.sqlite"
    three_runs(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            f"UPDATE runs SET {column} = CAST("  # noqa: S608 (columns of this test's own)
            f"x'{'ff' * 32}' || substr({column}, 33) AS TEXT) WHERE rowid = 2"
        )
    done = wirespeed("runs", *(["check"] if column == "resolved" else []))
    assert done.code == 1, done.out
    assert "1 run damaged" in done.err
    assert "PRAGMA integrity_check" in done.err
    assert "wirespeed runs delete RUN" in done.err
    for intact in ("wire-1", "wire-3"):
        assert column == "resolved" or intact in done.out
        assert wirespeed("report", intact, "--csv").code == 0
    if column != "id":
        assert "wire-2" in done.err
        assert wirespeed("report", "wire-2", "--csv").code == 1
        assert wirespeed("runs", "delete", "wire-2", "--yes").code == 0
        assert wirespeed("runs", "check").code == 0


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE points SET result = '{}' WHERE run_id = '{id}'",
        "UPDATE points SET result = CAST(x'ffff' AS TEXT) WHERE run_id = '{id}'",
        "UPDATE trials SET trial = '{\"stage\": \"constant\"}' WHERE run_id = '{id}'",
        "UPDATE trials SET trial = '{' WHERE run_id = '{id}'",
        "UPDATE runs SET study = CAST(x'ffff' AS TEXT) WHERE id = '{id}'",
    ],
    ids=["result", "text", "trial", "json", "run"],
)
def test_fleet_show_damaged_run_is_named_and_the_others_shown(
    wirespeed: Command, tmp_path: Path, statement: str
) -> None:
    for host in ("compute-1", "compute-2"):
        document = SNAPSHOT_FILE.document(snapshot(host, recorded(), audited=False))
        path = fetched(tmp_path, host)
        path.with_name("snapshot.json").write_text(json.dumps(document))
    assert wirespeed("fleet", "add", "fetched").code == 0
    whole = json.loads(wirespeed("fleet", "show", "--json").out)
    ids = [run["id"] for run in json.loads(wirespeed("runs", "--json").out)]
    script(statement.replace("{id}", ids[0]))(tmp_path / "runs.sqlite")
    done = wirespeed("fleet", "show", "--json")
    assert done.code == 1, done.err
    assert f"1 run damaged\n  {ids[0]}: " in done.err
    shown = json.loads(done.out)
    assert shown["groups"] == whole["groups"]
    for verb in (["report", ids[1], "--csv"], ["compare", ids[1], ids[1]]):
        assert wirespeed(*verb).code == 0, verb


def test_store_with_32_octets_damaged_anywhere_is_checked_to_an_end(
    wirespeed: Command, tmp_path: Path
) -> None:
    original = tmp_path / "runs.sqlite"
    three_runs(original)
    octets = original.read_bytes()
    told = 0
    for offset in range(0, len(octets), max(32, len(octets) // 12)):
        original.write_bytes(octets[:offset] + b"\xff" * 32 + octets[offset + 32 :])
        code = wirespeed("runs", "check").code
        assert code in (0, 1, 2), offset
        told += code != 0
    assert told


def test_runs_on_old_schema_reads_a_copy_and_upgrade_keeps_one(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    script((DATA / "run-0001.sql").read_text(encoding="utf-8"))(path)
    before = path.read_bytes()
    assert "wire-1" in command(tmp_path, "runs").stdout
    assert path.read_bytes() == before
    done = command(tmp_path, "runs", "upgrade")
    assert (done.returncode, "store.sqlite.schema-0001.bak" in done.stderr) == (0, True)
    kept = tmp_path / "store.sqlite.schema-0001.bak"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with closing(sqlite3.connect(kept)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0001",)


def test_writer_waits_for_a_lock_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    three_runs(path)
    env = os.environ | {"WIRESPEED_STORE": str(path)}
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        process = subprocess.Popen(
            [sys.executable, "-m", "wirespeed.cli.main", "runs", "delete", "wire-1", "--yes"],
            env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        assert "locked by another process; waiting" in process.stderr.readline()
        other.execute("COMMIT")
        process.communicate(timeout=ENDS_S)
    assert process.returncode == 0


def test_store_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Store(str(tmp_path / "new" / "runs.sqlite")) as store:
            start(store)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new" / "runs.sqlite").stat().st_mode) == 0o600


def test_delete_run_in_use_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    three_runs(path)
    with Store(str(path)) as store, held(store, "wire-2"):
        done = command(tmp_path, "runs", "delete", "wire-2", "--yes")
    assert (done.returncode, "another process measures it" in done.stderr) == (2, True)


def test_delete_without_a_terminal_needs_yes(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    three_runs(path)
    done = command(tmp_path, "runs", "delete", "wire-2")
    assert (done.returncode, "wirespeed runs delete wire-2 --yes" in done.stderr) == (2, True)
    assert command(tmp_path, "runs", "delete", "wire-2", "--yes").returncode == 0
    with closing(sqlite3.connect(path)) as connection:
        for table, column in (("runs", "id"), ("points", "run_id"), ("trials", "run_id"),
                              ("series", "run_id")):  # fmt: skip
            query = f"SELECT count(*) FROM {table} WHERE {column} = 'wire-2'"  # noqa: S608
            assert connection.execute(query).fetchone() == (0,)
    with Store(str(path)) as store:
        assert {run.id for run in list_runs(store)} == {"wire-1", "wire-3"}
        assert read_run(store, "wire-3").complete
