# SPDX-License-Identifier: Apache-2.0
"""Test the server and concurrent clients against bad, slow and vanishing peers."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.waiting import until

from .conftest import PATIENCE_S, Serve, Server
from .test_http import ask
from .test_iperf3 import iperf3
from .test_results import metric

COOKIE = b"a" * 36 + b"\0"
PARAMS = b'{"tcp":true,"time":10,"parallel":1,"len":131072}'


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.ports["--iperf3"]), PATIENCE_S)


def framed(text: bytes) -> bytes:
    return struct.pack(">I", len(text)) + text


def goodbye(peer: socket.socket) -> bytes:
    """Return all bytes until the server closes."""
    received = b""
    try:
        while chunk := peer.recv(4096):
            received += chunk
    except ConnectionResetError:
        pass
    return received


def still_serves(server: Server) -> None:
    assert "error" not in iperf3(server, "-n", "1M")
    assert server.process.poll() is None


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (COOKIE + struct.pack(">I", 2**31), 114),
        (COOKIE + framed(b"no json"), 114),
        (COOKIE + framed(b'{"tcp":true,"parallel":500}'), 114),
        (COOKIE + framed(PARAMS) + b"\x63", 110),
        (COOKIE + framed(PARAMS) + b"\x04", 110),
    ],
    ids=["oversized", "no JSON", "too many streams", "unknown state", "end before start"],
)
def test_garbage_is_answered_with_iperf3s_error_and_the_door(
    serve: Serve, sent: bytes, code: int
) -> None:
    server = serve()
    with connect(server) as peer:
        peer.sendall(sent)
        assert goodbye(peer)[-9:] == b"\xfe" + struct.pack(">ii", code, 0)
    still_serves(server)


def test_a_silent_client_is_disconnected(serve: Serve, tmp_path: Path) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\nstep_s = 1\n")
    server = serve("--config", str(config))
    with connect(server) as silent, connect(server) as slow:
        slow.sendall(COOKIE[:5])
        assert goodbye(silent) == b""
        assert goodbye(slow) == b""
    with connect(server) as half:
        half.sendall(COOKIE)
        assert goodbye(half)[:1] == b"\x09"
    still_serves(server)


def test_bytes_of_a_killed_client_are_recorded_exactly(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    server = serve("--results", str(path), protocols=("--iperf3", "--http", "--metrics"))
    for options, name in (((), "received"), (("-R",), "sent")):
        command = ["iperf3", "-c", "127.0.0.1", "-p", str(server.ports["--iperf3"])]
        client = subprocess.Popen(
            [*command, "-t", "60", "-P", "2", *options], stdout=subprocess.DEVNULL
        )
        counter = f"{name}_bytes_total"
        until(lambda counter=counter: metric(server, counter) > 4_000_000, "the client tests")
        client.kill()
        client.wait()
        event = server.next_event("test ended early")
        assert event["ended"] == "aborted"
        [direction] = event["directions"]
        assert direction["bytes"] == event["bytes"] == metric(server, counter)
    server.process.terminate()
    assert server.process.wait(PATIENCE_S) == 0
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["ended"] for record in kept] == ["aborted", "aborted"]
    assert kept[1]["directions"] == event["directions"]


def test_a_client_that_vanishes_takes_only_its_own_test_with_it(serve: Serve) -> None:
    server = serve()
    with connect(server) as control, connect(server) as data:
        control.sendall(COOKIE + framed(PARAMS))
        assert control.recv(1) + control.recv(1) == b"\x09\x0a"
        data.sendall(COOKIE)
        assert control.recv(1) + control.recv(1) == b"\x01\x02"
        data.sendall(b"x" * 100_000)
        control.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        control.close()
        event = server.next_event("test ended early")
        assert (event["bytes"], event["ended"]) == (100_000, "aborted")
        assert goodbye(data) == b""
    still_serves(server)


def test_a_foreign_or_surplus_stream_is_turned_away(serve: Serve) -> None:
    server = serve()
    with connect(server) as control, connect(server) as data, connect(server) as surplus:
        control.sendall(COOKIE + framed(PARAMS))
        assert control.recv(1) + control.recv(1) == b"\x09\x0a"
        data.sendall(COOKIE)
        assert control.recv(1) + control.recv(1) == b"\x01\x02"
        surplus.sendall(COOKIE)
        assert goodbye(surplus) == b""
    still_serves(server)


def test_ten_thousand_idle_connections_cost_little_and_block_nobody(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "speedtest.toml"
    unbounded = "connections_per_client = 0\npending_per_client = 0\n"
    config.write_text(f"[limits]\nstep_s = 60\npending_s = 60\n{unbounded}")
    server = serve("--config", str(config))
    before = memory_kib(server)
    idle = [connect(server) for _ in range(10_000)]
    try:
        still_serves(server)
        each_kib = (memory_kib(server) - before) / len(idle)
        with capsys.disabled():
            print(f"\n{each_kib:.2f} KiB for each of {len(idle)} idle connections")
        assert each_kib < 64
    finally:
        for peer in idle:
            peer.close()
    still_serves(server)


def open_sockets(server: Server) -> int:
    """Count the server's open sockets; a file may close between its listing and its reading."""
    sockets = 0
    for path in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            sockets += os.readlink(path).startswith("socket:")
    return sockets


