# SPDX-License-Identifier: Apache-2.0
"""Test the server under each attack of benchmarks/attacks/kinds.py.

It serves other clients, counts their bytes exactly and stores their results. Afterwards all
places and connections are free again. No time is asserted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from benchmarks.attacks.kinds import ATTACKS, CONNECTIONS_OF_ONE

from tests.support.effort import EXHAUSTIVE
from tests.support.speedtest_program import REPOSITORY
from tests.support.waiting import until
from tests.support.websocket import CLOSE, frame, masked_binary

from .certificates import make_certificate
from .conftest import PATIENCE_S, Serve, Server
from .test_http import ask
from .test_iperf3 import iperf3
from .test_ndt7 import UPLOAD, connect

# Whole blocks of iperf3.
AMOUNT = 8 << 20
UPLOADED = 3_000_001
MIB = 1 << 20
LIMITS = f"""
[limits]
connections_per_client = {CONNECTIONS_OF_ONE}
tests_per_client = 2
"""
# `make test` tries each attack over one protocol, `make test-all` over all, from more connections.
CASES = [
    (name, over)
    for name, attack in ATTACKS.items()
    for over in (attack.over if EXHAUSTIVE else attack.over[:1])
]
CONNECTIONS = 8 if EXHAUSTIVE else 2


@pytest.fixture
def server(serve: Serve, tmp_path: Path) -> Server:
    config = tmp_path / "speedtest.toml"
    config.write_text(LIMITS)
    options = ["--config", str(config), "--results", str(tmp_path / "results.jsonl")]
    certificate = make_certificate(tmp_path, "server")
    protocols = ("--iperf3", "--http", "--https", "--metrics")
    return serve(*options, *certificate.options, protocols=protocols)


def metric(server: Server, name: str) -> int:
    page = ask(server, "GET", "/metrics", where="--metrics")[1].decode()
    wanted = f"wirespeed_speedtest_{name} "
    [line] = [line for line in page.splitlines() if line.startswith(wanted)]
    return int(line.removeprefix(wanted))


@contextmanager
def attack(server: Server, name: str, over: str) -> Iterator[None]:
    """Run the attackers while the block runs."""
    port = server.ports[{"h2": "--https", "udp": "--iperf3"}.get(over, f"--{over}")]
    command = [sys.executable, "-m", "benchmarks.attacks.attacker", name, over, str(port)]
    attacker = subprocess.Popen(
        [*command, str(CONNECTIONS), "1"], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    )
    try:
        assert attacker.stdout is not None
        assert json.loads(attacker.stdout.readline())["opened"] > 0
        yield
        assert attacker.poll() is None
    finally:
        attacker.terminate()
        attacker.communicate(timeout=PATIENCE_S)


def upload_ndt7(server: Server, size: int) -> None:
    with connect(server, UPLOAD) as peer:
        assert peer.status == 101
        peer.send(masked_binary(size))
        peer.send(frame(CLOSE, b"\x03\xe8"))
        assert peer.close_code() == 1000


def results(path: Path) -> list[dict[str, object]]:
    """Return the stored tests of legitimate clients: protocol and bytes of each direction."""
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    return [record for record in kept if record["client"].startswith("127.0.0.1:")]


def bytes_of(record: dict[str, object]) -> list[int]:
    assert isinstance(record["directions"], list)
    return [direction["bytes"] for direction in record["directions"]]


@pytest.mark.parametrize(("name", "over"), CASES, ids=lambda value: str(value).replace(" ", "-"))
def test_others_are_served_and_counted_to_the_byte(
    server: Server, tmp_path: Path, name: str, over: str
) -> None:
    with attack(server, name, over):
        for options in (["-n", str(AMOUNT)], ["-n", str(AMOUNT), "-R"]):
            ended = iperf3(server, *options)
            assert "error" not in ended, ended["error"]
            assert ended["end"]["sum_received"]["bytes"] == AMOUNT
        upload_ndt7(server, UPLOADED)
        assert len(ask(server, "GET", "/garbage?ckSize=1")[1]) == MIB
        assert ask(server, "POST", "/empty", bytes(MIB))[0].status == 200
        assert ask(server, "GET", "/metrics", where="--metrics")[0].status == 200
    # All of the attackers' connections and places are free again; this page is one connection.
    until(lambda: metric(server, "connections") == 1, "the attackers' connections end")
    until(lambda: metric(server, "tests_waiting") == 0, "the queue is empty")
    until(lambda: len(results(tmp_path / "results.jsonl")) >= 3, "results are kept")
    kept = results(tmp_path / "results.jsonl")
    assert [bytes_of(record) for record in kept] == [[AMOUNT], [AMOUNT], [UPLOADED]]
    assert server.process.poll() is None
