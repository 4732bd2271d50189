# SPDX-License-Identifier: Apache-2.0
"""Test that sites share a PostgreSQL with a schema each, and that pages and retention see all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from typer.testing import CliRunner

from tests.support.postgres import Cluster, cluster
from tests.support.verb_app import verb_app
from tests.unit.report.test_html import chromium
from wirespeed.cli.verbs.fleet_sites import sites
from wirespeed.model.errors import BadInput
from wirespeed.report.page.sites_page import page_name, site_page
from wirespeed.store.sites import forget_results, read_sites
from wirespeed.store.url import store_url

HOWTO = Path(__file__).parents[3] / "docs" / "howto" / "run-a-speedtest-server.md"
# Table that the server creates (speedtest/server/src/results/postgresql.rs).
TABLE = """
CREATE TABLE speedtest_result (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run text NOT NULL, number bigint NOT NULL,
    time timestamptz NOT NULL, protocol text NOT NULL, client text, record jsonb NOT NULL,
    UNIQUE (run, number));
"""
SITES = ("berlin", 'paris "2"')


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with cluster() as made:
        yield made


@pytest.fixture
def url(running: Cluster) -> str:
    engine = create_engine(store_url(running.url))
    with engine.begin() as connection:
        for number, site in enumerate(SITES):
            name = '"' + site.replace('"', '""') + '"'
            connection.execute(text(f"DROP SCHEMA IF EXISTS {name} CASCADE"))
            connection.execute(text(f"CREATE SCHEMA {name}"))
            connection.execute(text(f"SET search_path = {name}"))
            connection.execute(text(TABLE))
            for test in range(10 * (number + 1)):
                add(connection, test, site)
    engine.dispose()
    return running.url


def add(connection: object, number: int, site: str) -> None:
    directions = [
        {"server": "sends", "bits_per_second": 1e9 + number, "verdict": {"limited_by": "path"}},
        {"server": "receives", "bits_per_second": 2e9, "verdict": {"limited_by": "client_cpu"}},
    ]
    record = {"ended": "aborted" if number == 0 else "complete", "directions": directions}
    connection.execute(  # type: ignore[attr-defined]
        text("INSERT INTO speedtest_result (run, number, time, protocol, record) VALUES "
             "(:run, :number, now() - make_interval(days => :days), 'ndt7', :record)"),
        {"run": site, "number": number, "days": number, "record": json.dumps(record)},
    )  # fmt: skip


def test_each_site_has_its_own_figures(url: str) -> None:
    berlin, paris = read_sites(url, 30)
    assert (berlin.name, berlin.tests, berlin.aborted) == ("berlin", 10, 1)
    assert (paris.name, paris.tests) == ('paris "2"', 20)
    assert dict(berlin.limits) == {"client_cpu": 10, "path": 10}
    assert [day.median_bps for day in berlin.download] == [1e9 + n for n in reversed(range(10))]
    assert {day.median_bps for day in berlin.upload} == {2e9}
    assert [site.tests for site in read_sites(url, 5)] == [5, 5]


def test_old_results_are_deleted_and_no_others(url: str) -> None:
    assert forget_results(url, 15) == {"berlin": 0, 'paris "2"': 5}
    assert forget_results(url, 15) == {"berlin": 0, 'paris "2"': 0}
    assert [site.tests for site in read_sites(url, 30)] == [10, 15]


def test_sites_json_has_each_site(url: str) -> None:
    options = ["--database", url, "--days", "30", "--json"]
    done = CliRunner().invoke(verb_app(sites), options)
    assert done.exit_code == 0, done.output
    berlin, paris = json.loads(done.output)
    assert (berlin["site"], berlin["tests"], berlin["ended_early"]) == ("berlin", 10, 1)
    assert berlin["limits"] == {"client_cpu": 10, "path": 10}
    assert paris["site"] == 'paris "2"'


def test_a_page_of_each_site(url: str, tmp_path: Path) -> None:
    found = read_sites(url, 30)
    assert [page_name(site) for site in found] == ["berlin.html", "paris~20~222~22.html"]
    page = site_page(found[1], found, 30, "0.1.0")
    assert "paris &#34;2&#34;: 20 tests" in page
    assert 'href="berlin.html"' in page
    assert "1 test of 20 ended early" in page
    path = tmp_path / "site.html"
    path.write_text(page)
    done = chromium(path, tmp_path / "profile", "--dump-dom")
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert "svg" in done.stdout


def test_a_database_without_sites_is_reported(running: Cluster, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="several sites share a PostgreSQL"):
        read_sites(str(tmp_path / "a.sqlite"), 30)
    with pytest.raises(BadInput, match="no schema has results"):
        read_sites(running.url.replace("/postgres?", "/template1?"), 30)


def test_the_roles_of_the_how_to_are_enough_and_no_site_sees_another(running: Cluster) -> None:
    """Run the SQL of the how-to page as it is printed there."""
    sql = HOWTO.read_text().split("## Many sites")[1].split("```sql")[1].split("```")[0]
    commands = [part for part in sql.split(";") if part.strip()]
    owner = create_engine(store_url(running.url))
    with owner.begin() as connection:
        connection.execute(text("DROP SCHEMA IF EXISTS berlin CASCADE"))
        for command in commands:
            connection.execute(text(command))
        connection.execute(text("CREATE ROLE speedtest_paris LOGIN"))
    owner.dispose()
    server = create_engine(store_url(running.url.replace("//wirespeed@", "//speedtest_berlin@")))
    with server.begin() as connection:
        connection.execute(text(TABLE))
        for number in range(3):
            add(connection, number, "berlin")
    server.dispose()
    pages = running.url.replace("//wirespeed@", "//speedtest_pages@")
    (berlin,) = (site for site in read_sites(pages, 30) if site.name == "berlin")
    assert berlin.tests == 3
    assert forget_results(pages, 1)["berlin"] == 2
    with pytest.raises(BadInput, match="this role may read"):
        read_sites(running.url.replace("//wirespeed@", "//speedtest_paris@"), 30)
