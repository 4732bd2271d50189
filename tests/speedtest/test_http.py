# SPDX-License-Identifier: Apache-2.0
"""Test LibreSpeed's requests as its clients send them, metrics, and faults."""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path

import pytest

from .conftest import PATIENCE_S, Serve, Server, wait_for_line

MEGABYTE = 1024 * 1024


@pytest.fixture
def server(serve: Serve) -> Server:
    return serve(protocols=("--http", "--metrics"))


def ask(
    server: Server, method: str, path: str, body: bytes | None = None, where: str = "--http"
) -> tuple[http.client.HTTPResponse, bytes]:
    link = http.client.HTTPConnection("127.0.0.1", server.ports[where], timeout=PATIENCE_S)
    link.request(method, path, body)
    answer = link.getresponse()
    return answer, answer.read()


@pytest.mark.parametrize("prefix", ["", "/backend"])
@pytest.mark.parametrize("suffix", ["", ".php"])
def test_librespeeds_endpoints_in_every_spelling(server: Server, prefix: str, suffix: str) -> None:
    answer, body = ask(server, "GET", f"{prefix}/garbage{suffix}?ckSize=2&r=0.1&cors=true")
    assert (answer.status, len(body)) == (200, 2 * MEGABYTE)
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "no-store" in answer.headers["Cache-Control"]
    answer, body = ask(server, "POST", f"{prefix}/empty{suffix}?r=0.1", b"x" * 20 * MEGABYTE)
    assert (answer.status, body) == (200, b"")
    assert answer.headers["Access-Control-Allow-Origin"] is None
    answer, body = ask(server, "GET", f"{prefix}/getIP{suffix}?isp=true&distance=km")
    assert json.loads(body)["processedString"] == "127.0.0.1"


def test_one_connection_carries_many_requests(server: Server) -> None:
    link = http.client.HTTPConnection("127.0.0.1", server.ports["--http"], timeout=PATIENCE_S)
    for _ in range(3):
        link.request("POST", "/empty", b"y" * 9 * MEGABYTE)
        assert link.getresponse().read() == b""
        link.request("GET", "/garbage?ckSize=1")
        assert len(link.getresponse().read()) == MEGABYTE
    link.close()


def test_transfers_with_an_id_get_a_verdict(server: Server) -> None:
    ask(server, "GET", "/garbage?ckSize=64&id=abc123")
    ask(server, "POST", "/empty?id=abc123", b"z" * 32 * MEGABYTE)
    verdicts = json.loads(ask(server, "GET", "/verdict?id=abc123")[1])
    assert verdicts["download"]["bytes"] == 64 * MEGABYTE
    assert verdicts["upload"]["bytes"] == 32 * MEGABYTE
    assert verdicts["upload"]["verdict"]["because"]
    assert json.loads(ask(server, "GET", "/verdict?id=other")[1]) == {}


def test_results_are_kept_as_json_lines(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    server = serve("--results", str(path), protocols=("--http",))
    _, body = ask(server, "POST", "/results/telemetry.php", b"dl=1&ul=2")
    assert body == b"id 1"
    record = json.loads(wait_for_line(path, PATIENCE_S))
    assert (record["said"], record["number"]) == ("dl=1&ul=2", 1)
    answer, _ = ask(server, "POST", "/results/telemetry.php", b"x" * 20_000)
    assert answer.status == 413


def test_a_result_for_which_the_disk_has_no_room_is_reported_by_its_number(serve: Serve) -> None:
    server = serve("--results", "/dev/full", protocols=("--http",))
    assert ask(server, "POST", "/results/telemetry", b"mine")[1] == b"id 1"
    event = server.next_event("a result could not be written")
    assert event["number"] == 1
    assert "No space left" in event["error"]
    assert "mine" not in json.dumps(event)


def test_health_and_metrics(server: Server) -> None:
    assert ask(server, "GET", "/health")[1] == b"ok\n"
    ask(server, "POST", "/empty", b"x" * MEGABYTE)
    page = ask(server, "GET", "/metrics", where="--metrics")[1].decode()
    values = dict(line.split() for line in page.splitlines() if not line.startswith("#"))
    assert int(values["wirespeed_speedtest_received_bytes_total"]) == MEGABYTE
    assert int(values["wirespeed_speedtest_connections"]) >= 1
    # Of each event loop; a socket that is the only ready one does not wait for its turn.
    for figure, least in (("turns_total", 1), ("longest_turn_seconds", 1e-9)):
        name = f"wirespeed_speedtest_{figure}{{loop="
        assert max(float(value) for key, value in values.items() if key.startswith(name)) >= least
    assert float(values['wirespeed_speedtest_longest_turn_delay_seconds{loop="0"}']) >= 0
    assert ask(server, "GET", "/metrics")[0].status == 404
    assert ask(server, "GET", "/garbage", where="--metrics")[0].status == 404


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 9000, b"431"),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", b"400"),
        (b"POST /empty HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"411"),
        (b"DELETE / HTTP/1.1\r\n\r\n", b"501"),
        (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", b"404"),
    ],
)
def test_bad_requests_get_their_status(server: Server, sent: bytes, status: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.ports["--http"]), PATIENCE_S) as peer:
        peer.sendall(sent)
        assert peer.recv(4096).split()[1] == status
    assert ask(server, "GET", "/health")[0].status == 200


def test_a_trickling_head_and_a_stalled_body_are_cut_off(serve: Serve, tmp_path: Path) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\nstep_s = 1\n")
    server = serve("--config", str(config), protocols=("--http",))
    address = ("127.0.0.1", server.ports["--http"])
    with socket.create_connection(address, PATIENCE_S) as head:
        head.sendall(b"GET / HT")
        with socket.create_connection(address, PATIENCE_S) as body:
            body.sendall(b"POST /empty HTTP/1.1\r\nContent-Length: 99999999\r\n\r\nabc")
            assert head.recv(100) == b""
            assert body.recv(100) == b""
    assert ask(server, "GET", "/health")[0].status == 200
