# SPDX-License-Identifier: Apache-2.0
"""Test injected faults while another client tests: no crash, no leak, no effect on it."""

from __future__ import annotations

import json
import random
import select
import signal
import socket
import sqlite3
import struct
import subprocess
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.veth_network import veth_network
from tests.support.waiting import until

from .conftest import PATIENCE_S, Serve, Server, running
from .test_http import ask
from .test_iperf3 import MEGABYTE, iperf3, server_is_testing
from .test_iperf3_faults import (
    PARAMS,
    connect,
    framed,
    goodbye,
    memory_kib,
    open_sockets,
    still_serves,
)

RESULTS = b'{"cpu_util_total":0,"cpu_util_user":0,"cpu_util_system":0,"streams":[]}'
# More than most test machines have CPUs: each has files of its own.
LOOPS = 20
STEPS = ("cookie", "params", "streams", "running", "results", "display")


def open_files(server: Server) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def files_at_rest(server: Server) -> int:
    """Return the open files of a server that has served, after all clients' sockets are closed."""
    sockets = open_sockets(server)
    still_serves(server)
    until(lambda: open_sockets(server) <= sockets, "the first test's sockets are closed")
    return open_files(server)


def nothing_is_left(server: Server, files: int) -> None:
    until(lambda: open_files(server) <= files, f"{files} open files, not {open_files(server)}")
    still_serves(server)


@contextmanager
def somebody_testing(server: Server) -> Iterator[None]:
    """Run a test of stock iperf3 for about 3 s meanwhile; it must lose nothing.

    It ends by amount: at the end of a timed test what is on its way does not count, and on a
    machine that stalls that is a second's worth. Of an amount the server counts each byte.
    """
    amount = str(7 * MEGABYTE)
    with ThreadPoolExecutor(1) as pool:
        test = pool.submit(iperf3, server, "-n", amount, "-b", "20M")
        until(lambda: server_is_testing(server), "the other test runs")
        yield
        report = test.result()
        assert "error" not in report
        end = report["end"]
        assert end["sum_received"]["bytes"] == end["sum_sent"]["bytes"] >= int(amount)


def reach(stack: ExitStack, server: Server, step: str) -> socket.socket:
    """Open a control connection on which the server waits for this step of the client."""
    cookie = random.randbytes(18).hex().encode() + b"\0"
    control = stack.enter_context(connect(server))
    if step == "cookie":
        return control
    control.sendall(cookie)
    assert control.recv(1) == b"\x09"
    if step == "params":
        return control
    control.sendall(framed(PARAMS))
    assert control.recv(1) == b"\x0a"
    if step == "streams":
        return control
    stack.enter_context(connect(server)).sendall(cookie)
    assert control.recv(1) + control.recv(1) == b"\x01\x02"
    if step == "running":
        return control
    control.sendall(b"\x04")
    assert control.recv(1) == b"\x0d"
    if step == "results":
        return control
    control.sendall(framed(RESULTS))
    length = struct.unpack(">I", exactly(control, 4))[0]
    json.loads(exactly(control, length))
    assert control.recv(1) == b"\x0e"
    return control


