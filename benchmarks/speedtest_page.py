# SPDX-License-Identifier: Apache-2.0
"""Compare the project's page in a browser with a page of XHRs into buffers.

The other page downloads as LibreSpeed's does: five XHRs at a time of 100 MiB each, with
`arraybuffer` as the answer's type. Both run in headless Chromium against the same server over
loopback, in turns; medians and spreads (lowest to highest round) of each page's own count. A ratio
is that of two medians. Prints `name value unit ratio-to-what`; exits 1 below the wanted ratio.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from statistics import median
from typing import Any

from benchmarks.speedtest_iperf3 import OURS, server
from tests.support.ports import reserved_port

ROUNDS = 5
PATIENCE_S = 120
WANTED = 3.0
# Counts as LibreSpeed does: progress of all requests, after a tenth of the time.
XHR_PAGE = """<!doctype html><script>
const MS = 8000, start = performance.now(), from = start + MS / 10;
let bytes = 0, first = null, last = from;
function one() {
  const request = new XMLHttpRequest();
  let seen = 0;
  request.onprogress = (event) => {
    const now = performance.now();
    if (now >= from) {
      if (first === null) first = now; else bytes += event.loaded - seen;
      last = now;
    }
    seen = event.loaded;
    if (now >= start + MS) request.abort();
  };
  request.onload = () => { if (performance.now() < start + MS) one(); };
  request.responseType = "arraybuffer";
  request.open("GET", "%s/garbage?ckSize=100&cors=true&r=" + Math.random());
  request.send();
}
for (let at = 0; at < 5; at += 1) one();
setTimeout(() => fetch("/said", { method: "POST", body: JSON.stringify(
  { download_bps: bytes * 8000 / (last - first) }) }), MS + 500);
</script>
"""


@contextlib.contextmanager
def xhr_pages(origin: str, said: Queue[dict[str, Any]]) -> Iterator[str]:
    """Serve the other page; yield its address."""

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write((XHR_PAGE % origin).encode())

        def do_POST(self) -> None:
            said.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Do nothing: requests are not reported."""

    pages = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=pages.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{pages.server_port}/"
    finally:
        pages.shutdown()
        thread.join()
        pages.server_close()


@contextlib.contextmanager
def browse(url: str) -> Iterator[None]:
    # The browser's own processes may outlive it and still write.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        browser = subprocess.Popen(
            ["chromium", *options, f"--user-data-dir={profile}", url],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield
        finally:
            browser.terminate()
            browser.wait(10)


def next_line(path: Path, number: int) -> dict[str, Any]:
    """Return the numbered line of a file of JSON lines, once it is there."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        lines = path.read_text().splitlines() if path.exists() else []
        if len(lines) > number:
            record: dict[str, Any] = json.loads(lines[number])
            return record
        time.sleep(0.1)
    raise SystemExit(f"the page did not end its test in {PATIENCE_S} s")


def spread(values: list[float]) -> str:
    return f"{median(values):.2f} Gbps ({min(values):.2f} to {max(values):.2f})"


def main() -> int:
    for needed in (OURS, Path(shutil.which("chromium") or "/usr/bin/chromium")):
        if not needed.exists():
            print(f"{needed} is missing; `make setup-dev` brings it")
            return 1
    down: list[float] = []
    up: list[float] = []
    others: list[float] = []
    port = reserved_port()
    said: Queue[dict[str, Any]] = Queue()
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "results.jsonl"
        command = [str(OURS), "serve", "--http", f"127.0.0.1:{port}", "--results", str(kept)]
        origin = f"http://127.0.0.1:{port}"
        with server(command, port), xhr_pages(origin, said) as xhr_page:
            for number in range(ROUNDS):
                with browse(f"{origin}/?start"):
                    result = json.loads(next_line(kept, number)["said"])
                down.append(result["download_bps"] / 1e9)
                up.append(result["upload_bps"] / 1e9)
                with browse(xhr_page):
                    others.append(said.get(timeout=PATIENCE_S)["download_bps"] / 1e9)
    ratio = median(down) / median(others)
    print(f"# headless Chromium, loopback, median and spread of {ROUNDS} rounds; wanted: {WANTED}x")
    print(f"5 XHRs, download: {spread(others)}")
    print(f"page, download: {spread(down)} {ratio:.2f}x 5 XHRs")
    print(f"page, upload: {spread(up)} {median(up) / median(others):.2f}x the download of 5 XHRs")
    return 0 if ratio >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