def memory_kib(server: Server) -> int:
    """Return what the page table has: `status` is off by what each CPU has not added up yet."""
    rollup = Path(f"/proc/{server.process.pid}/smaps_rollup").read_text()
    return int(next(line.split()[1] for line in rollup.splitlines() if line.startswith("Rss:")))


def test_connection_limits_turn_the_surplus_away(serve: Serve, tmp_path: Path) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\nconnections_per_client = 2\n")
    server = serve("--config", str(config))
    sockets = open_sockets(server)
    with connect(server) as first, connect(server) as second:
        first.sendall(COOKIE + framed(PARAMS))
        assert first.recv(1) + first.recv(1) == b"\x09\x0a"
        second.sendall(COOKIE)
        assert first.recv(1) + first.recv(1) == b"\x01\x02"
        with connect(server) as third:
            assert goodbye(third) == b"\xff", "ACCESS_DENIED"
    until(lambda: open_sockets(server) <= sockets, "both connections are closed")
    assert "error" not in iperf3(server, "-n", "1M")


def test_running_out_of_descriptors_turns_away_and_recovers(serve: Serve) -> None:
    server = serve()
    subprocess.run(["prlimit", f"--pid={server.process.pid}", "--nofile=24:24"], check=True)
    peers = [connect(server) for _ in range(40)]
    server.next_event("cannot accept, pausing")
    for peer in peers:
        peer.close()
    still_serves(server)


