# SPDX-License-Identifier: Apache-2.0
"""Test limits of HTTP clients (tests, bytes, time, rate), their identity, and CORS."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import until

from .certificates import Certificate, make_certificate
from .conftest import PATIENCE_S, Serve, Server
from .h2_client import H2Client

Limited = Serve
MEGABYTE = 1024 * 1024
CURL_FRAMING = 16
BOTH = ("--http", "--https")
# A test that stands still keeps the only place for longer than a busy host takes for the next step.
HELD = "[limits]\ntests = 1\nidle_s = 600\nstep_s = 600\n"


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path, "server")


@pytest.fixture
def limited(serve: Serve, tmp_path: Path, certificate: Certificate) -> Limited:
    """Start a server with these lines in its TOML file."""

    def start(toml: str, protocols: tuple[str, ...] = BOTH) -> Server:
        path = tmp_path / "speedtest.toml"
        path.write_text(toml)
        return serve("--config", str(path), *certificate.options, protocols=protocols)

    return start


def link(
    server: Server, certificate: Certificate, protocol: str, source: str = "127.0.0.1"
) -> http.client.HTTPConnection:
    """Connect from one of this host's loopback addresses, each a client of its own."""
    port, where = server.ports[protocol], (source, 0)
    if protocol == "--http":
        return http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S, source_address=where)
    context = certificate.trusting("http/1.1")
    return http.client.HTTPSConnection(
        "127.0.0.1", port, timeout=PATIENCE_S, context=context, source_address=where
    )


def get(
    connection: http.client.HTTPConnection, path: str, **fields: str
) -> http.client.HTTPResponse:
    connection.request("GET", path, headers=fields)
    return connection.getresponse()


def drain(answer: http.client.HTTPResponse) -> int:
    """Read to the end, whole or not; return the number of bytes."""
    buffer, size = bytearray(MEGABYTE), 0
    try:
        while count := answer.readinto(buffer):
            size += count
    except ConnectionResetError:
        pass
    return size


@pytest.mark.parametrize("protocol", BOTH)
def test_a_full_server_refuses_bulk_but_not_probes(
    limited: Limited, certificate: Certificate, protocol: str
) -> None:
    server = limited(HELD)
    first = link(server, certificate, protocol)
    running = get(first, "/nq/large")
    assert running.read(MEGABYTE)
    # The same client's second connection belongs to its test.
    assert get(link(server, certificate, protocol), "/garbage?ckSize=1").status == 200
    other = link(server, certificate, protocol, "127.0.0.2")
    refused = get(other, "/garbage?ckSize=1")
    assert (refused.status, refused.read()) == (503, b"")
    assert int(refused.headers["Retry-After"]) > 0
    other.request("POST", "/empty", b"x" * 20 * MEGABYTE)
    refused = other.getresponse()
    assert (refused.status, refused.read()) == (503, b"")
    # The refused body was taken off the connection, which serves on.
    assert get(other, "/health").read() == b"ok\n"
    other.request("POST", "/empty", b"probe")
    assert other.getresponse().status == 200


def test_a_client_that_rests_makes_room(limited: Limited, certificate: Certificate) -> None:
    server = limited("[limits]\ntests = 1\n")
    assert len(get(link(server, certificate, "--http"), "/garbage?ckSize=1").read()) == MEGABYTE
    other = link(server, certificate, "--https", "127.0.0.2")
    statuses = []
    while 200 not in statuses:
        answer = get(other, "/garbage?ckSize=1")
        answer.read()
        statuses.append(answer.status)
    assert statuses[0] == 503


def test_http2_is_refused_with_the_same_answer(limited: Limited, certificate: Certificate) -> None:
    server = limited(HELD)
    running = get(link(server, certificate, "--http", "127.0.0.2"), "/nq/large")
    assert running.read(MEGABYTE)
    with H2Client(server.ports["--https"], certificate) as client:
        refused = client.answer(client.ask("GET", "/nq/large"))
        assert (refused.status, int(refused.headers["retry-after"]) > 0) == (503, True)
        assert client.answer(client.ask("GET", "/nq/small")).status == 200


