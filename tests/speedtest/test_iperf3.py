# SPDX-License-Identifier: Apache-2.0
"""Test stock iperf3 against the server: every option, and the results of both sides."""

from __future__ import annotations

import json
import re
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from tests.support.waiting import until

from .conftest import PATIENCE_S, Serve, Server

MEGABYTE = 1024 * 1024
CALM = ("-b", "200M")


def iperf3(server: Server, *options: str) -> dict[str, Any]:
    """Return the JSON of stock iperf3; its own failure is in `error`."""
    port = server.ports["--iperf3"]
    command = ["iperf3", "-c", "127.0.0.1", "-p", str(port), "-J", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def directions(event: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {direction["server"]: direction for direction in event["directions"]}


# Two go as fast as this machine can; what the other options do does not depend on the rate.
@pytest.mark.parametrize(
    "options",
    [
        ["-t", "1"],
        ["-t", "1", "-P", "4"],
        ["-t", "1", "-w", "64K", *CALM],
        ["-t", "1", "-M", "1000", *CALM],
        ["-t", "1", "-C", "reno", *CALM],
        ["-t", "1", "-N", "-l", "1K", *CALM],
        ["-t", "1", "-S", "32", *CALM],
        ["-t", "1", "-b", "50M"],
        ["-t", "1", "-b", "50M/4"],
        ["-t", "1", "-O", "1", *CALM],
        ["-t", "1", "-Z", *CALM],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("way", ["", "-R", "--bidir"], ids=["forward", "reverse", "both"])
def test_timed_tests_agree_on_what_was_exchanged(
    serve: Serve, options: list[str], way: str
) -> None:
    server = serve()
    report = iperf3(server, *options, *([way] if way else []))
    assert "error" not in report
    end = report["end"]
    counted = directions(server.next_event("test finished"))
    if way != "-R":
        assert counted["receives"]["bytes"] == end["sum_received"]["bytes"] > 0
    if way == "-R":
        assert counted["sends"]["bytes"] == end["sum_sent"]["bytes"] > 0
        assert 0 < end["sum_received"]["bytes"] <= end["sum_sent"]["bytes"] * 1.1
    if way == "--bidir":
        assert counted["sends"]["bytes"] == end["sum_sent_bidir_reverse"]["bytes"] > 0


@pytest.mark.parametrize("way", [[], ["-R"]], ids=["forward", "reverse"])
@pytest.mark.parametrize("streams", [1, 3])
def test_tests_by_amount_count_every_byte_on_both_sides(
    serve: Serve, way: list[str], streams: int
) -> None:
    server = serve()
    for amount, expected in (
        (["-n", "48M"], 48 * MEGABYTE),
        (["-k", "480", "-l", "64K"], 30 * MEGABYTE),
    ):
        end = iperf3(server, *amount, "-P", str(streams), *way)["end"]
        event = server.next_event("test finished")
        assert event["directions"][0]["bytes"] == end["sum_sent"]["bytes"]
        missing = end["sum_sent"]["bytes"] - end["sum_received"]["bytes"]
        # The client looks after a round of one block a stream: at exactly `expected`, one more.
        surplus = end["sum_sent"]["bytes"] - expected
        assert missing >= 0
        assert surplus <= 128 * 1024 * streams
        # iperf3 counts a short read as a block: as receiver of -k it may end the test too early.
        if not (way and "-k" in amount):
            assert (missing, surplus >= 0) == (0, True)


def test_a_bitrate_is_kept_in_both_directions(serve: Serve) -> None:
    server = serve()
    for way in ([], ["-R"]):
        end = iperf3(server, "-t", "2", "-b", "40M", *way)["end"]
        # A machine that is busy with other things may keep the sender below its rate.
        assert 0 < end["sum_received"]["bits_per_second"] < 44e6
        direction = server.next_event("test finished")["directions"][0]
        if direction["bits_per_second"] > 0.95 * 40e6:
            assert direction["verdict"]["limited_by"] == "policy"


def test_the_server_output_has_verdict_and_tcp_info_series(serve: Serve) -> None:
    report = iperf3(serve(), "-t", "1", "-R", "-C", "reno", *CALM, "--get-server-output")
    output = report["server_output_json"]
    direction = output["directions"][0]
    assert direction["congestion"] == "reno" == report["end"]["sender_tcp_congestion"]
    assert direction["verdict"]["because"]
    assert direction["rfc6349"][0]["tcp_efficiency_percent"] <= 100
    samples = output["series"][0]["tcp_info"]
    assert [sample["bytes"] for sample in samples] == sorted(s["bytes"] for s in samples)
    assert samples[-1]["rtt_us"] > 0


def test_the_log_has_the_port_chosen_for_port_0(binary: Path) -> None:
    command = [binary, "serve", "--log", "json", "--iperf3", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            event = next(e for e in map(json.loads, process.stderr) if e["event"] == "listening")
            port = int(event["address"].removeprefix("127.0.0.1:"))
            server = Server(process, Queue(), {"--iperf3": port})
            for transport in ([], ["-u"]):
                assert "error" not in iperf3(server, "-t", "1", *transport)
        finally:
            process.terminate()


def test_many_clients_at_once_on_one_port(serve: Serve) -> None:
    server = serve()
    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(lambda _: iperf3(server, "-t", "2", "-b", "20M"), range(8)))
    for report in reports:
        assert 0 < report["end"]["sum_received"]["bits_per_second"] < 22e6


@contextmanager
def lasting_test(server: Server, *options: str) -> Iterator[None]:
    """Run a test of stock iperf3 from before the block until after it."""
    address = ["-c", "127.0.0.1", "-p", str(server.ports["--iperf3"])]
    command = ["iperf3", *address, "-t", "300", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as client:
        try:
            until(lambda: server_is_testing(server), "the test runs")
            yield
            assert client.poll() is None
        finally:
            client.terminate()


def server_is_testing(server: Server) -> bool:
    """Return whether a test runs, by the server's sockets: a probe would change the queue."""
    links = subprocess.run(
        ["ss", "-tunH", "state", "established", f"( sport = :{server.ports['--iperf3']} )"],
        capture_output=True,
        text=True,
        check=True,
    )
    return len(links.stdout.splitlines()) >= 2


def test_a_full_server_lets_clients_wait_and_refuses_the_rest(serve: Serve) -> None:
    server = serve("--max-tests", "1", "--queue", "1")
    with ThreadPoolExecutor(1) as pool:
        with lasting_test(server, "-b", "1M"):
            second = pool.submit(iperf3, server, "-n", "1M")
            server.next_event("test queued")
            third = iperf3(server, "-n", "1M")
            assert "busy" in third["error"]
            assert not second.done()
        assert "error" not in second.result()


@pytest.mark.parametrize(
    ("options", "limit", "words"),
    [
        # 3.12 does not know the words for number 37 yet.
        (["-t", "20"], ["--max-duration", "5"], "37|duration exceeds the server's maximum"),
        (["-C", "nosuch"], [], "congestion"),
    ],
)
def test_a_test_beyond_the_limits_is_refused_in_iperf3s_words(
    serve: Serve, options: list[str], limit: list[str], words: str
) -> None:
    report = iperf3(serve(*limit), *options)
    assert re.search(words, report["error"].lower())


def test_a_rate_limit_holds_for_all_streams_together(serve: Serve) -> None:
    server = serve("--max-rate", "80000000")
    for way in ([], ["-R"]):
        iperf3(server, "-t", "2", "-P", "2", *way)
        direction = server.next_event("test finished")["directions"][0]
        assert 0 < direction["bits_per_second"] < 88e6


def takes_connections(server: Server) -> bool:
    try:
        socket.create_connection(("127.0.0.1", server.ports["--iperf3"])).close()
    except ConnectionRefusedError:
        return False
    return True


def test_a_running_test_finishes_after_sigterm(limited: Serve) -> None:
    """The client ends its test when the server has begun to drain."""
    server = limited("[limits]\nidle_s = 60\nstep_s = 60\n")
    address = ("127.0.0.1", server.ports["--iperf3"])
    cookie = b"d" * 36 + b"\0"
    params = b'{"tcp":true,"num":3000,"parallel":1,"len":1000}'
    with (
        socket.create_connection(address, PATIENCE_S) as control,
        socket.create_connection(address, PATIENCE_S) as data,
    ):
        control.sendall(cookie + struct.pack(">I", len(params)) + params)
        assert control.recv(1) + control.recv(1) == b"\x09\x0a"
        data.sendall(cookie)
        assert control.recv(1) + control.recv(1) == b"\x01\x02"
        data.sendall(bytes(1000))
        server.process.send_signal(signal.SIGTERM)
        assert server.next_event("draining")["tests"] == 1
        # Each event loop closes its own listeners, some time after the drain was begun.
        until(lambda: not takes_connections(server), "the listeners are closed")
        data.sendall(bytes(2000))
        control.sendall(b"\x04")
        assert control.recv(1) == b"\x0d"
        stream = b'{"id":1,"bytes":3000,"retransmits":0,"jitter":0,"errors":0,"packets":0}'
        cpu = b'"cpu_util_total":0,"cpu_util_user":0,"cpu_util_system":0'
        results = b'{%b,"streams":[%b]}' % (cpu, stream)
        control.sendall(struct.pack(">I", len(results)) + results)
        assert server.next_event("test finished")["directions"][0]["bytes"] == 3000
    assert server.process.wait(PATIENCE_S) == 0


def test_connections_made_before_the_drain_are_served(serve: Serve) -> None:
    """Closing a listener resets connections that the kernel has taken and nobody has accepted."""
    server = serve("--loops", "1", protocols=("--iperf3", "--http"))
    with lasting_test(server, "-b", "1M"):
        server.process.send_signal(signal.SIGSTOP)
        early = [socket.create_connection(("127.0.0.1", server.ports["--http"])) for _ in range(20)]
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGCONT)
        for peer in early:
            peer.settimeout(PATIENCE_S)
            peer.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert peer.recv(65536).startswith(b"HTTP/1.1 200 OK")
            peer.close()


def test_tests_that_outlast_the_drain_are_reported(serve: Serve) -> None:
    server = serve("--drain", "0")
    with ThreadPoolExecutor(1) as pool:
        test = pool.submit(iperf3, server, "-t", "300", "-b", "1M")
        until(lambda: server_is_testing(server), "the test runs")
        server.process.send_signal(signal.SIGTERM)
        assert "server has terminated" in test.result()["error"]


@pytest.mark.parametrize(
    "options",
    [[], ["-P", "3"], ["-l", "200"], ["-O", "1"], ["--udp-counters-64bit"]],
    ids=" ".join,
)
@pytest.mark.parametrize("way", ["", "-R", "--bidir"], ids=["forward", "reverse", "both"])
def test_udp_keeps_its_rate_and_counts_datagrams(
    serve: Serve, options: list[str], way: str
) -> None:
    server = serve()
    before = datagrams_without_room()
    ways = [way] if way else []
    report = iperf3(server, "-u", "-b", "20M", "-t", "2", *options, *ways)
    assert "error" not in report
    streams = 3 if "-P" in options else 1
    counted = directions(server.next_event("test finished"))
    for direction in counted.values():
        assert 0 < direction["bits_per_second"] < 22e6 * streams
        assert direction["lost"] <= direction["packets"]
    end = report["end"]
    if way == "" and "-O" not in options:
        # Of the last datagrams a server cannot know that its socket had no room for them.
        missing = end["sum"]["packets"] - counted["receives"]["packets"]
        assert 0 <= missing <= datagrams_without_room() - before
        assert end["sum"]["lost_packets"] == counted["receives"]["lost"]
        assert counted["receives"]["jitter_ms"] == pytest.approx(end["sum"]["jitter_ms"], abs=1e-6)
    if way == "-R" and "-O" not in options:
        assert 0 < end["sum"]["packets"] <= counted["sends"]["packets"]


def datagrams_without_room() -> int:
    """Return the datagrams that the kernel has dropped so far for lack of socket buffer."""
    lines = Path("/proc/net/snmp").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("Udp:"))
    return int(dict(zip(names, values, strict=True))["RcvbufErrors"])


def test_udp_loss_is_what_did_not_arrive_and_jitter_follows_the_times_of_sending(
    serve: Serve,
) -> None:
    """The client skips every fourth number, as if the path had lost it.

    By their headers every second datagram was sent 1,000 s later than its neighbours: next to
    that, the time in which they really arrive does not count.
    """
    server = serve()
    address = ("127.0.0.1", server.ports["--iperf3"])
    cookie = b"u" * 36 + b"\0"
    params = b'{"udp":true,"time":5,"parallel":1,"len":100,"bandwidth":1000000}'
    with (
        socket.create_connection(address, PATIENCE_S) as control,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as data,
    ):
        data.settimeout(PATIENCE_S)
        control.sendall(cookie + struct.pack(">I", len(params)) + params)
        assert control.recv(1) + control.recv(1) == b"\x09\x0a"
        data.sendto(b"9876", address)
        assert data.recv(4) == b"6789"
        assert control.recv(1) + control.recv(1) == b"\x01\x02"
        for index, number in enumerate(n for n in range(1, 101) if n % 4):
            header = struct.pack(">III", 1000 * (index % 2), 0, number)
            data.sendto(header.ljust(100, b"\0"), address)
        control.sendall(b"\x04")
        assert control.recv(1) == b"\x0d"
        results = b'{"cpu_util_total":0,"cpu_util_user":0,"cpu_util_system":0,"streams":[]}'
        control.sendall(struct.pack(">I", len(results)) + results)
        direction = server.next_event("test finished")["directions"][0]
    assert (direction["packets"], direction["lost"], direction["bytes"]) == (99, 24, 7500)
    assert direction["jitter_ms"] == pytest.approx(1e6 * (1 - (15 / 16) ** 74), rel=0.01)


def test_udp_tests_of_one_address_begin_one_after_the_other(serve: Serve) -> None:
    server = serve()
    run = ["-u", "-b", "5M", "-t", "2", "-P", "2"]
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda _: iperf3(server, *run), range(4)))
    for report in reports:
        assert [stream["udp"]["packets"] > 0 for stream in report["end"]["streams"]] == [True, True]
