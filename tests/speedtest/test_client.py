# SPDX-License-Identifier: Apache-2.0
"""Test our client against our server and against stock iperf3."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.ports import reserved_port

from .certificates import make_certificate
from .conftest import PATIENCE_S, Serve
from .stock_iperf3 import stock_server

MEGABYTE = 1024 * 1024
# Time in which each client expects the first answer.
SILENCE_S = {"ndt7": 25, "librespeed": 10}


def run_client(binary: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command: list[str] = [str(binary), "client", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def client(binary: Path, port: int, *options: str) -> dict[str, Any]:
    done = run_client(binary, f"127.0.0.1:{port}", "--json", *options)
    report: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode == 0) == (report["failed"] == 0)
    return report


@pytest.fixture(scope="module", autouse=True)
def unanswered(binary: Path) -> Iterator[Mapping[str, subprocess.Popen[str]]]:
    """Let clients wait for a server that never answers, while the other tests run."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [binary, "client", f"127.0.0.1:{listener.getsockname()[1]}", "--json"]
        options = ["--time", "1", "--bidirectional", "--protocol"]
        clients = {
            protocol: subprocess.Popen(
                [*command, *options, protocol], stdout=subprocess.PIPE, text=True
            )
            for protocol in SILENCE_S
        }
        try:
            yield clients
        finally:
            for waiting in clients.values():
                waiting.kill()
                waiting.communicate()


@pytest.mark.parametrize("way", [[], ["--reverse"], ["--bidirectional"]])
@pytest.mark.parametrize("streams", ["1", "3"])
def test_an_amount_arrives_to_the_last_byte(
    binary: Path, serve: Serve, way: list[str], streams: str
) -> None:
    server = serve()
    options = ["--bytes", str(32 * MEGABYTE), "--parallel", streams, *way]
    result = client(binary, server.ports["--iperf3"], *options)["results"][0]
    counted = server.next_event("test finished")["directions"]
    assert [one["server"] for one in counted] == [one["server"] for one in result["directions"]]
    if way != ["--bidirectional"]:
        assert result["directions"][0]["bytes"] == counted[0]["bytes"] == 32 * MEGABYTE
    assert result["server"]["directions"][0]["verdict"]["because"]


def test_client_tests_against_stock_iperf3(binary: Path) -> None:
    with stock_server("-1") as port:
        report = client(binary, port, "--time", "1", "--rate", "20000000")
        assert 0 < report["results"][0]["directions"][0]["bits_per_second"] < 22e6


def test_a_hundred_clients_of_one_process_keep_their_rates(
    binary: Path, serve: Serve, tmp_path: Path
) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\ntests_per_client = 0\n")
    options = ["--clients", "100", "--rate", "1000000", "--block", "16384", "--time", "4"]
    server = serve("--config", str(config))
    report = client(binary, server.ports["--iperf3"], *options)
    assert (report["tests"], report["failed"]) == (100, 0)
    for result in report["results"]:
        rate = result["directions"][0]["bits_per_second"]
        assert 0 < rate < 1.2e6


def test_a_refusal_and_an_absent_server_are_reported(binary: Path, serve: Serve) -> None:
    server = serve("--max-duration", "5")
    refused = client(binary, server.ports["--iperf3"], "--time", "30")
    assert "error 37" in refused["results"][0]["error"]
    assert "longer than the server allows" in refused["results"][0]["error"]
    port = reserved_port()
    for protocol in ("iperf3", "ndt7", "librespeed"):
        absent = client(binary, port, "--time", "1", "--protocol", protocol)
        assert absent["results"][0]["error"].startswith(f"127.0.0.1:{port}: Connection refused")


