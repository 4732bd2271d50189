# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.support.sample import sample_run
from tests.unit.report.test_document import problems
from wirespeed.model.result.result import Grade
from wirespeed.report.base.theme import DARK, LIGHT, SURFACES
from wirespeed.report.charts.shapes import LineStyle
from wirespeed.report.charts.throughput import throughput_chart
from wirespeed.report.json.document import document
from wirespeed.report.page.html import html_report
from wirespeed.report.text.grades import BETTER_GRADE, MEANING
from wirespeed.report.text.sentence import point_sentence
from wirespeed.store.read import read_run
from wirespeed.store.records import PointState, RunRecord
from wirespeed.store.store import Store


@pytest.fixture(scope="module")
def page(run: RunRecord) -> str:
    return html_report(run)


class Links(HTMLParser):
    """Addresses that a page makes its browser fetch, and its visible text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.text: list[str] = []
        self._hidden = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")
        wanted = ("src", "href", "srcset", "action", "data", "poster")
        self.addresses += [value for name, value in attrs if name in wanted and value]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text.append(data)


def test_the_page_links_to_nothing_outside_itself(page: str) -> None:
    outside = [a for a in Links(page).addresses if not a.startswith(("#", "data:"))]
    assert outside == []
    styles = "".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
    assert "@import" not in styles
    assert "url(" not in styles


def chromium(page: Path, profile: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open the page in a browser without network; console messages go to stderr."""
    program = shutil.which("chromium")
    assert program, "chromium is missing: apt-get install chromium"
    return subprocess.run(
        [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--disable-background-networking", f"--user-data-dir={profile}",
            "--proxy-server=127.0.0.1:9", "--virtual-time-budget=5000",
            "--enable-logging=stderr", *options, page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip


# The pointer 8 px from a dot of the first chart, then far away from every mark.
PROBE = """<script>
window.addEventListener("load", () => {
  const dot = document.querySelector(".first .dot").getBoundingClientRect();
  const chart = document.querySelector(".first svg");
  const move = (x, y) => chart.dispatchEvent(
    new PointerEvent("pointermove", {clientX: x, clientY: y, bubbles: true}));
  move(dot.right + 8, dot.top);
  const near = document.querySelector(".tip").textContent;
  move(-500, -500);
  const far = document.querySelector(".tip").hidden;
  document.title = `${near} | ${far} | ${document.documentElement.scrollWidth}`;
});</script></body>"""


@pytest.mark.parametrize("width", [1200, 390])
def test_a_browser_without_network_draws_it_and_shows_values_by_pointer(
    page: str, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "report.html"
    path.write_text(page.replace("</body>", PROBE), encoding="utf-8")
    done = chromium(path, tmp_path / "profile", f"--window-size={width},2000", "--dump-dom")
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    title = re.search(r"<title>(.*) \| (.*) \| (\d+)</title>", done.stdout)
    assert title, "the page's scripts did not run to the end"
    assert re.fullmatch(r"p2p NDR: [\d.]+ Mpps, .*, grade C", title[1])
    assert title[2] == "true"
    # A headless window is at least 500 wide; nothing may overflow sideways.
    assert int(title[3]) <= max(width, 500)


def test_charts_and_values_need_no_script(page: str, run: RunRecord) -> None:
    """Browsers show a mark's <title> without a script."""
    static = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    chart = throughput_chart(run)
    assert chart is not None
    for series in chart.curves:
        if series.line is not LineStyle.REFERENCE:
            assert all(f"<title>{hover}</title>" in static for hover in series.hover)


def test_every_point_has_its_figures_limits_and_trials(page: str, run: RunRecord) -> None:
    text = " ".join(" ".join(Links(page).text).split())
    for point in run.points:
        assert point.label in text
        quiet = sum(stored.trial.quiet for stored in point.trials)
        assert f"{len(point.trials)} trials, {quiet} quiet" in text
        assert point_sentence(point) in text
    assert "Theoretical" in text
    assert "Not measurable" not in text
    assert "the core that polls this receive ring had no time left" in text


def test_noisy_trials_show_their_reason_and_none_is_invalid(page: str, run: RunRecord) -> None:
    text = " ".join(Links(page).text)
    disturbed = {t.trial.disturbed for point in run.points for t in point.trials} - {None}
    assert disturbed
    assert all(why in text for why in disturbed if why is not None)
    assert "invalid" not in text


def test_every_grade_is_shown_with_its_meaning(page: str, run: RunRecord) -> None:
    for grade in Grade:
        assert f'class="grade g{grade}" title="Grade {grade}: {MEANING[grade]}"' in page
    assert BETTER_GRADE in " ".join(html.unescape(page).split())
    quiet = tuple(p for p in run.points if p.result and p.result.grade is Grade.A)
    assert BETTER_GRADE not in html.unescape(html_report(replace(run, points=quiet)))


def test_every_point_has_the_timeline_of_its_deciding_trial(page: str, run: RunRecord) -> None:
    assert page.count("what happened when</title>") == len(run.points)
    assert page.count("frames queued") == len(run.points)


def test_an_old_run_says_that_its_grades_were_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    data = Path(__file__).parents[1] / "store" / "data" / "run-0001.sql"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(data.read_text(encoding="utf-8"))
    with Store(str(path)) as store:
        old = read_run(store, "wire-1", series=True)
    page = html_report(old)
    text = " ".join(" ".join(Links(page).text).split())
    assert "Grades: not recorded." in text
    assert "NDR 2.816 Mpps (grade not recorded)." in text
    assert "was away from its queues for 10,000,000 us" in text
    assert "what happened when" not in page
    assert problems(document(old)) == []
    assert "not recorded" not in html_report(replace(old, points=()))


def test_the_page_has_versions_rules_and_configuration(page: str) -> None:
    text = " ".join(" ".join(Links(page).text).split())
    assert "Open vSwitch ovs-vswitchd 3.1.0, DPDK 22.11.7" in text
    assert "dl_dst=02:01:00:00:00:00,actions=output:3" in text
    assert "config: [eal] main_lcore = 0" in text
    assert "BOOT_IMAGE=/vmlinuz quiet" in text


def test_failed_rules_are_shown_and_passed_ones_counted(page: str, run: RunRecord) -> None:
    text = " ".join(" ".join(Links(page).text).split())
    assert "1 failed, 1 passed, 1 not checked" in text
    assert "WS25 The host has no 1 GiB huge pages" in text
    assert "WS33 A NIC does not have the planned number of VFs: needs a plan" in text
    assert "WS08" not in text
    assert "stored no audit" in html_report(replace(run, audits=None))


def test_each_limit_says_what_to_change_and_what_it_rests_on(page: str, run: RunRecord) -> None:
    text = " ".join(" ".join(Links(page).text).split())
    for point in run.points:
        for found in point.explanations or ():
            assert found.sentence in text
            assert all(figure.source in text for figure in found.evidence)
            if found.proposal is not None:
                assert f"To change: {found.proposal.change}" in text
    assert "(the MRR of clean time minus that of all time)" in text


def test_quick_is_labelled_and_rfc2544_is_not(page: str, run: RunRecord) -> None:
    label = "ot RFC 2544 conformant"
    assert page.count(label) >= 2
    points = tuple(
        replace(p, result=replace(p.result, conformant=True, search="rfc2544"))
        for p in run.points
        if p.result
    )
    assert label not in html_report(replace(run, points=points))


def test_names_are_text_and_never_markup(run: RunRecord) -> None:
    evil = '<script>alert("x")</script>'
    point = replace(run.points[0], label=evil, error=evil)
    page = html_report(replace(run, title=evil, description=evil, points=(point,)))
    assert evil not in page
    assert "&lt;script&gt;alert" in page


def test_an_incomplete_run_says_so(run: RunRecord) -> None:
    failed = replace(
        run.points[5], state=PointState.FAILED, result=None, error="the vSwitch ended", trials=()
    )
    page = html_report(replace(run, finished_at=None, points=(*run.points[:5], failed)))
    assert "incomplete: 5 of 6 points" in page
    assert "the vSwitch ended" in page


def test_one_point_needs_no_charts_by_frame_size(tmp_path: Path) -> None:
    page = html_report(sample_run(tmp_path, "traffic.frame=64", "topology.kind=p2p"))
    assert "Frames forwarded" not in page
    assert len(page) < 100_000


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_text_and_lines_stand_out_from_the_paper(theme: dict[str, str]) -> None:
    for name, colour in theme.items():
        if name not in SURFACES:
            assert _contrast(colour, theme["paper"]) >= 4.5, name


def _contrast(a: str, b: str) -> float:
    """Return WCAG 2.1's contrast ratio."""
    bright, dim = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