def failing(
    binary: Path, *options: str | Path, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a server that is expected to end at once."""
    return subprocess.run(
        [binary, "serve", *options],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize(
    ("config", "options", "words"),
    [
        ("[limits]\ntest = 1\n", [], ["speedtest.toml", "line 2", "tests"]),
        ("[limits]\nstep_s = 0\n", [], ["limits.step_s", "0", "1 to 3600"]),
        ("[limits]\nidle_s = 0\n", [], ["limits.idle_s", "0", "1 to 3600"]),
        ("[limits]\nprefix_v4 = 0\n", [], ["limits.prefix_v4", "0", "8 to 32"]),
        ("[limits]\nprefix_v6 = 129\n", [], ["limits.prefix_v6", "129", "16 to 128"]),
        (
            "[limits]\ntests = 2\ntests_per_client = 3\n",
            [],
            ["limits.tests_per_client", "3 is more than limits.tests, 2", "lower it or raise"],
        ),
        (
            "[limits]\nconnections = 10\nqueue = 20\n",
            [],
            ["limits.queue", "20 is more than limits.connections, 10", "lower it or raise"],
        ),
        (
            "[limits]\nconnections_per_client = 8\npending_per_client = 9\n",
            [],
            ["limits.pending_per_client", "limits.connections_per_client, 8"],
        ),
        ("[limits]\nrate_bps = 800\n", [], ["limits.rate_bps", "800", "packet", "12000"]),
        ("", ["--max-rate", "800"], ["rate_bps", "800", "packet", "12000"]),
        (
            "[limits]\nbytes = 10\nclient_bytes = 9\n",
            [],
            ["limits.bytes", "client_bytes, 9", "raise limits.client_bytes"],
        ),
        (
            "[limits]\nconnections_per_client = 1\n",
            [],
            ["limits.connections_per_client", "control connection and a stream", "2 or more"],
        ),
        (
            "[[http]]\nlisten = '127.0.0.1:1'\nproxy_protocol = true\n",
            [],
            ["http.proxy_protocol", "proxies.trusted is empty", "add the addresses"],
        ),
        ("[[iperf3]]\nlisten = 'here'\n", [], ["speedtest.toml", "line 2", "socket address"]),
        ("", ["--congestion", "nosuch", "--iperf3", "127.0.0.1:1"], ["nosuch", "reno"]),
        ("", ["--iperf3", "5201"], ["--iperf3", "5201", "socket address"]),
        ("", ["--iperf3", "localhost:1"], ["127.0.0.1:5201 or [::]:5201", "no names"]),
        ("[[http]]\nlisten = ':1'\n", [], ["line 2", "127.0.0.1:5201 or [::]:5201", "no names"]),
        ("", ["--http", "[::]:1", "--metrics", "[::]:1"], ["[::]:1", "given twice"]),
        ("", ["--max-tests", "-1"], ["'-1'", "--max-tests", "whole number", "0 or more"]),
        ("", ["--max-rate", "1G"], ["'1G'", "--max-rate", "without suffix", "0 or more"]),
        ("", ["--drain", "90000"], ["'90000'", "--drain", "0 to 86400"]),
        ("[limits]\ntests = -1\n", [], ["line 2", "whole number", "0 or more"]),
        ("[cors]\norigins = ['bogus']\n", [], ["cors.origins", "bogus", "SCHEME://HOST[:PORT]"]),
        ("", ["--tls-cert", "c", "--tls-key", "k"], ["--tls-cert", "no effect without --https"]),
        ("", ["--keep-addresses", "30"], ["--keep-addresses", "no effect without --results"]),
        ("", ["--time-skew-threshold", "5"], ["--rsa-private-key-path"]),
        ("", ["--congestion", "reno"], ["--iperf3"]),
        ("", ["--results", ""], ["--results", "empty", "sqlite:PATH"]),
        ("", ["--results", "sqlite:"], ["--results", "sqlite:PATH"]),
        ("", ["--results", "bogus:foo"], ["--results", "bogus:", "PATH", "postgresql://"]),
        ("", ["--log", "xml"], ["--log", "xml", "text", "json"]),
        ("", ["--no-such-flag"], ["--no-such-flag"]),
    ],
)
def test_bad_input_says_where_and_what_is_allowed_and_exits_2(
    binary: Path, tmp_path: Path, config: str, options: list[str], words: list[str]
) -> None:
    path = tmp_path / "speedtest.toml"
    path.write_text(config)
    done = failing(binary, "--config", path, *options)
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("address", "cause"),
    [("192.0.2.1:5201", "this host has no such address"), ("taken", "is another server using it?")],
)
def test_an_address_that_cannot_be_had_is_reported_with_its_cause(
    binary: Path, address: str, cause: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        if address == "taken":
            address = f"127.0.0.1:{other.getsockname()[1]}"
        done = failing(binary, "--http", address)
    assert done.returncode == 1
    assert f"cannot listen on {address}" in done.stderr
    assert cause in done.stderr


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://mia:secret@host:port/x",
        "postgresql://mia:a@b?secret=c@host/x",
        "mysql://m:secret@h",
    ],
)
def test_a_database_that_cannot_be_read_is_refused_without_its_password(
    binary: Path, url: str, tmp_path: Path
) -> None:
    options = ["--http", "127.0.0.1:0", "--results", url, "--results-spool", "spool"]
    done = failing(binary, *options, cwd=tmp_path)
    assert (done.returncode, "secret" in done.stderr) == (2, False), done.stderr


def test_tiny_blocks_leave_the_loop_to_others(serve: Serve) -> None:
    """One byte a call: a turn of some mebibytes of them took seconds."""
    server = serve("--loops", "1", protocols=("--iperf3", "--http"))
    end = iperf3(server, "-R", "-n", "64K", "-l", "1", "-P", "4")["end"]
    assert end["sum_sent"]["bytes"] >= 64 * 1024
    with ThreadPoolExecutor(1) as pool:
        test = pool.submit(iperf3, server, "-t", "2", "-R", "-l", "1", "-P", "4")
        answers = 0
        while not test.done():
            assert ask(server, "GET", "/health")[0].status == 200
            answers += 1
    assert "error" not in test.result()
    # Of seconds in which the loop belonged to one stream, one or two would be left.
    assert answers > 20


def test_more_bytes_than_allowed_end_a_test(serve: Serve, tmp_path: Path) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\nbytes = 100000000\nrate_bps = 1000000000\n")
    server = serve("--config", str(config))
    for way in ([], ["-R"]):
        assert "error" in iperf3(server, "-t", "5", *way)
        moved, _, allowed = server.next_event("test failed")["because"].partition(" bytes moved, ")
        assert allowed == "100000000 allowed"
        # At this rate the limit is reached after 0.8 s, and looked at every 20 ms.
        assert 100_000_000 < int(moved) < 150_000_000