def exactly(peer: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        piece = peer.recv(count - len(received))
        assert piece, f"the server closed after {received!r}"
        received += piece
    return received


@pytest.mark.parametrize("step", STEPS)
def test_garbage_at_every_step_ends_only_its_own_connection(serve: Serve, step: str) -> None:
    server = serve()
    files = files_at_rest(server)
    # An address that asks for more than is taken, a state that there is not, JSON that is none.
    for garbage in (
        b"\xff" * 4096,
        b"\x63" * 37,
        b"\0\0\0\x02{]",
        random.Random(1).randbytes(4096),
    ):
        with ExitStack() as stack:
            control = reach(stack, server, step)
            with suppress(OSError):
                control.sendall(garbage)
                control.shutdown(socket.SHUT_WR)
            goodbye(control)
    nothing_is_left(server, files)


def test_garbage_disturbs_nobody(serve: Serve) -> None:
    server = serve()
    noise = random.Random(2)
    with somebody_testing(server):
        for _ in range(50):
            with ExitStack() as stack:
                control = reach(stack, server, noise.choice(STEPS))
                with suppress(OSError):
                    control.sendall(noise.randbytes(2048))
    still_serves(server)


@pytest.mark.parametrize("way", [[], ["-R"], ["--bidir", "-P", "2"], ["-u", "-b", "20M"]])
def test_a_client_killed_in_mid_test_leaves_nothing_behind(serve: Serve, way: list[str]) -> None:
    server = serve()
    files = files_at_rest(server)
    port = str(server.ports["--iperf3"])
    for _ in range(3):
        client = subprocess.Popen(
            ["iperf3", "-c", "127.0.0.1", "-p", port, "-t", "30", *way], stdout=subprocess.DEVNULL
        )
        until(lambda: open_files(server) >= files + 2, "the test runs")
        client.send_signal(signal.SIGKILL)
        client.wait()
        until(lambda: open_files(server) <= files, "its sockets are closed")
    nothing_is_left(server, files)


def test_clients_that_reset_by_the_hundred_cost_no_memory(serve: Serve) -> None:
    server = serve()
    files = files_at_rest(server)

    def vanish(step: str) -> None:
        with ExitStack() as stack:
            control = reach(stack, server, step)
            control.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    for _ in range(20):
        for step in STEPS:
            vanish(step)
    until(lambda: open_files(server) <= files, "sockets are closed")
    before = memory_kib(server)
    for _ in range(50):
        for step in STEPS:
            vanish(step)
    nothing_is_left(server, files)
    # 300 connections; 4 KiB each would be a leak.
    assert memory_kib(server) - before < 1024


def test_a_trickle_on_the_control_connection_is_cut_off_at_every_step(
    serve: Serve, tmp_path: Path
) -> None:
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\nstep_s = 1\n")
    server = serve("--config", str(config))
    trickles = {
        "cookie": b"c" * 37,
        "params": framed(b"{" + b" " * 4000),
        "results": framed(b" " * 4000),
    }
    with ExitStack() as stack, somebody_testing(server):
        slow = {reach(stack, server, step): iter(text) for step, text in trickles.items()}
        end = time.monotonic() + PATIENCE_S
        while slow:
            assert time.monotonic() < end, "a trickling client is never cut off"
            closed, _, _ = select.select(list(slow), [], [], 0.2)
            for peer in closed:
                goodbye(peer)
                del slow[peer]
            for peer, text in slow.items():
                with suppress(OSError):
                    peer.send(bytes([next(text)]))
    still_serves(server)


@pytest.mark.root
def test_half_open_connections_are_given_up(binary: Path, tmp_path: Path) -> None:
    """The client's link goes down: neither FIN nor RST follows."""
    config = tmp_path / "speedtest.toml"
    config.write_text("[limits]\nstep_s = 10\n")
    name = f"st{uuid.uuid4().hex}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        with (
            veth_network(name, "eth0") as network,
            running(
                binary, ["--http"], ["--iperf3", f"{network}.1:0", "--config", str(config)]
            ) as server,
        ):
            files = open_files(server)
            port = str(server.ports["--iperf3"])
            where = ["-c", f"{network}.1", "-p", port, "-t", "30", "-b", "1M"]
            clients = [
                subprocess.Popen(
                    ["ip", "netns", "exec", name, "iperf3", *where, *way], stdout=subprocess.DEVNULL
                )
                for way in ([], ["-R"])
            ]
            until(lambda: open_files(server) >= files + 4, "both tests run")
            subprocess.run(["ip", "-n", name, "link", "set", "eth0", "down"], check=True)
            for client in clients:
                client.kill()
                client.wait()
            # A test may be 15 s late with its end.
            until(lambda: open_files(server) <= files, "both tests are given up", 60)
            assert ask(server, "GET", "/health")[0].status == 200
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


def limited(binary: Path, tmp_path: Path, files: int) -> Path:
    """Start the server under a small RLIMIT_NOFILE, soft and hard."""
    script = tmp_path / "limited"
    script.write_text(f'#!/bin/sh\nulimit -n {files}\nexec "{binary}" "$@"\n')
    script.chmod(0o755)
    return script


def test_few_descriptors_turn_the_surplus_away_in_order(binary: Path, tmp_path: Path) -> None:
    protocols = ["--iperf3", "--http", "--metrics"]
    # Each loop has three, 64 are for all else, and 64 for clients.
    limit = 64 + 3 * LOOPS + 64
    loops = ["--loops", str(LOOPS)]
    with running(limited(binary, tmp_path, limit), protocols, loops) as server:
        peers = [connect(server) for _ in range(200)]
        turned_away = 0
        for peer in peers:
            peer.setblocking(False)
        end = time.monotonic() + PATIENCE_S
        while turned_away < 200 - 64:
            assert time.monotonic() < end, f"{turned_away} were turned away"
            readable, _, _ = select.select(peers, [], [], 1)
            for peer in readable:
                peers.remove(peer)
                peer.close()
                turned_away += 1
        assert turned_away == 200 - 64
        for peer in peers:
            peer.close()
        still_serves(server)
        assert not any(event["event"] == "cannot accept, pausing" for event in server.events.queue)


def test_too_few_descriptors_to_serve_anybody_are_reported_at_the_start(
    binary: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [str(limited(binary, tmp_path, 40)), "serve", "--iperf3", "127.0.0.1:0"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 1
    assert "40" in done.stderr
    assert "open files" in done.stderr


def test_sigterm_under_load_loses_no_test_and_no_result(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    server = serve("--results", f"sqlite:{path}")
    ways = [[], ["-R"], ["--bidir"], ["-P", "3"], ["-u"], ["-u", "-R"]]
    with ThreadPoolExecutor(len(ways)) as pool:
        tests = [pool.submit(iperf3, server, "-t", "8", "-b", "10M", *way) for way in ways]
        until(lambda: established(server) >= 15, "all tests run")
        server.process.send_signal(signal.SIGTERM)
        assert server.next_event("draining")["tests"] == len(ways)
        for test in tests:
            assert "error" not in test.result()
    assert server.process.wait(PATIENCE_S) == 0
    with closing(sqlite3.connect(path)) as link:
        assert link.execute("SELECT count(*) FROM speedtest_result").fetchone() == (len(ways),)


def established(server: Server) -> int:
    """Six of control, one, one, two and three of TCP data, two of UDP."""
    port = server.ports["--iperf3"]
    command = ["ss", "-tunH", "state", "established", f"( sport = :{port} )"]
    return len(subprocess.run(command, capture_output=True, check=True).stdout.splitlines())
