# SPDX-License-Identifier: Apache-2.0
"""Test our client against a server that notices the end of a test late or in parts."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_serving import serving_thread

from .test_client import client

Result = dict[str, Any]
VERDICT = {"limited_by": "nothing", "because": "test"}


def counted(**transfers: int) -> Result:
    """Return the server's result after N transfers in each direction."""
    return {
        direction: {"bytes": 100, "transfers": number, "verdict": VERDICT}
        for direction, number in transfers.items()
    }


class LateServer(ThreadingHTTPServer):
    """LibreSpeed's endpoints, and the next of these results each time a verdict is requested."""

    def __init__(self, results: list[Result]):
        super().__init__(("127.0.0.1", 0), LateHandler)
        self.results = results

    def body(self, path: str) -> bytes:
        if path.startswith("/verdict"):
            return json.dumps(self.results.pop(0)).encode()
        return b"x" * 100 if path.startswith("/garbage") else b""


class LateHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LateServer

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = self.server.body(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("options", "incomplete", "complete"),
    [
        # At an interval of 50 ms these take longer than a second.
        (["--reverse"], [{}] * 25, {"download": 1}),
        (["--bidirectional"], [counted(upload=1)], {"upload": 1, "download": 1}),
        (["--parallel", "2"], [counted(upload=1)], {"upload": 2}),
        (["--parallel", "2", "--bytes", "1"], [{}], {"upload": 1}),
    ],
    ids=["late", "one of two directions", "one of two streams", "one stream without a share"],
)
def test_client_incomplete_verdict_is_requested_again(
    binary: Path, options: list[str], incomplete: list[Result], complete: dict[str, int]
) -> None:
    results = [*incomplete, counted(**complete), {}]
    amount = [] if "--bytes" in options else ["--bytes", "100"]
    with serving_thread(LateServer(results)) as port:
        report = client(binary, port, "--protocol", "librespeed", *amount, *options)
    directions = report["results"][0]["server"]["directions"]
    assert [one["transfers"] for one in directions] == list(complete.values())
    assert results == [{}]
