# SPDX-License-Identifier: Apache-2.0
"""Test the page in a real browser: values are the store's, served, followed and of a file."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.chromium import Page
from tests.unit.live.conftest import served
from tests.unit.live.sample_recording import (
    BASE,
    CLOCK,
    HOSTILE,
    LOSS_S,
    LOST,
    RESTART_S,
    SECONDS,
    SERIES,
    S,
    last_read,
    make,
)
from tests.unit.live.test_exported import export
from wirespeed.model.result.recording import NO_VALUE, Chunk, Mark, MarkKind
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.store import Store

READY = "document.documentElement?.dataset.state === 'ready'"
# Values of every series at these moments, after whatever loading they take.
VALUES = """(async (moments) => {
  const { source } = page.panes[0];
  const all = [];
  for (const t of moments) {
    if (source.fetched) await source.fetched(t, t);
    all.push(source.about.series.map((_, number) => {
      const found = source.samples.value(source.about, number, t);
      return found ? [String(found.raw), found.read, Number.isNaN(found.shown) ? null : found.shown]
        : null;
    }));
  }
  return all;
})"""


@pytest.fixture(scope="module")
def url(stored: Path) -> Iterator[str]:
    with served(stored, "kpi-1") as server:
        yield server.url


@pytest.fixture(scope="module")
def file(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("file") / "x.html"
    path.write_text(export(stored))
    return path.as_uri()


def opened(page: Page, url: str) -> None:
    page.open(url)
    page.wait(READY, "the page")


def test_page_without_its_script_says_so(page: Page, url: str) -> None:
    with page.without("*/page.js"):
        page.open(url)
    assert "reload it: a part did not arrive" in page.text("#about")


def values(page: Page, moments: list[int]) -> list[list[Any]]:
    found: list[list[Any]] = page.run(f"{VALUES}({json.dumps(moments)})")
    return found


def check_values(page: Page, moments: list[int]) -> None:
    for at, shown in zip(moments, values(page, moments), strict=True):
        for number, found in enumerate(shown):
            wanted = last_read(number, at)
            if wanted is None or wanted[1] == NO_VALUE:
                assert found is None, (at, number)
            else:
                assert (int(found[0]), found[1]) == (wanted[1], wanted[0]), (at, number)


@pytest.mark.parametrize("kind", ["url", "file"])
def test_values_at_200_random_moments_are_the_stores(
    page: Page, request: pytest.FixtureRequest, kind: str
) -> None:
    opened(page, request.getfixturevalue(kind))
    moments = [random.Random(1).randrange(0, SECONDS * S) for _ in range(200)]
    moments += [0, S, 60 * S, 60 * S - 1, RESTART_S * S + 10_000_000, SECONDS * S]
    check_values(page, moments)
    assert page.faults() == []


def test_rates_are_the_same_served_and_out_of_a_file(page: Page, url: str, file: str) -> None:
    moments = [n * S + 12_345_678 for n in range(0, SECONDS, 7)]
    opened(page, url)
    served_values = values(page, moments)
    opened(page, file)
    assert values(page, moments) == served_values
    user = [each[0][2] for each in served_values]
    assert user == pytest.approx([0.75e9] * len(user))


def test_file_asks_for_nothing(page: Page, file: str) -> None:
    opened(page, file)
    page.click("#play")
    page.wait("page.player.t > 1e8", "play")
    page.click("#play")
    asked = [event["request"]["url"] for event in page.events("Network.requestWillBeSent")]
    assert [one for one in asked if one.split("#")[0] != file and not one.startswith("data:")] == []
    assert page.faults() == []


def test_pictures_of_both_sources_are_equal_where_reads_are_reduced(
    page: Page, url: str, file: str
) -> None:
    picture = """(async () => {
      const { source } = page.panes[0];
      const strips = await source.range(55e9, 66e9, 300);
      const line = source.about.lanes.flatMap((lane) => lane.lines);
      return line.map((each) => {
        const { least, most } = columnsOf(each, strips, 55e9, 66e9, 300);
        return [...least, ...most].map((value) => (Number.isNaN(value) ? null : value));
      });
    })()"""
    opened(page, url)
    served_picture = page.run(picture)
    opened(page, file)
    assert page.run(picture) == served_picture
    assert any(value is not None for value in served_picture[0])


@pytest.mark.parametrize("kind", ["url", "file"])
@pytest.mark.parametrize("seconds", [0.5, 20, 130, 86_400])
def test_loss_of_100_ms_is_drawn_at_any_zoom(
    page: Page, request: pytest.FixtureRequest, kind: str, seconds: float
) -> None:
    opened(page, request.getfixturevalue(kind))
    begin = 0 if seconds > 100 else LOSS_S * S - seconds * S / 2
    found = page.run(f"""(async () => {{
      const {{ source }} = page.panes[0];
      const begin = {begin}, end = begin + {seconds * S};
      const strips = await source.range(begin, end, 1000);
      const lane = source.about.lanes.find((each) => each.loss);
      const [line] = linesIn(lane, strips, begin, end, 1000);
      return [...line.most].map((value, x) => [value, x]).filter(([value]) => value > 0);
    }})()""")
    assert found
    at = (LOSS_S * S + S / 100 - begin) / (seconds * S) * 1000
    assert min(abs(x - at) for _, x in found) <= 1


@pytest.mark.parametrize("kind", ["url", "file"])
def test_next_event_goes_to_loss_fault_gate_mark_and_gap(
    page: Page, request: pytest.FixtureRequest, kind: str
) -> None:
    opened(page, request.getfixturevalue(kind))
    wanted = {
        "loss": LOSS_S + 0.01, "fault": 70.0, "gate": 71.0, "mark": 1.0, "gap": RESTART_S - 0.09,
    }  # fmt: skip
    for name, at_s in wanted.items():
        page.run(f"byId('kinds').value = {name!r}; page.player.seek(0)")
        page.run("page.event(true)")
        assert page.run("page.player.t") / S == pytest.approx(at_s, abs=1e-6), name
        page.run("page.player.seek(page.bounds().end)")
        page.run("page.event(false)")
        last = 30.0 if name == "mark" else at_s
        assert page.run("page.player.t") / S == pytest.approx(last, abs=1e-6), name
    page.run("byId('kinds').value = 'loss'; page.player.seek(page.bounds().end)")
    page.run("page.event(true)")
    assert page.text("#said") == "No loss after this time."
    lost = "page.panes[0].lanes.find((each) => each.lane.loss)"
    page.run(f"page.player.seek({int(LOSS_S * S) + 20_000_000})")
    page.wait(f"Number({lost}.values[0].value.textContent) > 0", "the rate of the loss")
    assert float(page.run(f"{lost}.values[0].value.textContent")) == LOST * 10


@pytest.mark.parametrize("begin_s", [70, 0], ids=["later", "from the beginning on"])
def test_loss_of_five_minutes_has_one_beginning(page: Page, tmp_path: Path, begin_s: int) -> None:
    end_s = begin_s + 300
    with Store(str(tmp_path / "s.sqlite")) as store:
        writer = RecordingWriter.start(store, "host", CLOCK, 1.0, sparse=False)
        for number in range(end_s + 90):
            drops = min(max(number - begin_s, 0), 300)
            at = BASE + number * S
            chunk = Chunk("ovs-ports ovs", "1 1", (0,), (at,), (70_000,), ((drops,),))
            writer.add(SERIES[4:5] if number == 0 else [], [chunk], [])
        writer.finish()
    with served(tmp_path / "s.sqlite", "kpi-1") as server:
        opened(page, server.url)
        page.run(f"byId('kinds').value = 'loss'; page.player.seek({(begin_s - 50) * S})")
        for _ in range(2):
            page.run("page.event(true)")
            assert page.run("page.player.t") / S == pytest.approx(begin_s, abs=1e-6)
        assert page.text("#said") == "No loss after this time."
        page.run("page.player.seek(page.bounds().end)")
        page.run("page.event(false)")
        assert page.run("page.player.t") / S == pytest.approx(begin_s, abs=1e-6)


def test_restart_is_a_gap_and_no_rate_is_drawn_over_it(page: Page, url: str) -> None:
    opened(page, url)
    gaps = page.run("page.panes[0].gaps.map(([begin, end]) => [begin, end])")
    assert len(gaps) == 1
    [[begin, end]] = gaps
    assert (begin, end) == (RESTART_S * S - 90_000_000, RESTART_S * S + 10_000_000)


def test_keyboard_plays_steps_and_loops(page: Page, url: str) -> None:
    def key(name: str) -> None:
        page.run(f"document.dispatchEvent(new KeyboardEvent('keydown', {{key: {name!r}}}))")

    opened(page, url)
    page.run("page.player.seek(5e9)")
    key("ArrowRight")
    page.wait("page.player.t === 5.01e9", "the next read")
    key("ArrowLeft")
    page.wait("page.player.t === 5e9", "the read before")
    key("ArrowLeft")
    page.wait("page.player.t === 4.92e9", "the read before that")
    key("a")
    page.run("page.player.seek(page.player.t + 2e8)")
    key("b")
    key("l")
    page.run("page.player.setSpeed(10)")
    key(" ")
    before = page.run("page.player.frames")
    page.wait(f"page.player.frames > {before} + 30", "frames")
    assert 4.9e9 <= page.run("page.player.t") <= 5.2e9
    key(" ")
    assert page.run("page.player.playing") is False
    key("ArrowUp")
    assert page.run("page.player.speed") == 25
    key("0")
    assert page.run("page.player.view.end - page.player.view.begin") > 129e9


def test_link_shows_the_same_view(page: Page, url: str) -> None:
    state = "#t=65.05&speed=0.25&from=60&to=70&a=64&b=66&loop=1"
    opened(page, url + state)
    player = page.run("(({t, speed, view, a, b, looping}) => ({t, speed, view, a, b, looping}))"
                      "(page.player)")  # fmt: skip
    assert player == {
        "t": 65.05e9, "speed": 0.25, "view": {"begin": 60e9, "end": 70e9}, "a": 64e9, "b": 66e9,
        "looping": True,
    }  # fmt: skip
    page.run("page.player.seek(65.06e9)")
    page.wait("location.hash.includes('t=65.06')", "the address")
    opened(page, url + "#t=x&speed=NaN&from=9&to=1&a=%3Cb%3E")
    assert page.run("page.player.speed") == 1


def test_every_control_has_a_name_and_the_table_has_the_values(page: Page, url: str) -> None:
    opened(page, url + "#t=65.05")
    tree = page.command("Accessibility.getFullAXTree")["nodes"]
    names = [
        node["name"]["value"]
        for node in tree
        if not node["ignored"]
        and node["role"]["value"] in ("button", "slider", "combobox", "image", "img", "searchbox")
    ]
    assert {"Play", "Next event", "Time in the recording"} <= set(names)
    assert all(names), names
    page.run("byId('table').open = true")
    page.wait("byId('rows').rows.length === 6", "the table")
    page.run("page.table.show(65.05e9, true)")
    page.wait("byId('rows').rows[0].cells[2].textContent.length > 5", "values")
    rows = page.run("[...byId('rows').rows].map((row) => [...row.cells].map((c) => c.textContent))")
    wanted = last_read(0, 65_050_000_000)
    assert wanted
    assert rows[0][:4] == ["cpu_user_seconds", "cpu=0", str(wanted[1]), "ns"]
    assert HOSTILE in rows[3][1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_sideways(page: Page, url: str, width: int, scheme: str) -> None:
    page.resize(width, 800)
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    page.command("Emulation.setEmulatedMedia", features=media)
    opened(page, url)
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.run("document.documentElement.scrollWidth") <= width
    if folder := os.environ.get("SCREENSHOTS"):
        page.run("page.player.seek(65.02e9)")
        page.wait("!document.body.innerText.includes('\\u2026')", "values")
        page.screenshot(Path(folder) / f"live-{width}-{scheme}.png")
    page.resize(1280, 900)
    page.command("Emulation.setEmulatedMedia", features=[])
    assert page.faults() == []


def test_two_recordings_are_aligned_at_a_mark(page: Page, stored: Path) -> None:
    with Store(str(stored)) as store:
        writer = make(store, until=20)
        later = Mark(BASE + 8 * S, MarkKind.POINT, "p2p, 512 B: begun")
        writer.add([], [], [later])
        other = make(store, until=20)
        other.add([], [], [Mark(BASE + 5 * S, MarkKind.POINT, "p2p, 512 B: begun")])
    with served(stored, writer.id, other.id) as server:
        opened(page, server.url)
        assert page.run("page.panes.length") == 2
        at = page.run("page.pairs.findIndex(([, , text]) => text.includes('512 B'))")
        page.run(f"page.alignAt({at})")
        assert page.run("page.panes[1].offset") == -3 * S
        page.run("page.player.seek(10e9)")
        page.wait("page.sources[1].samples.at(0, 7e9)", "the reads")
        assert page.run("page.panes.map((pane) => !pane.cursor.hidden)") == [True, True]
        assert page.faults() == []


def test_page_of_a_wrong_token_says_so(page: Page, url: str) -> None:
    page.open(re.sub(r"/[a-z]+/$", "/wrong/", url))
    assert page.text("body").startswith("The token is missing or wrong.")
