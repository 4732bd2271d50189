# SPDX-License-Identifier: Apache-2.0
"""Test the server's page in a real browser: one Chromium for all tests of this file."""

from __future__ import annotations

import http.client
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.chromium import Page, chromium
from tests.support.speedtest_program import REPOSITORY

from .conftest import PATIENCE_S, Serve, Server, wait_for_line
from .test_http_limits import HELD

MEGABYTE = 1024 * 1024
DONE = "!document.getElementById('result').hidden"
FAILED = "!document.getElementById('failure').hidden"
# The parts of a result that history and comparison show.
PAST: dict[str, Any] = {
    "version": 2, "time": "2026-01-02T03:04:05.000Z", "download_bps": 100e6, "upload_bps": 40e6,
    "latency": {"idle": {"p50_ms": 10.0, "rpm": 6000}, "download": {"p50_ms": 40.0, "rpm": 1500}},
    "rates": {"download": [90e6, 110e6], "upload": [40e6]}, "step_ms": 200, "test_ms": 8000,
}  # fmt: skip
LATER = PAST | {"time": "2026-02-02T03:04:05.000Z", "download_bps": 125e6, "upload_bps": 30e6}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def address(server: Server) -> str:
    return f"http://127.0.0.1:{server.ports['--http']}/"


@pytest.fixture
def limited(serve: Serve, tmp_path: Path) -> Callable[[str], str]:
    """Start a server with these lines in its TOML file; return the address of its page."""

    def start(toml: str) -> str:
        path = tmp_path / "speedtest.toml"
        path.write_text(toml)
        return address(serve("--config", str(path), protocols=("--http",)))

    return start


@contextmanager
def another_clients_test(url: str) -> Iterator[None]:
    """Download from another address while the block runs."""
    port = int(url.rstrip("/").rsplit(":", 1)[1])
    link = http.client.HTTPConnection(
        "127.0.0.1", port, PATIENCE_S, source_address=("127.0.0.2", 0)
    )
    link.request("GET", "/garbage?ckSize=1024")
    answer = link.getresponse()
    assert len(answer.read(MEGABYTE)) == MEGABYTE
    yield
    link.close()


def with_history(page: Page, url: str, *results: dict[str, Any]) -> None:
    """Open the page in a browser that keeps these results."""
    page.open(url)
    kept = json.dumps(json.dumps(results))
    page.run(f"localStorage.setItem('wirespeed.results', {kept})")
    page.open(url)


def test_a_test_is_measured_shown_kept_and_reported(
    serve: Serve, page: Page, tmp_path: Path
) -> None:
    path = tmp_path / "results.jsonl"
    config = tmp_path / "speedtest.toml"
    config.write_text('[server]\nname = "Berlin <1>"\n')
    options = ("--config", str(config), "--results", str(path))
    url = address(serve(*options, protocols=("--http",)))
    page.open(f"{url}?start&seconds=3")
    page.wait(DONE, "a result")
    record = json.loads(wait_for_line(path, PATIENCE_S))
    result: dict[str, Any] = json.loads(record["said"])
    assert result["server"]["name"] == "Berlin <1>"
    for direction in ("download", "upload"):
        assert result[f"{direction}_bps"] > 0
        assert len(result["rates"][direction]) == 3000 // result["step_ms"]
        assert result["latency"][direction]["samples"] > 0
        assert result["verdict"][direction]["bytes"] > MEGABYTE
        assert result["verdict"][direction]["verdict"]["limited_by"]
    idle = result["latency"]["idle"]
    assert 0 < idle["p50_ms"] <= idle["p95_ms"]
    assert (idle["protocol"], idle["timed_by"]) == ("http/1.1", "resource timing")
    assert "127.0.0.1" not in record["said"]

    kept = json.loads(page.run("localStorage.getItem('wirespeed.results')"))
    assert [one["download_bps"] for one in kept] == [result["download_bps"]]
    assert page.text("#status").startswith("Done: ")
    about = page.text("#about")
    assert "Berlin <1>" in about
    assert "IPv4, HTTP/1.1" in about
    assert page.text("#limits").count("Evidence") == 2
    assert page.text("#latency").count("\n") == 2
    points = page.run(
        "document.querySelector('#chart .download').getAttribute('points').split(' ')"
    )
    assert len(points) == 15
    assert page.faults() == []
    asked = [event["request"]["url"] for event in page.events("Network.requestWillBeSent")]
    assert len(asked) > 20
    assert [one for one in asked if not one.startswith((url, "data:"))] == []


