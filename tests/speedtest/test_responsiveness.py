# SPDX-License-Identifier: Apache-2.0
"""Test our client's responsiveness with our server and with servers that misbehave."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.ports import reserved_port

from .certificates import Certificate, make_certificate
from .conftest import PATIENCE_S, Serve

CONFIDENCES = {"low", "medium", "high"}


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path, "own")


def measure(
    binary: Path, port: int, certificate: Certificate, *options: str
) -> subprocess.CompletedProcess[str]:
    command = [binary, "client", f"127.0.0.1:{port}", "--protocol", "responsiveness"]
    return subprocess.run(
        [*command, "--ca", certificate.cert, *options],
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        check=False,
    )


def result(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["failed"] == done.returncode
    return dict(report["results"][0])


def is_sound(found: dict[str, Any]) -> None:
    """Check the printed results with the draft's formula."""
    foreign_ms = (found["tcp_ms"] + found["tls_ms"] + found["http_ms"]) / 3
    assert found["foreign_rpm"] == pytest.approx(60_000 / foreign_ms)
    if found["loaded_ms"] is None:
        assert found["rpm"] == found["foreign_rpm"]
    else:
        assert found["loaded_rpm"] == pytest.approx(60_000 / found["loaded_ms"])
        assert found["rpm"] == pytest.approx((found["foreign_rpm"] + found["loaded_rpm"]) / 2)


@pytest.mark.parametrize(
    ("way", "loads"),
    [([], ["down", "up"]), (["--reverse"], ["down"]), (["--bidirectional"], ["both"])],
    ids=["one after the other", "down", "both at once"],
)
def test_each_direction_is_loaded_and_probed(
    binary: Path, serve: Serve, certificate: Certificate, way: list[str], loads: list[str]
) -> None:
    port = serve(*certificate.options, protocols=("--https",)).ports["--https"]
    found = result(measure(binary, port, certificate, "--time", "4", "--json", *way))
    assert found["error"] is None
    is_sound(found["idle"])
    assert [one["load"] for one in found["directions"]] == loads
    for one in found["directions"]:
        is_sound(one["responsiveness"])
        assert (one["down_bytes"] > 0) == (one["load"] != "up")
        assert (one["up_bytes"] > 0) == (one["load"] != "down")
        assert one["bits_per_second"] > 0
        assert {one["goodput_confidence"], one["responsiveness_confidence"]} <= CONFIDENCES
        # One connection to begin with, and one more each second, in each direction.
        intervals = len(one["intervals"])
        assert one["connections"] == intervals * (2 if one["load"] == "both" else 1)
        moved = sum(interval["bytes"] for interval in one["intervals"])
        assert moved <= one["down_bytes"] + one["up_bytes"]
        assert sum(interval["loaded_probes"] for interval in one["intervals"]) > 0


def test_responsiveness_prints_a_line_for_each_phase(
    binary: Path, serve: Serve, certificate: Certificate
) -> None:
    port = serve(*certificate.options, protocols=("--https",)).ports["--https"]
    lines = measure(binary, port, certificate, "--time", "2", "--reverse").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["idle", "down", "down"]
    assert "confidence" in lines[1]
    assert "Mbit/s" in lines[2]


def test_a_server_that_ends_the_load_ends_the_test(
    binary: Path, serve: Serve, certificate: Certificate, tmp_path: Path
) -> None:
    config = tmp_path / "limits.toml"
    config.write_text("[limits]\nbytes = 1000000\n")
    server = serve(*certificate.options, "--config", str(config), protocols=("--https",))
    done = measure(binary, server.ports["--https"], certificate, "--time", "8", "--json")
    found = result(done)
    # Whichever notices first: the load, or a probe on its connection.
    assert "load-generating" in found["error"]
    assert found["idle"] is not None
    assert found["directions"] == []


def test_an_absent_server_and_an_untrusted_certificate_are_errors(
    binary: Path, serve: Serve, certificate: Certificate, tmp_path: Path
) -> None:
    absent = result(measure(binary, reserved_port(), certificate, "--json"))
    assert "refused" in absent["error"]
    port = serve(*certificate.options, protocols=("--https",)).ports["--https"]
    doubted = result(measure(binary, port, make_certificate(tmp_path, "other"), "--json"))
    assert "certificate" in doubted["error"]


@contextmanager
def old_server(certificate: Certificate) -> Iterator[int]:
    """Run a server that accepts TLS without HTTP/2; provide its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.cert, certificate.key)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with context.wrap_socket(listener.accept()[0], server_side=True) as peer:
                peer.recv(1)

        serving = threading.Thread(target=accept, daemon=True)
        serving.start()
        yield int(listener.getsockname()[1])
        serving.join(PATIENCE_S)


def test_a_server_without_http2_is_reported_so(binary: Path, certificate: Certificate) -> None:
    with old_server(certificate) as port:
        assert "HTTP/2" in result(measure(binary, port, certificate, "--json"))["error"]


@pytest.mark.parametrize(
    "options", [["--parallel", "2"], ["--bytes", "1000"], ["--rate", "1"], ["--username", "a"]]
)
def test_options_that_do_not_apply_exit_with_2(
    binary: Path, certificate: Certificate, options: list[str]
) -> None:
    if options[0] == "--username":
        options = [*options, "--rsa-public-key-path", str(certificate.cert)]
    done = measure(binary, 1, certificate, *options)
    assert done.returncode == 2
    assert options[0] in done.stderr
