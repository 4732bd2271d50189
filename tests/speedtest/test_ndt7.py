# SPDX-License-Identifier: Apache-2.0
"""Test ndt7: subtests, measurements, tokens, limits, results, ws and wss."""

from __future__ import annotations

import base64
import json
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.support.waiting import until
from tests.support.websocket import (
    BINARY,
    CLOSE,
    PROTOCOL,
    TEXT,
    Peer,
    frame,
    masked_binary,
    upgrade,
)

from .certificates import Certificate, make_certificate
from .conftest import PATIENCE_S, Serve, Server
from .test_http import ask

MEGABYTE = 1024 * 1024
NORMAL = b"\x03\xe8"
DOWNLOAD = "/ndt/v7/download?early_exit=250&client_name=tests"
UPLOAD = "/ndt/v7/upload?client_name=tests"


@pytest.fixture
def server(serve: Serve) -> Server:
    return serve(protocols=("--http", "--metrics"))


def connect(server: Server, path: str, headers: dict[str, str] | None = None) -> Peer:
    link = socket.create_connection(("127.0.0.1", server.ports["--http"]), PATIENCE_S)
    link.sendall(upgrade(path, headers))
    return Peer(link)


def connect_tls(server: Server, trusted: Certificate, path: str) -> Peer:
    link = socket.create_connection(("127.0.0.1", server.ports["--https"]), PATIENCE_S)
    context = trusted.trusting("http/1.1")
    tls = context.wrap_socket(link, server_hostname="127.0.0.1")
    tls.sendall(upgrade(path))
    return Peer(tls)


def download(peer: Peer) -> bytes:
    """Read to the end and answer the Close; return what the server sends later."""
    assert peer.status == 101
    code = peer.until(CLOSE)
    peer.send(frame(CLOSE, code[:2]))
    assert code == NORMAL
    return peer.rest()


def upload(peer: Peer, messages: int, size: int = MEGABYTE) -> None:
    assert peer.status == 101
    for _ in range(messages):
        peer.send(masked_binary(size))
    peer.send(frame(CLOSE, NORMAL))
    assert peer.until(CLOSE) == NORMAL


def test_a_download_ends_early_with_measurements_and_the_same_count(server: Server) -> None:
    with connect(server, DOWNLOAD) as peer:
        assert peer.headers["Sec-WebSocket-Protocol"] == PROTOCOL
        assert download(peer) == b""
    result = server.next_event("test finished")
    assert result["directions"][0]["bytes"] == peer.binary_bytes >= 250e6
    assert (result["test"], result["metadata"]["client_name"]) == ("download", "tests")
    direction = result["directions"][0]
    assert direction["server"] == "sends"
    assert direction["verdict"]["limited_by"]
    assert direction["rfc6349"][0]["tcp_efficiency_percent"] <= 100
    last = peer.texts[-1]
    assert (last["Origin"], last["Test"]) == ("server", "download")
    assert 0 < last["AppInfo"]["NumBytes"] <= peer.binary_bytes
    assert last["AppInfo"]["ElapsedTime"] > 0
    assert last["TCPInfo"]["BytesAcked"] > MEGABYTE
    assert last["TCPInfo"]["MinRTT"] > 0
    client = "{}:{}".format(*peer_address(last["ConnectionInfo"]["Client"]))
    assert client == result["client"]
    assert last["ConnectionInfo"]["UUID"] == result["uuid"]


def peer_address(text: str) -> tuple[str, str]:
    host, _, port = text.rpartition(":")
    return host, port


def test_bbr_says_what_it_has_estimated_and_cubic_does_not(server: Server) -> None:
    known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    for name in ("cubic", "bbr"):
        if name not in known:
            continue
        with connect(server, f"{DOWNLOAD}&congestion={name}") as peer:
            download(peer)
        assert server.next_event("test finished")["directions"][0]["congestion"] == name
        assert ("BBRInfo" in peer.texts[-1]) == (name == "bbr")
        if name == "bbr":
            assert peer.texts[-1]["BBRInfo"]["BW"] > 0


@pytest.mark.parametrize("size", [1000, 70_000, 3 * MEGABYTE])
def test_an_upload_is_counted_to_the_last_byte_and_measured(server: Server, size: int) -> None:
    messages = 24 * MEGABYTE // size
    with connect(server, UPLOAD) as peer:
        upload(peer, messages, size)
        assert peer.rest() == b""
    result = server.next_event("test finished")
    direction = result["directions"][0]
    assert direction["bytes"] == messages * size
    assert (direction["server"], result["test"]) == ("receives", "upload")
    assert all(text["Test"] == "upload" for text in peer.texts)
    assert peer.texts[0]["AppInfo"]["NumBytes"] <= messages * size


def test_the_clients_own_measurement_is_part_of_the_result(server: Server) -> None:
    said = {"AppInfo": {"ElapsedTime": 2_000_000, "NumBytes": 12345}, "Origin": "client"}
    with connect(server, UPLOAD) as peer:
        peer.send(masked_binary(MEGABYTE) + frame(TEXT, json.dumps(said).encode()))
        peer.send(frame(TEXT, b"no measurement"))
        upload(peer, 1)
    result = server.next_event("test finished")
    assert result["client_measured"] == {"bytes": 12345, "seconds": 2.0}