@pytest.mark.parametrize("limit", ["bytes = 20_000_000", "duration_s = 1"])
def test_a_client_beyond_its_share_is_cut_off_and_gets_429(
    limited: Limited, certificate: Certificate, limit: str
) -> None:
    server = limited(f"[limits]\n{limit}\n")
    for protocol, source in zip(BOTH, ("127.0.0.2", "127.0.0.3"), strict=True):
        client = link(server, certificate, protocol, source)
        answer = get(client, "/nq/large")
        assert MEGABYTE < drain(answer) < int(answer.headers["Content-Length"])
        again = get(link(server, certificate, protocol, source), "/garbage")
        assert (again.status, int(again.headers["Retry-After"]) > 0) == (429, True)
    with H2Client(server.ports["--https"], certificate) as other:
        cut = other.answer(other.ask("GET", "/nq/large"))
        assert (cut.status, cut.reset) == (200, 11)
        assert other.answer(other.ask("GET", "/nq/large")).status == 429


def test_an_upload_beyond_the_bytes_is_cut_off(limited: Limited, certificate: Certificate) -> None:
    server = limited("[limits]\nbytes = 5_000_000\n")
    with H2Client(server.ports["--https"], certificate) as client:
        stream = client.ask("POST", "/nq/upload", with_body=True)
        client.upload_some(stream, b"x" * 5 * MEGABYTE)
        assert client.answer(stream).reset == 11


def verdicts(server: Server, certificate: Certificate, protocol: str) -> Any:
    """Return the verdicts of the test `a`, as soon as the server knows that it has ended."""

    def known() -> Any:
        return json.loads(get(link(server, certificate, protocol), "/verdict?id=a").read())

    return until(known, "the verdicts")


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_rate_is_kept_and_named_as_the_limiter(
    limited: Limited, certificate: Certificate, protocol: str, method: str
) -> None:
    # One block of 4 KiB in 82 ms: a server without a CPU for a whole interval of that length still
    # waits for the rate most of the time. What is sent fits into the sockets' buffers, so that a
    # client without a CPU is no limit.
    server = limited("[limits]\nrate_bps = 400_000\n")
    client, sent, began = link(server, certificate, protocol), 200_000, time.monotonic()
    if method == "GET":
        # Cut off by the client: no body of a lower size than 1 MiB can be asked for.
        get(client, "/nq/large?id=a").read(sent)
        client.close()
    else:
        client.request("POST", "/empty?id=a", b"x" * sent)
        client.getresponse().read()
    # 80 ms that it may catch up, and the last block.
    assert time.monotonic() - began > sent * 8 / 400_000 - 0.08 - 0.1
    found = verdicts(server, certificate, protocol)
    verdict = found["download" if method == "GET" else "upload"]["verdict"]
    assert verdict["limited_by"] == "policy", verdict


def test_only_a_trusted_proxy_names_another_client(
    limited: Limited, certificate: Certificate
) -> None:
    server = limited('[proxies]\ntrusted = ["127.0.0.9", "10.0.0.0/8"]\n')
    forged = {"X-Forwarded-For": "192.0.2.1", "Forwarded": "for=192.0.2.2"}
    for protocol in BOTH:
        for source, expected in (("127.0.0.1", "127.0.0.1"), ("127.0.0.9", "192.0.2.1")):
            seen = get(link(server, certificate, protocol, source), "/getIP", **forged).read()
            assert json.loads(seen)["processedString"] == expected
        chain = {"X-Forwarded-For": "192.0.2.1, 198.51.100.7, 10.1.1.1"}
        seen = get(link(server, certificate, protocol, "127.0.0.9"), "/getIP", **chain).read()
        assert json.loads(seen)["processedString"] == "198.51.100.7"
    with H2Client(server.ports["--https"], certificate) as client:
        seen = client.answer(client.ask("GET", "/getIP", ("x-forwarded-for", "192.0.2.1"))).body
        assert json.loads(seen)["processedString"] == "127.0.0.1"


