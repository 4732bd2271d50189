# SPDX-License-Identifier: Apache-2.0
"""Test HTTP/2 with two independent clients: endpoints, responsiveness, misbehaving peers."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from .certificates import Certificate, make_certificate
from .conftest import PATIENCE_S, Serve, Server
from .h2_client import H2Client

MEGABYTE = 1024 * 1024


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path, "server")


@pytest.fixture
def server(serve: Serve, certificate: Certificate) -> Server:
    return serve(*certificate.options, protocols=("--https",))


@pytest.fixture
def client(server: Server, certificate: Certificate) -> H2Client:
    return H2Client(server.ports["--https"], certificate)


def test_responsiveness_finds_its_urls_in_both_spellings(client: H2Client) -> None:
    answer = client.answer(client.ask("GET", "/.well-known/nq"))
    assert answer.headers["content-type"] == "application/json"
    config = json.loads(answer.body)
    urls = config["urls"]
    assert config["version"] == 1
    assert urls["small_download_url"] == urls["small_https_download_url"]
    assert urls["large_download_url"] == urls["large_https_download_url"]
    assert urls["upload_url"] == urls["https_upload_url"]
    base = f"https://127.0.0.1:{client.port}"
    assert all(url.startswith(base) for url in urls.values())
    small = client.answer(client.ask("GET", urls["small_download_url"].removeprefix(base)))
    assert (small.status, small.body_bytes) == (200, 1)
    upload = client.ask("POST", urls["upload_url"].removeprefix(base), with_body=True)
    client.upload(upload, b"x" * 3 * MEGABYTE)
    assert client.answer(upload).status == 200
    large = client.ask("GET", urls["large_download_url"].removeprefix(base))
    while client.answers[large].body_bytes < 8 * MEGABYTE:
        client.read()
    assert int(client.answers[large].headers["content-length"]) >= 8_000_000_000


def test_probes_are_answered_on_a_connection_that_is_busy_both_ways(client: H2Client) -> None:
    download = client.ask("GET", "/nq/large")
    upload = client.ask("POST", "/nq/upload", with_body=True)
    for _ in range(5):
        client.upload_some(upload, b"y" * MEGABYTE)
        assert client.answer(client.ask("GET", "/nq/small")).body_bytes == 1
    client.upload(upload, b"y")
    assert client.answer(upload).status == 200
    assert client.answers[download].body_bytes > 0
    client.machine.reset_stream(download)
    client.send()
    assert client.answer(client.ask("GET", "/health")).body == b"ok\n"


def test_the_other_endpoints_and_a_verdict(client: H2Client) -> None:
    garbage = client.answer(client.ask("GET", "/backend/garbage.php?ckSize=5&cors=true&id=h2"))
    assert (garbage.status, garbage.body_bytes) == (200, 5 * MEGABYTE)
    assert garbage.headers["access-control-allow-origin"] == "*"
    upload = client.ask("POST", "/empty?id=h2", with_body=True)
    client.upload(upload, b"z" * 40 * MEGABYTE)
    assert client.answer(upload).status == 200
    told = json.loads(client.answer(client.ask("GET", "/verdict?id=h2")).body)
    assert told["download"]["bytes"] == 5 * MEGABYTE
    assert told["upload"]["bytes"] == 40 * MEGABYTE
    telemetry = client.ask("POST", "/results/telemetry", with_body=True)
    client.upload(telemetry, b"dl=1")
    assert client.answer(telemetry).body == b"id 1"
    for request, status in [
        (client.ask("GET", "/nowhere"), 404),
        (client.ask("DELETE", "/"), 501),
        (client.ask("HEAD", "/garbage"), 200),
        (client.ask("OPTIONS", "/empty"), 204),
    ]:
        answer = client.answer(request)
        assert (answer.status, answer.body_bytes > 0) == (status, status == 404)
    long = client.ask("POST", "/results/telemetry", with_body=True)
    client.upload(long, b"x" * 20_000)
    assert client.answer(long).status == 413


def test_curl_downloads_and_uploads(
    server: Server, certificate: Certificate, tmp_path: Path
) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    (tmp_path / "upload").write_bytes(b"u" * 30 * MEGABYTE)
    base = f"https://127.0.0.1:{server.ports['--https']}"
    written = "%{http_version} %{http_code} %{size_download} %{size_upload}"
    common = ["curl", "--silent", "--http2", "--cacert", str(certificate.cert), "-w", written]
    upload = ["-X", "POST", "-T", str(tmp_path / "upload"), f"{base}/nq/upload"]
    for words, expected in (
        (["-o", "/dev/null", f"{base}/garbage?ckSize=30"], f"2 200 {30 * MEGABYTE} 0"),
        (upload, f"2 200 0 {30 * MEGABYTE}"),
    ):
        told = subprocess.run(
            [*common, *words], capture_output=True, text=True, check=True, timeout=PATIENCE_S
        )
        assert told.stdout == expected


def test_heads_that_are_too_long_are_refused_and_the_connection_goes_on(client: H2Client) -> None:
    assert client.answer(client.ask("GET", "/health", ("x-long", "a" * 9000))).status == 431
    assert client.answer(client.ask("GET", "/health")).status == 200


def test_a_client_that_only_pings_or_trickles_is_cut_off(
    serve: Serve, certificate: Certificate, tmp_path: Path
) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\nstep_s = 1\n")
    server = serve("--config", str(config), *certificate.options, protocols=("--https",))
    pinging = H2Client(server.ports["--https"], certificate)
    for _ in pinging.until_closed():
        pinging.machine.ping(b"still up")
        pinging.send()
    stalled = H2Client(server.ports["--https"], certificate)
    upload = stalled.ask("POST", "/nq/upload", with_body=True)
    stalled.machine.send_data(upload, b"not all of it")
    stalled.send()
    for _ in stalled.until_closed():
        pass
    # A head that stays without its end.
    context = certificate.trusting("h2")
    with context.wrap_socket(
        socket.create_connection(("127.0.0.1", server.ports["--https"]), PATIENCE_S),
        server_hostname="127.0.0.1",
    ) as slow:
        slow.sendall(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0" + b"\0\0\x40\1\1\0\0\0\1"
        )
        while slow.recv(4096):
            pass
    with H2Client(server.ports["--https"], certificate) as sound:
        assert sound.answer(sound.ask("GET", "/health")).body == b"ok\n"


def test_a_reader_that_opens_no_window_costs_only_its_own_connection(
    serve: Serve, certificate: Certificate, tmp_path: Path
) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\nstep_s = 1\n")
    server = serve("--config", str(config), *certificate.options, protocols=("--https",))
    greedy = H2Client(server.ports["--https"], certificate)
    streams = [greedy.ask("GET", "/nq/large") for _ in range(20)]
    greedy.machine.acknowledge_received_data = lambda *_: None  # type: ignore[method-assign]
    with H2Client(server.ports["--https"], certificate) as other:
        assert other.answer(other.ask("GET", "/garbage?ckSize=3")).body_bytes == 3 * MEGABYTE
    for _ in greedy.until_closed():
        pass
    assert all(greedy.answers[stream].status == 200 for stream in streams)


def test_stalled_connections_stay_below_the_memory_that_is_stated(
    serve: Serve, certificate: Certificate, tmp_path: Path
) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\nstep_s = 600\nidle_s = 600\npending_s = 600\n")
    server = serve("--config", str(config), *certificate.options, protocols=("--https",))

    def resident_kib() -> int:
        pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
        return int(pages) * 4

    with H2Client(server.ports["--https"], certificate) as first:
        assert first.answer(first.ask("GET", "/garbage?ckSize=5")).ended
    before, count = resident_kib(), 40
    stalled = [H2Client(server.ports["--https"], certificate) for _ in range(count)]
    for client in stalled:
        downloads = [client.ask("GET", "/nq/large") for _ in range(100)]
        upload = client.ask("POST", "/nq/upload", with_body=True)
        client.upload_some(upload, b"x" * 60_000)
        # The last download is begun, so the server has the upload, too.
        while not client.answers[downloads[-1]].status:
            client.read()
    assert resident_kib() - before < count * 512