def test_results_are_kept_with_the_series_and_the_verdict_is_reported(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "results.jsonl"
    server = serve("--results", str(path), protocols=("--http",))
    with connect(server, UPLOAD + "&id=mine7") as peer:
        upload(peer, 8)
    with connect(server, DOWNLOAD + "&id=mine7") as peer:
        download(peer)
    until(lambda: path.read_text().count("\n") == 2, "both results are kept")
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["test"] for record in kept] == ["upload", "download"]
    samples = kept[1]["series"][0]["tcp_info"]
    assert [sample["bytes"] for sample in samples] == sorted(s["bytes"] for s in samples)
    verdicts = json.loads(ask(server, "GET", "/verdict?id=mine7")[1])
    assert verdicts["upload"]["bytes"] == 8 * MEGABYTE
    assert verdicts["download"]["verdict"]["because"]


def test_both_subtests_over_tls(serve: Serve, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path, "ndt7")
    server = serve(*certificate.options, protocols=("--https",))
    with connect_tls(server, certificate, DOWNLOAD) as peer:
        assert download(peer) == b""
    result = server.next_event("test finished")
    assert result["tls"]
    assert result["directions"][0]["bytes"] == peer.binary_bytes
    for size in (5000, 2 * MEGABYTE):
        with connect_tls(server, certificate, UPLOAD) as peer:
            upload(peer, 16 * MEGABYTE // size, size)
        counted = server.next_event("test finished")["directions"][0]["bytes"]
        assert counted == 16 * MEGABYTE // size * size


@pytest.mark.parametrize(
    ("path", "headers", "words"),
    [
        (UPLOAD, {"Sec-WebSocket-Protocol": "chat"}, "subprotocol"),
        (UPLOAD, {"Sec-WebSocket-Version": "8"}, "version 13"),
        (UPLOAD, {"Sec-WebSocket-Key": "short"}, "key"),
        (UPLOAD, {"Upgrade": "h2c"}, "Upgrade"),
        ("/ndt/v7/download?early_exit=10", {}, "250"),
        ("/ndt/v7/download?a=%zz", {}, "URL-encoded"),
        (UPLOAD + "&congestion=nosuch", {}, "cubic"),
    ],
)
def test_a_wrong_request_gets_its_error(
    server: Server, path: str, headers: dict[str, str], words: str
) -> None:
    with connect(server, path, headers) as peer:
        assert peer.status == 400
        assert words in peer.rest().decode()
    assert words in server.next_event("test refused")["because"]


def url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token(key: Ed25519PrivateKey, claims: dict[str, Any]) -> str:
    head = url64(json.dumps({"alg": "EdDSA", "kid": "k1"}).encode())
    message = f"{head}.{url64(json.dumps(claims).encode())}"
    return f"{message}.{url64(key.sign(message.encode()))}"


def test_access_tokens_are_checked_and_refused_in_words(serve: Serve, tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    jwk = {"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": url64(public)}
    (tmp_path / "key.json").write_text(json.dumps(jwk))
    config = tmp_path / "speedtest.toml"
    config.write_text(
        f"[ndt7]\ntoken_keys = ['{tmp_path / 'key.json'}']\n"
        "token_audience = 'mlab1-here'\ntoken_required = true\n"
    )
    server = serve("--config", str(config), protocols=("--http",))
    good = {"iss": "locate", "aud": ["mlab1-here"], "exp": time.time() + 600}
    other = Ed25519PrivateKey.generate()
    for query, words in [
        ("", "missing"),
        (f"&access_token={token(other, good)}", "not signed by its key"),
        (f"&access_token={token(key, good | {'exp': time.time() - 1})}", "expired"),
        (f"&access_token={token(key, good | {'aud': 'there'})}", "another server"),
    ]:
        with connect(server, UPLOAD + query) as peer:
            assert peer.status == 401
            assert words in peer.rest().decode()
    with connect(server, f"{UPLOAD}&access_token={token(key, good)}") as peer:
        upload(peer, 1)
    result = server.next_event("test finished")
    assert "access_token" not in result["metadata"]


def test_a_full_server_queues_then_refuses(serve: Serve) -> None:
    server = serve("--max-tests", "1", "--queue", "1", protocols=("--http",))
    with connect(server, UPLOAD) as first:
        second = socket.create_connection(("127.0.0.1", server.ports["--http"]), PATIENCE_S)
        second.sendall(upgrade(UPLOAD))
        server.next_event("test queued")
        with connect(server, UPLOAD) as third:
            assert third.status == 503
            assert "full" in third.rest().decode()
        upload(first, 1)
    with Peer(second) as peer:
        upload(peer, 1)


def test_a_rate_limit_holds_and_is_the_verdict(serve: Serve) -> None:
    server = serve("--max-rate", "400000000", protocols=("--http",))
    with connect(server, UPLOAD) as peer:
        upload(peer, 60)
    direction = server.next_event("test finished")["directions"][0]
    assert 0 < direction["bits_per_second"] < 440e6
    if direction["bits_per_second"] > 0.95 * 400e6:
        assert direction["verdict"]["limited_by"] == "policy"


def test_a_server_that_stops_says_goodbye(serve: Serve) -> None:
    server = serve("--drain", "0", protocols=("--http",))
    with connect(server, UPLOAD) as peer:
        peer.send(masked_binary(MEGABYTE))
        peer.until(TEXT)
        server.process.send_signal(signal.SIGTERM)
        assert peer.close_code() == 1001
        assert peer.rest() == b""
    assert server.next_event("test ended early")["because"] == "the server stops"
    assert server.process.wait(PATIENCE_S) == 0


def test_data_in_a_download_is_not_taken(server: Server) -> None:
    with connect(server, DOWNLOAD) as peer:
        peer.send(frame(BINARY, b"unasked"))
        assert peer.close_code() == 1003
    assert "data in a download" in server.next_event("test ended early")["because"]
