# SPDX-License-Identifier: Apache-2.0
"""Test what one client may move and keep: its rate, its bytes, its results and its verdicts."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .certificates import Certificate, make_certificate
from .conftest import PATIENCE_S, Serve
from .h2_client import H2Client
from .test_admission import SMALL
from .test_http_limits import HELD, get
from .test_iperf3 import iperf3

RATE_BPS = 100_000_000


def within_the_rate(sent: Iterator[int], began: float) -> None:
    """Check that the bytes moved exceed the rate for that time by at most 1%."""
    moved = sum(sent)
    allowed = RATE_BPS / 8 * (time.monotonic() - began)
    # And what a loop may make up for, and the body on its way.
    assert 0 < moved <= allowed * 1.01 + RATE_BPS / 8 * 0.08 + SMALL, moved / allowed


@pytest.mark.parametrize("connections", [1, 16])
def test_small_uploads_keep_the_rate_on_any_number_of_connections(
    limited: Serve, connections: int
) -> None:
    server = limited("", "--max-rate", str(RATE_BPS), protocols=("--http",))
    body, began = b"x" * SMALL, time.monotonic()

    def upload(_: int) -> int:
        link = http.client.HTTPConnection("127.0.0.1", server.ports["--http"], PATIENCE_S)
        moved = 0
        while moved < 40_000_000 / connections:
            link.request("POST", "/empty", body)
            answer = link.getresponse()
            answer.read()
            assert answer.status == 200
            moved += len(body)
        link.close()
        return moved

    with ThreadPoolExecutor(connections) as pool:
        within_the_rate(pool.map(upload, range(connections)), began)


def test_small_uploads_keep_the_rate_over_http2(limited: Serve, tmp_path: Path) -> None:
    certificate: Certificate = make_certificate(tmp_path, "server")
    server = limited("", "--max-rate", str(RATE_BPS), *certificate.options, protocols=("--https",))
    body, began, moved = b"x" * SMALL, time.monotonic(), []
    with H2Client(server.ports["--https"], certificate) as client:
        while sum(moved) < 20_000_000:
            length = ("content-length", str(SMALL))
            streams = [client.ask("POST", "/empty", length, with_body=True) for _ in range(8)]
            for stream in streams:
                client.upload(stream, body)
            for stream in streams:
                assert client.answer(stream).status == 200
                moved.append(SMALL)
    within_the_rate(iter(moved), began)


def test_small_uploads_beyond_their_allowance_need_a_slot(
    limited: Serve,
) -> None:
    server = limited(HELD, protocols=("--http",))
    port = server.ports["--http"]
    first = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)
    running = get(first, "/nq/large")
    assert running.read(SMALL)
    other = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S, ("127.0.0.2", 0))
    statuses = []
    while 503 not in statuses:
        assert statuses.count(200) * SMALL <= 16 << 20
        other.request("POST", "/empty", b"x" * SMALL)
        answer = other.getresponse()
        answer.read()
        statuses.append(answer.status)
    assert statuses.count(200) * SMALL == 16 << 20
    # A latency probe has no body.
    assert get(other, "/empty").status == 200


def test_bytes_of_a_client_do_not_come_back_after_a_pause(limited: Serve) -> None:
    server = limited("[limits]\nclient_bytes = 3_000_000\n", protocols=("--http", "--iperf3"))
    port = server.ports["--http"]
    link = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)
    for _ in range(3):
        link.request("POST", "/empty", b"x" * 1_000_000)
        link.getresponse().read()
    refused = get(link, "/garbage?ckSize=1")
    assert refused.status == 429
    assert int(refused.headers["Retry-After"]) > 3000, "the rest of an hour"
    assert iperf3(server, "-n", "1M")["error"]
    assert "limits.client_bytes" in server.next_event("test failed")["because"]
    other = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S, ("127.0.0.2", 0))
    assert get(other, "/garbage?ckSize=1").status == 200


def test_an_iperf3_test_ends_when_its_clients_bytes_are_used_up(
    limited: Serve,
) -> None:
    server = limited("[limits]\nclient_bytes = 20_000_000\n")
    report = iperf3(server, "-t", "20", "-b", "200M")
    assert "total required bandwidth is larger than server limit" in report["error"]


def test_results_of_one_client_are_bounded_and_do_not_keep_others_out(
    limited: Serve,
) -> None:
    server = limited("[limits]\nresults_per_client = 3\n", protocols=("--http",))
    port = server.ports["--http"]

    def report(link: http.client.HTTPConnection) -> int:
        link.request("POST", "/results/telemetry", b"dl=1")
        answer = link.getresponse()
        answer.read()
        return answer.status

    greedy = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S, ("127.0.0.2", 0))
    assert [report(greedy) for _ in range(5)] == [200, 200, 200, 429, 429]
    assert report(http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)) == 200


def test_fresh_ids_of_one_client_displace_nobody_elses_verdict(
    limited: Serve,
) -> None:
    server = limited("", protocols=("--http",))
    port = server.ports["--http"]
    victim = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)
    assert get(victim, "/garbage?ckSize=1&id=mine").read()
    greedy = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S, ("127.0.0.2", 0))
    for number in range(4200):
        greedy.request("POST", f"/empty?id=x{number}", b"x")
        greedy.getresponse().read()
    victim.close()  # idle meanwhile: the server may have ended it
    assert json.loads(get(victim, "/verdict?id=mine").read())["download"]["bytes"] == 1 << 20
    assert json.loads(get(greedy, "/verdict?id=x0").read()) == {}
    assert json.loads(get(greedy, "/verdict?id=x4199").read())["upload"]["bytes"] == 1