def test_every_control_has_a_name_and_changes_are_reported(serve: Serve, page: Page) -> None:
    with_history(page, address(serve(protocols=("--http",))), PAST)
    tree = page.command("Accessibility.getFullAXTree")["nodes"]
    controls = [
        node["name"]["value"]
        for node in tree
        if not node["ignored"] and node["role"]["value"] in ("button", "checkbox", "image", "img")
    ]
    assert {"Start the test", "Rate over time: no test yet"} <= set(controls)
    assert all(controls), controls
    assert page.run("document.getElementById('status').getAttribute('role')") == "status"
    assert page.run("document.getElementById('failure').getAttribute('role')") == "alert"
    focused = []
    for _ in range(3):
        for kind in ("keyDown", "keyUp"):
            page.command("Input.dispatchKeyEvent", type=kind, key="Tab", windowsVirtualKeyCode=9)
        focused.append(page.run("document.activeElement.id || document.activeElement.type"))
    assert focused == ["theme", "start", "checkbox"]


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_never_scrolls_sideways(serve: Serve, page: Page, width: int) -> None:
    page.resize(width, 800)
    url = address(serve(protocols=("--http",)))
    with_history(page, url, PAST, LATER)
    page.click("#past button")
    page.run("document.querySelectorAll('#past input').forEach((box) => box.click())")
    page.click("#compare")
    assert page.run("document.documentElement.scrollWidth") <= width
    wide = "[...document.querySelectorAll('.cards > div, td, th, dd, button')]"
    cut = ".filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText)"
    assert page.run(f"{wide}{cut}") == []


def test_two_results_of_the_history_are_compared_and_cleared(serve: Serve, page: Page) -> None:
    url = address(serve(protocols=("--http",)))
    with_history(page, url, LATER, PAST, PAST | {"time": "2025-01-01T00:00:00Z"})
    boxes = "document.querySelectorAll('#past input')"
    compare = "document.getElementById('compare').disabled"
    page.run(f"{boxes}[0].click()")
    assert page.run(compare)
    page.run(f"{boxes}[2].click(), {boxes}[1].click()")
    assert page.run(f"[...{boxes}].map((box) => box.checked)") == [False, True, True]
    page.run(f"{boxes}[2].click(), {boxes}[0].click()")
    page.click("#compare")
    rows = page.run(
        "[...document.querySelectorAll('#comparison tr')].map((row) =>"
        " [...row.cells].map((cell) => cell.textContent))"
    )
    assert "2026-01-02" in rows[0][1]
    assert "2026-02-02" in rows[0][2]
    assert rows[1] == ["Download", "100 Mbit/s", "125 Mbit/s", "+25.0 %"]
    assert rows[2] == ["Upload", "40.0 Mbit/s", "30.0 Mbit/s", "\u221225.0 %"]
    page.click("#clear")
    assert page.run("localStorage.getItem('wirespeed.results')") is None
    assert page.run("document.getElementById('history').hidden")
    assert page.run("document.getElementById('comparison').hidden")


def test_the_history_is_bounded_and_survives_what_is_no_result(serve: Serve, page: Page) -> None:
    url = address(serve(protocols=("--http",)))
    with_history(page, url, *[PAST] * 80, {"time": "x"}, LATER | {"download_bps": "<b>"})
    kept = "import('./history.js').then(({ keep, kept }) => [keep(%s), kept().length])"
    assert page.run(kept % json.dumps(LATER)) == [True, 50]
    page.run("localStorage.setItem('wirespeed.results', '{')")
    page.open(url)
    assert page.run("document.getElementById('history').hidden")
    assert page.faults() == []


def test_a_full_server_says_when_and_is_asked_again_on_request(
    limited: Callable[[str], str], page: Page
) -> None:
    url = limited(HELD)
    with another_clients_test(url):
        page.open(f"{url}?start&seconds=20")
        page.wait(FAILED, "a refusal")
    assert page.text("#failed-what") == "The server is full."
    assert "after 6 s" in page.text("#failed-next")
    assert page.text("#retry").startswith("Try again in ")
    begun = "document.querySelector('#chart .download')?.getAttribute('points')"
    while not page.run(f"Boolean({begun})"):
        # Asked too early after the other client's end, the server is still full.
        page.click("#retry")
        assert page.run("document.getElementById('retry').disabled")
        page.wait(f"{begun} || ({FAILED} && !document.getElementById('retry').disabled)", "a test")
    assert page.run("document.getElementById('failure').hidden")
    page.click("#cancel")
    page.wait("!document.getElementById('start').hidden", "the end of the test")
    assert page.text("#status").startswith("The test was cancelled.")
    assert page.text("#start") == "Run again"
    assert page.run("localStorage.getItem('wirespeed.results')") is None


def test_a_limit_that_cuts_the_test_is_named(limited: Callable[[str], str], page: Page) -> None:
    page.open(limited("[limits]\nbytes = 10_000_000\n") + "?start")
    page.wait(FAILED, "a cut transfer")
    assert page.text("#failed-what") == "A limit of the server ended the test."


