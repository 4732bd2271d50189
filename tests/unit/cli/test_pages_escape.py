# SPDX-License-Identifier: Apache-2.0
"""Check that strings of foreign documents are text in pages and drawings, never markup."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Command
from tests.unit.cli.test_hostile_documents import document

SCRIPT = "<script>alert(7)</script>"
MARKUP = ("<script>alert", "<img src=x", "</title><script")


def escaped(page: str) -> None:
    for markup in MARKUP:
        assert markup not in page
    assert "&lt;script&gt;alert(7)" in page


@pytest.fixture
def measured(wirespeed: Command, tmp_path: Path) -> Command:
    """Return the command, with a run whose title, CPU model and label are markup."""
    Path("s.toml").write_text(
        f'title = "{SCRIPT}"\ndescription = "{SCRIPT}"\n[topology]\nkind = "wire"\n'
    )
    assert wirespeed("run", "s.toml").code == 0
    with sqlite3.connect(tmp_path / "runs.sqlite") as database:
        host = json.loads(database.execute("SELECT host FROM runs").fetchone()[0])
        host["cpu_model"] = SCRIPT
        database.execute("UPDATE runs SET host = ?", (json.dumps(host),))
        database.execute("UPDATE points SET label = ?", (SCRIPT,))
    database.close()
    return wirespeed


def test_report_page_strings_are_escaped(measured: Command) -> None:
    assert measured("report", "latest", "--html", "r.html").code == 0
    escaped(Path("r.html").read_text(encoding="utf-8"))


def test_report_drawings_strings_are_escaped(measured: Command) -> None:
    assert measured("report", "latest", "--svg", "svg").code == 0
    drawings = [path.read_text(encoding="utf-8") for path in Path("svg").iterdir()]
    assert all(markup not in drawing for drawing in drawings for markup in MARKUP)
    assert any("&lt;script&gt;alert(7)" in drawing for drawing in drawings)


def test_audit_and_fleet_pages_strings_are_escaped(wirespeed: Command) -> None:
    host = document("host.json")
    host["cpu_model"] = SCRIPT
    Path("host.json").write_text(json.dumps(host))
    audited = wirespeed("audit", "--host", "host.json", "--format", "html")
    assert audited.code == 0
    assert all(markup not in audited.out for markup in MARKUP)
    assert wirespeed("fleet", "snapshot", "--host", "host.json", "-o", "f/s2-r730/a.json").code == 0
    assert wirespeed("fleet", "add", "f").code == 0
    assert wirespeed("fleet", "--html", "fleet.html").code == 0
    escaped(Path("fleet.html").read_text(encoding="utf-8"))
