# SPDX-License-Identifier: Apache-2.0
"""Check `wirespeed router`, and that wsdp takes the tables that it writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.dataplane.program import check, eal_section
from tests.support.verb_app import verb_app
from wirespeed.cli.verbs import router
from wirespeed.routing.formats import Format

RUNNER = CliRunner()


def table(*options: str) -> str:
    done = RUNNER.invoke(verb_app(router.table), options, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("target", Format)
def test_router_table_writes_every_prefix(target: Format) -> None:
    text = table("--ipv4", "500", "--ipv6", "300", "--to", target)
    routes = [line for line in text.splitlines() if "/" in line]
    assert len(routes) == 800
    assert sum(":" in line.split("/")[0] for line in routes) == 300


def test_router_table_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    options = ("--ipv4", "2000", "--ipv6", "100", "--seed", "9")
    table(*options, "-o", str(tmp_path / "table"))
    assert (tmp_path / "table").read_text() == table(*options)
    assert table(*options) != table(*options[:-1], "10")


def test_router_table_file_prints_its_statistics(tmp_path: Path) -> None:
    told = table("--ipv4", "2000", "--ipv6", "0", "-o", str(tmp_path / "table"))
    assert told.startswith("IPv4: 2000 prefixes, mean length 22.6")
    assert "Published (FRRouting/frr, GitHub issue 1216" in told
    assert "/24 5" in told
    assert "IPv6" not in told


def test_wsdp_takes_generated_tables(tmp_path: Path) -> None:
    routes = tmp_path / "routes"
    table("--ipv4", "20000", "--ipv6", "20000", "--next-hops", "4096", "--outputs", "2",
          "-o", str(routes))  # fmt: skip
    ini = (
        eal_section()
        + "".join(f"[port.{name}]\ndevice = net_null_{name}\n" for name in ("east", "west"))
        + "[task.r]\ntype = l3fwd\nlcore = 1\nrx = east:0\ntx = east:0, west:0\n"
        + f"routes = {routes}\n"
    )
    done = check(ini, tmp_path, "--check")
    assert (done.returncode, done.stderr) == (0, "")
