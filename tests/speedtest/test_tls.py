# SPDX-License-Identifier: Apache-2.0
"""Test TLS: every endpoint, certificates that change under load, peers that stall."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest

from .certificates import Certificate, make_certificate
from .conftest import PATIENCE_S, Serve, Server

MEGABYTE = 1024 * 1024


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path, "first")


@pytest.fixture
def server(serve: Serve, certificate: Certificate) -> Server:
    return serve(*certificate.options, protocols=("--https", "--metrics"))


def ask(
    server: Server, trusted: Certificate, method: str, path: str, body: bytes | None = None
) -> tuple[int, bytes]:
    link = http.client.HTTPSConnection(
        "127.0.0.1",
        server.ports["--https"],
        timeout=PATIENCE_S,
        context=trusted.trusting("http/1.1"),
    )
    link.request(method, path, body)
    answer = link.getresponse()
    return answer.status, answer.read()


def open_tls(server: Server, trusted: Certificate, *alpn: str) -> ssl.SSLSocket:
    link = socket.create_connection(("127.0.0.1", server.ports["--https"]), PATIENCE_S)
    return trusted.trusting(*alpn).wrap_socket(link, server_hostname="127.0.0.1")


def served_name(server: Server) -> str:
    """Return the subject of the certificate that a new connection gets."""
    pem = ssl.get_server_certificate(("127.0.0.1", server.ports["--https"]), timeout=PATIENCE_S)
    shown = subprocess.run(
        ["openssl", "x509", "-noout", "-subject"],
        input=pem,
        text=True,
        capture_output=True,
        check=True,
    )
    return shown.stdout.split("=")[-1].strip()


def test_every_endpoint_is_served_over_tls(server: Server, certificate: Certificate) -> None:
    assert ask(server, certificate, "GET", "/health") == (200, b"ok\n")
    status, body = ask(server, certificate, "GET", "/backend/garbage.php?ckSize=8")
    assert (status, len(body)) == (200, 8 * MEGABYTE)
    upload = b"x" * 20 * MEGABYTE
    assert ask(server, certificate, "POST", "/empty?id=abc", upload) == (200, b"")
    told = json.loads(ask(server, certificate, "GET", "/verdict?id=abc")[1])
    assert told["upload"]["bytes"] == 20 * MEGABYTE
    assert b"127.0.0.1" in ask(server, certificate, "GET", "/getIP")[1]
    assert b"<html" in ask(server, certificate, "GET", "/")[1]


def test_requests_that_arrive_together_are_all_answered(
    server: Server, certificate: Certificate
) -> None:
    with open_tls(server, certificate) as link:
        post = b"POST /empty HTTP/1.1\r\nContent-Length: 70000\r\n\r\n" + b"y" * 70_000
        link.sendall((post + b"GET /health HTTP/1.1\r\n\r\n") * 20)
        link.sendall(b"GET /getIP HTTP/1.1\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: link.recv(MEGABYTE), b""))
    assert answer.count(b"HTTP/1.1 200 OK") == 41
    assert answer.count(b"\r\n\r\nok\n") == 20


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_versions_of_tls(
    server: Server, certificate: Certificate, version: ssl.TLSVersion
) -> None:
    context = certificate.trusting("http/1.1")
    context.minimum_version = context.maximum_version = version
    link = http.client.HTTPSConnection(
        "127.0.0.1", server.ports["--https"], timeout=PATIENCE_S, context=context
    )
    link.request("GET", "/garbage?ckSize=3")
    assert len(link.getresponse().read()) == 3 * MEGABYTE


def test_a_new_certificate_is_used_at_once_and_running_downloads_go_on(
    server: Server, certificate: Certificate, tmp_path: Path
) -> None:
    reading = threading.Event()
    sizes = []

    def download() -> None:
        link = http.client.HTTPSConnection(
            "127.0.0.1",
            server.ports["--https"],
            timeout=PATIENCE_S,
            context=certificate.trusting("http/1.1"),
        )
        link.request("GET", "/garbage?ckSize=200")
        answer = link.getresponse()
        size = len(answer.read(MEGABYTE))
        reading.set()
        sizes.append(size + len(answer.read()))

    loader = threading.Thread(target=download)
    loader.start()
    assert reading.wait(PATIENCE_S)
    assert served_name(server) == "first"
    second = make_certificate(tmp_path, "second")
    os.replace(second.key, certificate.key)
    # The key of one and the certificate of the other are no pair: the old pair stays.
    assert "first" in server.next_event("certificate not reloaded, the old one stays")["error"]
    assert served_name(server) == "first"
    os.replace(second.cert, certificate.cert)
    server.next_event("certificate reloaded")
    assert served_name(server) == "second"
    loader.join(PATIENCE_S)
    assert sizes == [200 * MEGABYTE]


def test_sighup_reloads_a_certificate(server: Server) -> None:
    server.process.send_signal(signal.SIGHUP)
    server.next_event("certificate reloaded")
    assert served_name(server) == "first"


def test_stalled_handshakes_and_rubbish_do_not_hold_a_connection(
    serve: Serve, certificate: Certificate, tmp_path: Path
) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\nstep_s = 1\n")
    server = serve("--config", str(config), *certificate.options, protocols=("--https",))
    address = ("127.0.0.1", server.ports["--https"])
    begun = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    for sent in (b"", begun, b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"\0" * 65536):
        with socket.create_connection(address, PATIENCE_S) as peer:
            try:
                peer.sendall(sent)
                while peer.recv(4096):
                    pass
            except ConnectionResetError:
                pass
    with open_tls(server, certificate) as slow:
        slow.sendall(b"GET / HT")
        assert slow.recv(100) == b""
    assert ask(server, certificate, "GET", "/health")[0] == 200


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ((), "tls.cert: not set"),
        (("--tls-cert", "/etc/hostname"), "tls.key: not set"),
        (("--tls-cert", "absent", "--tls-key", "absent"), "tls.cert: absent"),
        (("--tls-cert", "/etc/hostname", "--tls-key", "/etc/hostname"), "no certificate in PEM"),
    ],
)
def test_a_certificate_that_cannot_be_used_ends_the_start(
    binary: Path, options: tuple[str, ...], fault: str
) -> None:
    command = [str(binary), "serve", "--https", "127.0.0.1:0", *options]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert ended.returncode == 2
    assert fault in ended.stderr
