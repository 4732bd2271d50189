# SPDX-License-Identifier: Apache-2.0
"""Our own client, against our server and against stock iperf3's."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import PATIENCE_S, Server, free_port

Serve = Callable[..., Server]
MEGABYTE = 1024 * 1024


def client(binary: Path, port: int, *options: str) -> dict[str, Any]:
    command = [binary, "client", f"127.0.0.1:{port}", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    report: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode == 0) == (report["failed"] == 0)
    return report


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


def test_it_tests_against_stock_iperf3(binary: Path) -> None:
    port = free_port()
    stock = subprocess.Popen(
        ["iperf3", "-s", "-1", "-p", str(port), "--forceflush"], stdout=subprocess.PIPE, text=True
    )
    assert stock.stdout is not None
    while "listening" not in stock.stdout.readline():
        pass
    try:
        report = client(binary, port, "--time", "1", "--rate", "20000000")
        assert 0 < report["results"][0]["directions"][0]["bits_per_second"] < 22e6
    finally:
        stock.kill()
        stock.wait()


def test_a_hundred_clients_of_one_process_keep_their_rates(binary: Path, serve: Serve) -> None:
    options = ["--clients", "100", "--rate", "1000000", "--block", "16384", "--time", "4"]
    report = client(binary, serve().ports["--iperf3"], *options)
    assert (report["tests"], report["failed"]) == (100, 0)
    for result in report["results"]:
        rate = result["directions"][0]["bits_per_second"]
        assert 0 < rate < 1.2e6


def test_a_refusal_and_an_absent_server_are_told(binary: Path, serve: Serve) -> None:
    server = serve("--max-duration", "5")
    refused = client(binary, server.ports["--iperf3"], "--time", "30")
    assert "error 37" in refused["results"][0]["error"]
    absent = client(binary, free_port(), "--time", "1")
    assert "refused" in absent["results"][0]["error"]
