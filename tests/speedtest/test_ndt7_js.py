# SPDX-License-Identifier: Apache-2.0
"""Test M-Lab's JavaScript client, from npm, in a real browser, against our server."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from tests.support.http_serving import serving_thread

from .conftest import Serve, browse
from .ndt7_js_package import installed

# Both subtests at a time: together they take the ten seconds that each of them takes.
PAGE = """<!doctype html><script src="ndt7.js"></script><script>
const config = {{
  server: "127.0.0.1:{port}", protocol: "ws", userAcceptedDataPolicy: true,
  downloadworkerfile: "ndt7-download-worker.js", uploadworkerfile: "ndt7-upload-worker.js",
  metadata: {{ client_name: "tests" }},
}};
const said = {{ errors: [] }};
const on = {{
  error: (error) => said.errors.push(String(error)),
  downloadComplete: (data) => {{ said.download = data; }},
  uploadComplete: (data) => {{ said.upload = data; }},
}};
const urls = ndt7.discoverServerURLs(config, on);
Promise.all([ndt7.downloadTest(config, on, urls), ndt7.uploadTest(config, on, urls)])
  .then((codes) => {{ said.codes = codes; }}, (error) => {{ said.errors.push(String(error)); }})
  .finally(() => fetch("/said", {{ method: "POST", body: JSON.stringify(said) }}));
</script>
"""


@pytest.fixture
def package() -> Path:
    """Return the package's sources."""
    if shutil.which("npm") is None or shutil.which("chromium") is None:
        pytest.skip("npm or chromium is not installed")
    return installed() / "src"


@pytest.fixture
def pages(package: Path, tmp_path: Path) -> Iterator[tuple[Path, int, Queue[dict[str, Any]]]]:
    """Serve a folder with the package; provide the folder, the port and the page's messages."""
    folder = tmp_path / "pages"
    shutil.copytree(package, folder)
    said: Queue[dict[str, Any]] = Queue()

    class Pages(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(folder))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()
            said.put(json.loads(body))

        def log_message(self, *_: Any) -> None:
            """Log nothing: requests are expected here."""

    with serving_thread(ThreadingHTTPServer(("127.0.0.1", 0), Pages)) as port:
        yield folder, port, said


def test_m_labs_client_downloads_and_uploads(
    serve: Serve, pages: tuple[Path, int, Queue[dict[str, Any]]], tmp_path: Path
) -> None:
    folder, port, said = pages
    server = serve(protocols=("--http",))
    (folder / "index.html").write_text(PAGE.format(port=server.ports["--http"]))
    with browse(f"http://127.0.0.1:{port}/", tmp_path / "profile"):
        result = said.get(timeout=90)
    assert result["errors"] == []
    assert result["codes"] == [0, 0]
    for name in ("download", "upload"):
        measured = result[name]
        assert measured["LastClientMeasurement"]["NumBytes"] > 1e6
        server_said = measured["LastServerMeasurement"]
        assert (server_said["Test"], server_said["Origin"]) == (name, "server")
        assert server_said["AppInfo"]["NumBytes"] > 1e6
        assert server_said["TCPInfo"]["RTT"] > 0
    event = server.next_event("test finished")
    assert event["metadata"]["client_library_name"] == "ndt7-js"