def test_a_server_that_is_gone_is_reported_with_what_was_measured(serve: Serve, page: Page) -> None:
    server = serve(protocols=("--http",))
    page.open(f"{address(server)}?start")
    page.wait("document.querySelector('#chart .download')?.getAttribute('points')", "a download")
    server.process.kill()
    page.wait(FAILED, "a lost connection")
    assert page.text("#failed-what") == "The server cannot be reached."
    assert page.text("#idle").endswith(" ms")
    assert page.run("document.getElementById('result').hidden")


def test_a_link_shows_a_result_and_runs_nothing_of_it(serve: Serve, page: Page) -> None:
    url = address(serve(protocols=("--http",)))
    evil = PAST | {"server": {"name": "<img src=x onerror=alert(1)>"}}
    page.open(f"{url}#{quote(json.dumps(evil), safe='')}")
    page.wait(DONE, "the result of the link")
    assert "<img src=x" in page.text("#about")
    assert page.text("#download") == "100 Mbit/s"
    page.open(f"{url}#%7B%22time%22%3A1%7D")
    page.wait(
        "document.getElementById('status').innerText === 'The link holds no result.'", "words"
    )


def test_a_page_without_one_of_its_parts_says_so_and_starts_nothing(
    serve: Serve, page: Page
) -> None:
    with page.without("*/advice.js"):
        page.open(address(serve(protocols=("--http",))))
    assert "reload it: a part did not arrive" in page.text("#status")
    assert page.run("document.getElementById('start').disabled")


def test_bytes_count_when_they_moved_and_not_when_they_were_reported(
    serve: Serve, page: Page
) -> None:
    page.open(address(serve(protocols=("--http",))))
    told = """import('./timeline.js').then(({ Timeline }) => {
      const timeline = new Timeline(2, 1000, 100);
      timeline.add(0, 0, 1000, 1000);     // 8 kbit/s, told once at the end
      timeline.add(1, 100, 300, 100);     // 4 kbit/s, then nothing more is told
      return [timeline.rates(), timeline.rates(500), timeline.mean()];
    })"""
    rates, so_far, mean = page.run(told)
    assert rates == [10_000, 10_000, 8_000, 8_000, 8_000]
    assert so_far == [10_000, 10_000]
    assert mean == pytest.approx(12_000)


def test_percentiles_are_samples_and_rpm_leaves_out_the_slowest_twentieth(
    serve: Serve, page: Page
) -> None:
    page.open(address(serve(protocols=("--http",))))
    times = "[...Array(19).fill(10), 1000]"
    told = page.run(f"import('./latency.js').then(({{ summary }}) => summary({times}, 3))")
    assert (told["p50_ms"], told["p95_ms"], told["rpm"]) == (10, 10, 6000)
    assert (told["samples"], told["lost"]) == (20, 3)
    empty = page.run("import('./latency.js').then(({ summary }) => summary([]))")
    assert (empty["p50_ms"], empty["rpm"], empty["samples"]) == (None, None, 0)


def test_every_verdict_has_one_advice(serve: Serve, page: Page) -> None:
    source = (REPOSITORY / "speedtest/proto/src/verdict.rs").read_text()
    found = re.search(r"pub enum Limiter \{(.*?)\n\}", source, re.DOTALL)
    assert found
    names = [
        re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        for name in re.findall(r"^    ([A-Z]\w+),", found[1], re.MULTILINE)
    ]
    assert "server_cpu" in names
    page.open(address(serve(protocols=("--http",))))
    for name in [*names, "shared"]:
        verdict = json.dumps({"verdict": {"limited_by": name}})
        for direction in ("download", "upload"):
            advice = f"import('./advice.js').then((it) => it.limitOf('{direction}', {verdict}))"
            told = page.run(advice)
            assert told["who"] != name
            assert told["advice"].endswith(".")


def test_other_load_of_the_server_is_shown_if_reported(serve: Serve, page: Page) -> None:
    url = address(serve(protocols=("--http",)))
    load = {"tests": 3, "bytes": 10, "bytes_share": 0.75, "loop_share": 0.421}
    judged = {"verdict": {"limited_by": "shared", "because": ["it was"]}}
    verdict = {
        "download": judged | {"other_load": load},
        "upload": judged | {"other_load": {"tests": 0, "bytes": 0}},
    }
    with_history(page, url, PAST | {"verdict": verdict})
    page.click("#past button")
    download, upload = page.text("#limits").split("Upload:")
    assert "other tests at the same time" in download
    assert "3 other tests: 75 % of its test data, 42 % of the time" in download
    assert "No other test used the server" in upload


def test_the_page_allows_nothing_from_elsewhere(serve: Serve) -> None:
    port = serve(protocols=("--http",)).ports["--http"]
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    link.request("GET", "/")
    policy = link.getresponse().headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
