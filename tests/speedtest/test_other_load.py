# SPDX-License-Identifier: Apache-2.0
"""Test that every result has the server's other load, and that a verdict names it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import until

from .conftest import PATIENCE_S, Serve, Server
from .test_http import MEGABYTE, ask
from .test_ndt7 import DOWNLOAD, UPLOAD, connect, download, upload

BOTH = ("--iperf3", "--http", "--metrics")
KEYS = {
    "tests", "clients", "own_loop_share", "loop_share", "process_share", "bytes", "bytes_share",
    "delay_mean_us", "delay_max_us", "refused",
}  # fmt: skip


def client(binary: Path, server: Server, *options: str) -> list[str]:
    return [str(binary), "client", f"127.0.0.1:{server.ports['--iperf3']}", *options]


def measure(binary: Path, server: Server, *options: str) -> dict[str, Any]:
    """Return the server's output of one test of 1 s."""
    command = client(binary, server, "--time", "1", "--json", *options)
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    output: dict[str, Any] = json.loads(done.stdout)["results"][0]["server"]
    return output


def received(server: Server) -> int:
    page = ask(server, "GET", "/metrics", where="--metrics")[1].decode()
    values = dict(line.split() for line in page.splitlines() if not line.startswith("#"))
    return int(values["wirespeed_speedtest_sent_bytes_total"])


@contextmanager
def others(binary: Path, server: Server) -> Iterator[None]:
    """Download in small blocks on eight connections, which saturates the loop."""
    options = ("--time", "3600", "--reverse", "--parallel", "8", "--block", "4096")
    process = subprocess.Popen(client(binary, server, *options), stdout=subprocess.DEVNULL)
    try:
        until(lambda: received(server) > 8 * MEGABYTE, "the others test")
        yield
    finally:
        process.kill()
        process.wait()


# Whoever else wants the CPUs makes the kernel send segments again, and then it was the path, too.
@pytest.mark.alone
@pytest.mark.parametrize("direction", [["--reverse"], []], ids=["download", "upload"])
def test_a_test_whose_loop_others_fill_is_shared_and_alone_it_is_not(
    serve: Serve, binary: Path, direction: list[str]
) -> None:
    server = serve("--loops", "1", protocols=BOTH)
    alone = measure(binary, server, *direction)
    with others(binary, server):
        beside = measure(binary, server, *direction)
    assert alone["directions"][0]["verdict"]["limited_by"] != "shared"
    assert (alone["other_load"]["tests"], alone["other_load"]["bytes"]) == (0, 0)
    assert set(alone["other_load"]) == KEYS
    [disturbed] = beside["directions"]
    load = beside["other_load"]
    assert load["tests"] == 1
    assert load["bytes"] > 0
    assert 0 < load["bytes_share"] < 1
    assert load["own_loop_share"] + load["loop_share"] <= 1.01
    assert 0 <= load["delay_mean_us"] <= load["delay_max_us"]
    assert disturbed["verdict"]["limited_by"] == "shared", (load, disturbed["verdict"])
    assert "on others (1 tests" in disturbed["verdict"]["because"][0]


def test_a_page_and_ndt7_report_the_servers_other_load(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    server = serve("--results", str(path), protocols=("--http",))
    with connect(server, f"{UPLOAD}&id=both") as peer:
        ask(server, "POST", "/empty?id=page", b"x" * MEGABYTE)
        upload(peer, 2)
    verdicts = json.loads(ask(server, "GET", "/verdict?id=page")[1])
    assert set(verdicts["upload"]["other_load"]) == KEYS
    assert verdicts["upload"]["other_load"]["tests"] == 1
    assert verdicts["upload"]["aborted"] == 0
    finished = server.next_event("test finished")
    assert finished["other_load"]["bytes"] == MEGABYTE
    assert finished["other_load"]["bytes_share"] == pytest.approx(1 / 3, abs=1e-3)
    until(path.exists, "the record is written")
    until(lambda: "\n" in path.read_text(), "the record is written")
    assert json.loads(path.read_text().splitlines()[0])["other_load"] == finished["other_load"]


def test_an_ndt7_client_gets_it_in_the_last_measurement_of_a_download(serve: Serve) -> None:
    server = serve(protocols=("--http",))
    with connect(server, DOWNLOAD) as peer:
        download(peer)
    assert ["OtherLoad" in text for text in peer.texts[-2:]] == [False, True]
    assert set(peer.texts[-1]["OtherLoad"]) == KEYS
    assert peer.texts[-1]["OtherLoad"] == server.next_event("test finished")["other_load"]


def test_requests_refused_during_a_test_are_reported(serve: Serve) -> None:
    server = serve("--max-tests", "1", "--queue", "0", protocols=("--http",))
    with connect(server, UPLOAD) as peer:
        with connect(server, UPLOAD) as second:
            assert second.status == 503
        answer, _ = ask(server, "POST", "/empty", b"x" * MEGABYTE)
        assert answer.status == 503
        upload(peer, 1)
    refused = server.next_event("test finished")["other_load"]["refused"]
    assert (refused["tests"], refused["bodies"], refused["connections"]) == (1, 1, 0)
    assert 0 < refused["bytes"] <= MEGABYTE


def test_a_link_that_others_fill_is_shared(serve: Serve, tmp_path: Path) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[server]\nlink_bps = 1000\n")
    server = serve("--config", str(config), protocols=("--http",))
    with connect(server, UPLOAD) as peer:
        upload_beside(peer, server)
    [direction] = server.next_event("test finished")["directions"]
    assert direction["verdict"]["limited_by"] == "shared"
    assert "of the 0.0 Mbit/s that its link carries" in direction["verdict"]["because"][0]


def upload_beside(peer: Any, server: Server) -> None:
    """Upload 10 MB, long enough for a verdict, while others move as much."""
    for _ in range(10):
        ask(server, "POST", "/empty", b"x" * MEGABYTE)
    upload(peer, 10)
