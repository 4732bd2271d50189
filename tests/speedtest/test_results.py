# SPDX-License-Identifier: Apache-2.0
"""Test results in SQLite and in a real PostgreSQL: storing, spooling, replay, removal."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.ports import reserved_port
from tests.support.postgres import Cluster, cluster
from tests.support.waiting import until

from .certificates import make_certificate
from .conftest import PATIENCE_S, Serve, Server
from .test_http import ask
from .test_iperf3 import iperf3

BOTH = ("--iperf3", "--http", "--metrics")
ALL = "SELECT number, client, record FROM speedtest_result ORDER BY id"
OLD_S = 40 * 86_400


@pytest.fixture(scope="module")
def database() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.fixture
def empty(database: Cluster) -> Cluster:
    """Return the cluster without the tables of the previous test."""
    query(database, "DROP TABLE IF EXISTS speedtest_result, speedtest_schema")
    return database


def query(database: Cluster, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(database.url, autocommit=True) as link:
        answer = link.execute(sql)
        return answer.fetchall() if answer.description else []


def rows(path: Path) -> list[tuple[Any, ...]]:
    link = sqlite3.connect(path)
    try:
        return link.execute(ALL).fetchall()
    finally:
        link.close()


def say(server: Server, what: bytes) -> None:
    assert ask(server, "POST", "/results/telemetry", what)[0].status == 200


def metric(server: Server, name: str) -> int:
    page = ask(server, "GET", "/metrics", where="--metrics")[1].decode()
    values = dict(line.split() for line in page.splitlines() if not line.startswith("#"))
    return int(values[f"wirespeed_speedtest_{name}"])


def until_kept(server: Server, count: int) -> None:
    until(lambda: metric(server, "results_kept_total") >= count, f"{count} results kept")


def until_spooled(server: Server, count: int) -> None:
    until(lambda: metric(server, "results_spooled") >= count, f"{count} results spooled")


def stop(server: Server) -> None:
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("kind", ["sqlite:", ""], ids=["sqlite", "json lines"])
def test_results_file_created_is_its_owners_only(serve: Serve, tmp_path: Path, kind: str) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    server = serve("--results", f"{kind}{kept / 'results'}", protocols=BOTH)
    say(server, b"dl=1&ip=127.0.0.1")
    until_kept(server, 1)
    rights = {path.name: path.stat().st_mode & 0o777 for path in kept.iterdir()}
    assert "results" in rights
    assert set(rights.values()) == {0o600}
    stop(server)


def test_results_file_with_other_rights_keeps_them(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.touch()
    path.chmod(0o640)
    stop(serve("--results", str(path), protocols=BOTH))
    assert path.stat().st_mode & 0o777 == 0o640


def test_sqlite_has_every_result_when_the_server_has_stopped(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    server = serve("--results", f"sqlite:{path}", protocols=BOTH)
    assert "error" not in iperf3(server, "-n", "1M")
    say(server, b"dl=1\0&ip=127.0.0.1")
    stop(server)
    (_, client, first), (_, _, second) = rows(path)
    assert client.startswith("127.0.0.1:")
    assert json.loads(first)["directions"][0]["bytes"] == 1024 * 1024
    assert json.loads(second)["said"] == "dl=1\ufffd&ip=-"


def test_postgresql_has_every_result_as_columns_and_jsonb(serve: Serve, empty: Cluster) -> None:
    spool = empty.directory / "spool"
    server = serve("--results", empty.url, "--results-spool", str(spool), protocols=BOTH)
    assert "error" not in iperf3(server, "-n", "1M", "-R")
    say(server, b"with a zero \0 in it")
    stop(server)
    (_, client, test), (_, _, said) = query(empty, ALL)
    assert client.startswith("127.0.0.1:")
    assert test["directions"][0]["verdict"]["limited_by"]
    assert said["said"] == "with a zero \ufffd in it"
    by_limit = "SELECT record->'directions'->0->'verdict'->>'limited_by' FROM speedtest_result"
    assert len(query(empty, by_limit)) == 2
    assert spool.read_text() == ""


def test_postgresql_over_tls_and_only_of_whom_it_believes(serve: Serve, tmp_path: Path) -> None:
    own, other = make_certificate(tmp_path, "db"), make_certificate(tmp_path, "other")
    port = reserved_port()

    def start(ca: Path, name: str) -> Server:
        config = tmp_path / f"{name}.toml"
        url = f"postgresql://wirespeed@127.0.0.1:{port}/postgres"
        results = f"postgresql = '{url}'\npostgresql_ca = '{ca}'\nspool = '{tmp_path / name}'\n"
        config.write_text(f"[results]\n{results}")
        return serve("--config", str(config), protocols=BOTH)

    with cluster() as database:
        database.serve_tls(own.cert, own.key, port)
        server = start(own.cert, "trusting")
        say(server, b"secret")
        until_kept(server, 1)
        link = f"host={database.directory} port={port} user=wirespeed dbname=postgres"
        with psycopg.connect(link) as local:
            [(record,)] = local.execute("SELECT record FROM speedtest_result").fetchall()
        assert record["said"] == "secret"
        stop(server)
        doubting = start(other.cert, "doubting")
        say(doubting, b"not for you")
        until_spooled(doubting, 1)
        stop(doubting)
    assert "not for you" in (tmp_path / "doubting").read_text()


def test_a_kept_result_has_the_series_of_every_stream(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    server = serve("--results", str(path))
    assert "error" not in iperf3(server, "-n", "1M", "-P", "2")
    assert "series" not in server.next_event("test finished")
    assert "error" not in iperf3(server, "-n", "1M", "-P", "20")
    stop(server)
    few, many = map(json.loads, path.read_text().splitlines())
    assert [stream["id"] for stream in few["series"]] == [1, 3]
    # The streams share the bytes: equally, unless the client has a thread for each (3.16 on).
    ends = [stream["tcp_info"][-1]["bytes"] for stream in few["series"]]
    assert sum(ends) == 1 << 20
    for stream, end in zip(few["series"], ends, strict=True):
        assert stream["tcp_info"][0]["bytes"] <= end
    assert few["series_left_out"] == 0
    assert (len(many["series"]), many["series_left_out"]) == (16, 4)
    # However short the test was, its rate is that of its bytes and seconds.
    for direction in (*few["directions"], *many["directions"]):
        rate = direction["bytes"] * 8 / direction["seconds"]
        assert direction["bits_per_second"] == pytest.approx(rate, abs=1)


def test_without_its_database_the_server_tests_on_and_replays_once(
    serve: Serve, empty: Cluster, tmp_path: Path
) -> None:
    options = ["--results", empty.url, "--results-spool", str(tmp_path / "spool")]
    empty.stop()
    try:
        server = serve(*options, protocols=BOTH)
        say(server, b"first")
        assert "error" not in iperf3(server, "-n", "1M")
        # A crash must not lose what is in the spool already.
        until_spooled(server, 2)
        server.process.kill()
        server.process.wait()
        server = serve(*options, protocols=BOTH)
        say(server, b"second")
        until_spooled(server, 3)
    finally:
        empty.start()
    assert server.next_event("the database takes results again")["replayed"] == 3
    assert metric(server, "results_spooled") == 0
    say(server, b"third")
    stop(server)
    said = [record.get("said") for _, _, record in query(empty, ALL)]
    assert said == ["first", None, "second", "third"]


def test_a_database_that_hangs_holds_up_no_test(
    serve: Serve, empty: Cluster, tmp_path: Path
) -> None:
    options = ["--results", empty.url, "--results-spool", str(tmp_path / "spool")]
    server = serve(*options, protocols=BOTH)
    say(server, b"before")
    until_kept(server, 1)
    empty.signal(signal.SIGSTOP)
    try:
        say(server, b"meanwhile")
        report = iperf3(server, "-t", "1", "-b", "20M")
        assert "error" not in report
        event = server.next_event("the database does not take results, they go to the spool")
        assert "no answer" in event["error"]
    finally:
        empty.signal(signal.SIGCONT)
    server.next_event("the database takes results again")
    stop(server)
    assert len(query(empty, ALL)) == 3


def test_old_addresses_are_dropped_from_postgresql(
    serve: Serve, empty: Cluster, tmp_path: Path
) -> None:
    options = ["--results", empty.url, "--results-spool", str(tmp_path / "spool")]
    server = serve(*options, protocols=BOTH)
    say(server, b"old")
    say(server, b"new")
    stop(server)
    query(empty, "UPDATE speedtest_result SET time = time - interval '40 days' WHERE id = 1")
    server = serve(*options, "--keep-addresses", "30", protocols=BOTH)
    until(lambda: query(empty, ALL)[0][1] is None, "the address is dropped")
    (_, _, record), (_, new, _) = query(empty, ALL)
    assert record["said"] == "old"
    assert new == "127.0.0.1"


@pytest.mark.parametrize("kind", ["sqlite:", ""], ids=["sqlite", "json lines"])
def test_old_addresses_are_dropped_from_files(serve: Serve, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "results"
    server = serve("--results", f"{kind}{path}", protocols=BOTH)
    say(server, b"old")
    stop(server)
    make_old(path, kind)
    server = serve("--results", f"{kind}{path}", "--keep-addresses", "30", protocols=BOTH)
    until(lambda: clients(path, kind) == [None], "the address is dropped")
    say(server, b"new")
    stop(server)
    assert clients(path, kind)[1] == "127.0.0.1"


def clients(path: Path, kind: str) -> list[Any]:
    return [client for _, client, _ in rows(path)] if kind else clients_of_lines(path)


def make_old(path: Path, kind: str) -> None:
    if kind:
        with sqlite3.connect(path) as link:
            link.execute("UPDATE speedtest_result SET time = time - ?", [OLD_S])
        return
    record = json.loads(path.read_text())
    record["time"] -= OLD_S
    path.write_text(json.dumps(record) + "\n")


def clients_of_lines(path: Path) -> list[Any]:
    return [json.loads(line)["client"] for line in path.read_text().splitlines()]


def test_no_address_is_kept_where_none_is_wanted(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    server = serve("--results", str(path), "--keep-addresses", "0", protocols=BOTH)
    assert "error" not in iperf3(server, "-n", "1M")
    say(server, b"x")
    stop(server)
    assert clients_of_lines(path) == [None, None]
    assert "127.0.0.1" not in path.read_text()


@pytest.mark.root
@pytest.mark.parametrize("kind", ["sqlite:", ""], ids=["sqlite", "json lines"])
def test_a_really_full_disk_ends_nothing_and_every_loss_is_counted(
    serve: Serve, small_disk: Path, kind: str
) -> None:
    server = serve("--results", f"{kind}{small_disk / 'results'}", protocols=BOTH)
    say(server, b"before")
    until_kept(server, 1)
    ballast = small_disk / "ballast"
    fill(ballast)
    for number in range(40):
        say(server, b"%02d" % number + b"y" * 4000)
    assert "error" not in iperf3(server, "-n", "1M")
    assert server.next_event("a result could not be written")["number"] > 1
    ballast.unlink()
    before = metric(server, "results_kept_total")
    say(server, b"after")
    until_kept(server, before + 1)
    lost = metric(server, "results_unwritten_total")
    stop(server)
    path = small_disk / "results"
    assert len(clients(path, kind)) + lost == 43
    assert (
        1 + sum(event["event"] == "a result could not be written" for event in drained(server))
        == lost
    )


def test_a_file_of_results_stops_growing_at_its_limit(serve: Serve, tmp_path: Path) -> None:
    path, config = tmp_path / "results.jsonl", tmp_path / "speedtest.toml"
    config.write_text(f"[results]\njsonl = '{path}'\nmax_bytes = 10000\n")
    server = serve("--config", str(config), protocols=BOTH)
    for _ in range(5):
        say(server, b"x" * 4000)
    event = server.next_event("a result could not be written")
    assert "results.max_bytes" in event["error"]
    until(lambda: metric(server, "results_unwritten_total") == 3, "three results lost")
    assert metric(server, "results_bytes") == path.stat().st_size <= 10_000
    assert len(path.read_text().splitlines()) == 2


def fill(path: Path) -> None:
    """Write until nothing fits any more."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    assert shutil.disk_usage(path).free == 0