def test_a_server_that_speaks_something_else_is_reported(binary: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        command: list[str] = [str(binary), "client", f"127.0.0.1:{listener.getsockname()[1]}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                told, _ = process.communicate(timeout=PATIENCE_S)
    assert "does not seem to speak iperf3" in told
    assert process.returncode == 1


def test_the_time_of_a_librespeed_test_begins_with_the_answer_to_the_ping(
    binary: Path, serve: Serve
) -> None:
    options = ["--protocol", "librespeed", "--time", "1", "--parallel", "2"]
    port = serve(protocols=("--http",)).ports["--http"]
    for way in ([], ["--reverse"]):
        one = client(binary, port, *options, *way)["results"][0]["directions"][0]
        assert one["bytes"] > MEGABYTE
        assert one["seconds"] > 0.9


def test_a_timed_ndt7_download_always_has_its_verdict(binary: Path, serve: Serve) -> None:
    port = serve(protocols=("--http",)).ports["--http"]
    for _ in range(5):
        report = client(binary, port, "--protocol", "ndt7", "--reverse", "--time", "1")
        assert report["results"][0]["server"]["directions"][0]["verdict"]["because"]


def test_ipv6_addresses_work_with_brackets(binary: Path, serve: Serve) -> None:
    port = serve("--http", "[::1]:0", protocols=()).ports["--http"]
    for protocol in ("ndt7", "librespeed"):
        options = ["--protocol", protocol, "--bytes", "1000000"]
        assert run_client(binary, f"[::1]:{port}", *options).returncode == 0
    absent = f"[::1]:{reserved_port('::1')}"
    done = run_client(binary, absent)
    assert f"failed: {absent}: Connection refused" in done.stdout


@pytest.mark.parametrize(
    "server", ["127.0.0.1:99999", "127.0.0.1:abc", "", "[::1", "http://host:1", ":5201"]
)
def test_an_invalid_server_address_is_a_bad_option(binary: Path, server: str) -> None:
    done = run_client(binary, server)
    assert (done.returncode, done.stdout) == (2, "")
    assert server != "http://host:1" or "HOST[:PORT] is wanted, not a URL" in done.stderr


@pytest.mark.parametrize("protocol", ["ndt7", "librespeed", "responsiveness"])
def test_a_file_without_authorities_is_a_bad_option(
    binary: Path, tmp_path: Path, protocol: str
) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing\n")
    for file in (empty, tmp_path / "nope.pem"):
        options = ["--protocol", protocol, "--ca", str(file)]
        options += [] if protocol == "responsiveness" else ["--tls"]
        done = run_client(binary, "127.0.0.1:1", *options)
        assert done.returncode == 2
        assert f"--ca {file}: " in done.stderr


@pytest.mark.parametrize("protocol", ["iperf3", "ndt7", "librespeed", "responsiveness"])
def test_a_name_without_address_is_reported_in_json_too(binary: Path, protocol: str) -> None:
    done = run_client(binary, "nohost.invalid", "--json", "--protocol", protocol)
    report = json.loads(done.stdout)
    assert (done.returncode, report["tests"], report["failed"]) == (1, 1, 1)
    assert "nohost.invalid" in report["results"][0]["error"]


@pytest.mark.parametrize("protocol", ["ndt7", "librespeed"])
@pytest.mark.parametrize("way", [[], ["--reverse"], ["--bidirectional"]])
def test_ndt7_and_librespeed_say_the_same_things(
    binary: Path, serve: Serve, protocol: str, way: list[str]
) -> None:
    server = serve(protocols=("--http",))
    options = ["--protocol", protocol, "--bytes", str(32 * MEGABYTE), "--parallel", "2", *way]
    result = client(binary, server.ports["--http"], *options)["results"][0]
    sides = (
        ["receives"] if not way else ["sends"] if way == ["--reverse"] else ["receives", "sends"]
    )
    assert [one["server"] for one in result["directions"]] == sides
    for one in result["directions"]:
        exact = one["server"] == "receives"
        assert one["bytes"] == 32 * MEGABYTE if exact else one["bytes"] >= 32 * MEGABYTE
    told = {one["server"]: one for one in result["server"]["directions"]}
    assert list(told) == sides
    for one in told.values():
        assert one["verdict"]["because"]
    if "receives" in told:
        assert told["receives"]["bytes"] == 32 * MEGABYTE


@pytest.mark.parametrize("protocol", ["ndt7", "librespeed"])
def test_a_timed_test_over_tls_and_whom_it_believes(
    binary: Path, serve: Serve, tmp_path: Path, protocol: str
) -> None:
    certificate = make_certificate(tmp_path, "mine")
    port = serve(*certificate.options, protocols=("--https",)).ports["--https"]
    options = ["--protocol", protocol, "--tls", "--time", "1", "--bidirectional"]
    trusting = client(binary, port, *options, "--ca", str(certificate.cert))
    assert trusting["results"][0]["error"] is None
    assert len(trusting["results"][0]["directions"]) == 2
    for one in trusting["results"][0]["directions"]:
        assert one["bytes"] > MEGABYTE
    other = make_certificate(tmp_path, "other")
    failed = client(binary, port, *options, "--ca", str(other.cert))
    assert "certificate" in failed["results"][0]["error"].lower()
    assert failed["results"][0]["error"].endswith("give its authority with --ca")


def test_a_refused_upgrade_and_a_misfit_option_are_reported(binary: Path, serve: Serve) -> None:
    server = serve("--max-tests", "1", "--queue", "0", protocols=("--http", "--iperf3"))
    options = ["--protocol", "ndt7", "--time", "1", "--parallel", "2"]
    refused = client(binary, server.ports["--http"], *options)
    assert "503: the server is full" in refused["results"][0]["error"]
    done = run_client(binary, "127.0.0.1:1", "--protocol", "ndt7", "--omit", "1")
    assert (done.returncode, "--omit" in done.stderr) == (2, True)


@pytest.mark.parametrize("protocol", SILENCE_S)
def test_a_server_that_never_answers_is_a_failure(
    unanswered: Mapping[str, subprocess.Popen[str]], protocol: str
) -> None:
    report = json.loads(unanswered[protocol].communicate(timeout=PATIENCE_S)[0])
    assert (unanswered[protocol].returncode, report["failed"]) == (1, 1)
    error = report["results"][0]["error"]
    assert error == f"no answer from the server in {SILENCE_S[protocol]} s"