def test_clients_behind_a_proxy_are_clients_of_their_own(
    limited: Limited, certificate: Certificate
) -> None:
    server = limited(
        "[limits]\ntests_per_client = 1\nbytes = 3_000_000\nconnections_per_client = 1\n"
        '[proxies]\ntrusted = ["127.0.0.1"]\nfield = "forwarded"\n'
    )
    for client, status in (("one", 200), ("one", 429), ("two", 200)):
        address = {"one": "192.0.2.1", "two": '"[2001:db8::2]:4711"'}[client]
        answer = get(
            link(server, certificate, "--http"), "/garbage?ckSize=1000", Forwarded=f"for={address}"
        )
        assert answer.status == status
        assert (drain(answer) > 0) == (status == 200)


@pytest.mark.parametrize(
    ("origins", "asking", "allowed"),
    [
        ('["*"]', ("https://a.example", "?cors=true"), "*"),
        ('["*"]', ("https://a.example", ""), None),
        ('["https://a.example"]', ("https://a.example", ""), "https://a.example"),
        ('["https://a.example"]', ("https://b.example", "?cors=true"), None),
        ("[]", ("https://a.example", "?cors=true"), None),
    ],
)
def test_only_configured_origins_may_read_answers(
    limited: Limited,
    certificate: Certificate,
    origins: str,
    asking: tuple[str, str],
    allowed: str | None,
) -> None:
    server = limited(f"[cors]\norigins = {origins}\n")
    origin, query = asking
    answer = get(link(server, certificate, "--http"), f"/getIP{query}", Origin=origin)
    assert answer.headers["Access-Control-Allow-Origin"] == allowed
    with H2Client(server.ports["--https"], certificate) as client:
        same = client.answer(client.ask("GET", f"/getIP{query}", ("origin", origin)))
        assert same.headers.get("access-control-allow-origin") == allowed


def begun(curl: list[str]) -> tuple[subprocess.Popen[bytes], bytes]:
    """Return a curl that waits until its output is read on, and the output's first bytes.

    curl 7.88 seldom ends with a framing error while it connects (its issue 10634), so it may once.
    """
    for may_fail in (True, False):
        running = subprocess.Popen(curl, stdout=subprocess.PIPE)
        assert running.stdout is not None
        first = os.read(running.stdout.fileno(), 4096)
        if first or running.wait() != CURL_FRAMING or not may_fail:
            break
        running.stdout.close()
    assert first
    return running, first


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_a_download_that_runs_is_finished_before_the_server_stops(
    limited: Limited, certificate: Certificate, version: str
) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    server = limited("")
    url = f"https://127.0.0.1:{server.ports['--https']}/garbage?ckSize=20"
    curl = ["curl", "--silent", "--show-error", "--max-time", str(PATIENCE_S), version]
    running, first = begun([*curl, "--cacert", str(certificate.cert), url])
    with running:
        server.process.send_signal(signal.SIGTERM)
        # The rest is more than the pipe and the sockets' buffers have room for.
        assert server.next_event("draining")["tests"] == 1
        rest, _ = running.communicate()
    assert running.returncode == 0
    assert len(first + rest) == 20 * MEGABYTE
    assert server.process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize(
    ("toml", "fault"),
    [
        ('[proxies]\ntrusted = ["10.0.0.0/40"]\n', "10.0.0.0/8"),
        ('[proxies]\nfield = "via"\n', "x-forwarded-for"),
        ('[cors]\norigin = "*"\n', "origins"),
    ],
)
def test_a_wrong_setting_is_named(binary: Path, tmp_path: Path, toml: str, fault: str) -> None:
    path = tmp_path / "speedtest.toml"
    path.write_text(toml)
    command = [str(binary), "serve", "--config", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (ended.returncode, fault in ended.stderr) == (2, True), ended.stderr