def drained(server: Server) -> list[dict[str, Any]]:
    events = []
    while not server.events.empty():
        events.append(server.events.get())
    return events


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("jsonl = 'a'\nsqlite = 'b'", ["results", "only one"]),
        ("postgresql = 'postgresql:///x'", ["results.spool", "not set"]),
        ("postgresql = 'nonsense'\nspool = 's'", ["results.postgresql"]),
        ("sqlite = 'x'\npostgresql_ca = 'c'", ["results.postgresql_ca", "only postgresql"]),
        (
            "postgresql = 'postgresql://h/x'\npostgresql_ca = 'absent'\nspool = 's'",
            ["results.postgresql", "absent"],
        ),
        (
            "postgresql = 'postgresql://h/x?sslmode=require'\nspool = 's'",
            ["results.postgresql", "postgresql_ca"],
        ),
        ("sqlite = 'absent/file'", ["results.sqlite", "absent/file"]),
        ("keep_addresses_days = 99999", ["results.keep_addresses_days", "0 to 36500"]),
    ],
)
def test_a_wrong_store_is_named_and_exits_2(
    binary: Path, tmp_path: Path, config: str, words: list[str]
) -> None:
    path = tmp_path / "speedtest.toml"
    path.write_text(f"[[iperf3]]\nlisten = '127.0.0.1:0'\n[results]\n{config}\n")
    command = [binary, "serve", "--config", path]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr
