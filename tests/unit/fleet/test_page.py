# SPDX-License-Identifier: Apache-2.0
"""Test the page of a thousand hosts: it opens, filters, and shows the outliers."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.fleet_hosts import BIOS, alike, figure, recorded, snapshot
from tests.unit.report.test_html import chromium
from wirespeed.fleet.comparison import Fleet, compare
from wirespeed.fleet.document import fleet_document
from wirespeed.model.host.snapshot import Member, Repeat
from wirespeed.report.page.fleet_page import fleet_page

HOSTS = 1000


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    """Return equal hosts and an outlier with an older BIOS, a low rate and HTML in its name.

    Two hosts are audited.
    """
    odd_name = "<b>odd</b> & co"
    old = replace(recorded(), firmware=replace(BIOS, bios_version="2.4.8"))
    audited = snapshot("audited", recorded())
    hosts = [
        *alike(HOSTS - 3), audited, replace(audited, member=Member("other")),
        snapshot(odd_name, old, audited=False),
    ]  # fmt: skip
    chance = random.Random(1)
    figures = [figure(host.member.name, chance.gauss(10, 0.05)) for host in hosts[:-1]]
    repeats = [
        Repeat("host-001", "burn", "64 B", f"2026-11-23T12:{n:02}:00+00:00", 1e6 + n % 7, n / 1e6)
        for n in range(60)
    ]
    return compare(hosts, [*figures, figure(odd_name, 9)], repeats)


@pytest.fixture(scope="module")
def page(fleet: Fleet) -> str:
    return fleet_page(fleet, "0.1.0")


PROBE = """<script>
window.addEventListener("load", () => {
  const input = document.getElementById("filter");
  input.value = "HOST-99";
  input.dispatchEvent(new Event("input"));
  const rows = Array.from(document.querySelectorAll("#rules tbody tr"));
  const left = rows.filter((row) => !row.hidden).length;
  document.title = `${rows.length} | ${left} | ${document.documentElement.scrollWidth}`;
});</script></body>"""


@pytest.mark.parametrize("width", [1280, 500])
def test_the_page_opens_and_filters(page: str, tmp_path: Path, width: int) -> None:
    path = tmp_path / "fleet.html"
    path.write_text(page.replace("</body>", PROBE), encoding="utf-8")
    done = chromium(path, tmp_path / "profile", f"--window-size={width},2000", "--dump-dom")
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    title = re.search(r"<title>(\d+) \| (\d+) \| (\d+)</title>", done.stdout)
    assert title, "the page's scripts did not run to the end"
    # host-099, host-990 to host-996
    assert (int(title[1]), int(title[2])) == (HOSTS, 7)
    assert int(title[3]) <= width


def test_outliers_are_at_the_top_of_the_page(page: str) -> None:
    top = page[page.index('id="odd"') : page.index('id="groups"')]
    assert "&lt;b&gt;odd&lt;/b&gt; &amp; co: 9 Mpps (quickstart, 64 B: NDR), below" in top
    assert (
        "host-001, burn, 64 B: 60 trials in 1.0 h; 59 trials with loss, the first after 1 min"
        in top
    )
    assert "BIOS: 2.4.8 of 07/09/2021: &lt;b&gt;odd&lt;/b&gt; &amp; co (usual: 2.12.2" in top
    assert "<b>odd" not in page


def test_every_host_has_a_row_in_both_matrices(page: str) -> None:
    rules = page[page.index('id="rules"') : page.index('id="figures"')]
    figures = page[page.index('id="figures"') :]
    for number in range(HOSTS - 3):
        assert f'<th scope="row">host-{number:03}<td' in rules
        assert f'<th scope="row">host-{number:03}<td' in figures
    assert re.search(r'<td class="high" title="audited, WS27 high: [^"]+">H', rules)


def test_a_page_needs_no_network(page: str) -> None:
    assert not re.search(r"""(src|href)=["']?(https?:|//)""", page)


def test_the_document_has_all_of_it(fleet: Fleet) -> None:
    said = fleet_document(fleet)
    (group,) = said["groups"]
    assert len(group["hosts"]) == HOSTS
    assert [one["trait"] for one in group["differences"]] == ["BIOS"]
    assert list(said["figures"][0]["outliers"]) == ["<b>odd</b> & co"]
    assert said["burn_ins"][0]["failures"] == 59
