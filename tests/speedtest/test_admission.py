# SPDX-License-Identifier: Apache-2.0
"""Test admission and limits while some clients try to keep the others out.

Addresses of 127.0.0.0/8 are clients of their own. Tests count places, turns and bytes, not times.
"""

from __future__ import annotations

import http.client
import itertools
import re
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from .conftest import PATIENCE_S, Serve, Server
from .test_http_limits import get
from .test_iperf3 import iperf3
from .test_iperf3_faults import PARAMS, framed, goodbye
from .test_ndt7 import UPLOAD, upgrade

PARAM_EXCHANGE, CREATE_STREAMS, ACCESS_DENIED = b"\x09", b"\x0a", b"\xff"
SERVER_ERROR = b"\xfe"
SMALL = 64 * 1024
numbers = itertools.count()


def connect(server: Server, source: str, protocol: str = "--iperf3") -> socket.socket:
    port = server.ports[protocol]
    return socket.create_connection(("127.0.0.1", port), PATIENCE_S, (source, 0))


def cookie() -> bytes:
    return f"{next(numbers):036d}".encode() + b"\0"


def control(server: Server, source: str, key: bytes = b"") -> socket.socket:
    """Connect a client up to its parameters: it has CREATE_STREAMS, or waits in the queue."""
    peer = connect(server, source)
    peer.sendall(key or cookie())
    assert peer.recv(1) == PARAM_EXCHANGE
    peer.sendall(framed(PARAMS))
    return peer


def running_then_queued(
    server: Server, source: str, running: int, queued: int
) -> list[socket.socket]:
    """Connect clients of one address in a known order: event loops run in parallel."""
    peers = []
    for number in range(running + queued):
        peers.append(control(server, source))
        if number < running:
            assert peers[-1].recv(1) == CREATE_STREAMS
        else:
            server.next_event("test queued")
    return peers


@contextmanager
def held(peers: list[socket.socket]) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [stack.enter_context(peer) for peer in peers]


@pytest.mark.parametrize("attacker", ["127.0.0.1", "127.0.0.2"])
def test_connections_that_send_only_a_cookie_take_no_place(limited: Serve, attacker: str) -> None:
    server = limited("[limits]\ntests = 2\nqueue = 20\n")
    with held([connect(server, attacker) for _ in range(22)]) as peers:
        for peer in peers:
            peer.sendall(cookie())
            assert peer.recv(1) == PARAM_EXCHANGE
        assert "error" not in iperf3(server, "-n", "1M")
    events = [event["event"] for event in server.events.queue]
    assert "test queued" not in events


@pytest.mark.parametrize("attacker", ["127.0.0.1", "127.0.0.2"])
def test_connections_that_say_nothing_make_room_for_those_that_do(
    limited: Serve, attacker: str
) -> None:
    """This also holds behind one address: the victim's connections displace waiting ones."""
    server = limited("[limits]\npending_per_client = 8\nconnections_per_client = 16\n")
    with held([connect(server, attacker) for _ in range(64)]) as peers:
        assert "error" not in iperf3(server, "-n", "1M", "-P", "4")
        closed = sum(goodbye(peer) == b"" for peer in peers[:56])
        assert closed == 56


def test_idle_connections_of_http_make_room_too(limited: Serve) -> None:
    server = limited("[limits]\nconnections_per_client = 4\n", protocols=("--http",))
    links = [http.client.HTTPConnection("127.0.0.1", server.ports["--http"]) for _ in range(12)]
    for link in links:
        assert get(link, "/health").read() == b"ok\n"
    for link in links:
        link.close()


def test_many_places_of_one_client_are_one_turn_for_another(
    limited: Serve,
) -> None:
    server = limited("[limits]\ntests = 2\nqueue = 40\nidle_s = 60\nstep_s = 60\n")
    with (
        held(running_then_queued(server, "127.0.0.2", 2, 20)) as greedy,
        control(server, "127.0.0.1") as victim,
    ):
        assert server.next_event("test queued")["ahead"] == 1
        greedy[0].close()
        assert victim.recv(1) == CREATE_STREAMS, "the first slot that became free"


def test_a_client_that_reconnects_gets_its_turn(limited: Serve) -> None:
    server = limited("[limits]\ntests = 1\nqueue = 8\nidle_s = 60\nstep_s = 60\n")
    with held(running_then_queued(server, "127.0.0.2", 1, 7)) as greedy:
        for _ in range(3):
            control(server, "127.0.0.1").close()
            server.next_event("test queued")
        with control(server, "127.0.0.1") as victim:
            server.next_event("test queued")
            for peer in greedy:
                peer.close()
            assert victim.recv(1) == CREATE_STREAMS


def test_the_largest_client_of_a_full_queue_loses_its_last_place(
    limited: Serve,
) -> None:
    server = limited("[limits]\ntests = 1\nqueue = 4\nidle_s = 60\nstep_s = 60\n")
    greedy = running_then_queued(server, "127.0.0.2", 1, 4)
    with held(greedy), control(server, "127.0.0.1") as victim:
        refused = server.next_event("test refused")
        assert refused["client"] == f"127.0.0.2:{greedy[4].getsockname()[1]}"
        assert goodbye(greedy[4]) == ACCESS_DENIED
        # One more of the greedy client's finds no place: it has the most already.
        with control(server, "127.0.0.2") as surplus:
            assert goodbye(surplus) == ACCESS_DENIED
        greedy[0].close()
        assert greedy[1].recv(1) == CREATE_STREAMS, (
            "it has waited for longer, and has no other test"
        )
        greedy[1].close()
        assert victim.recv(1) == CREATE_STREAMS


@pytest.mark.parametrize("streams", [0, 1], ids=["no stream", "a silent stream"])
def test_a_silent_test_gives_its_slot_to_a_stock_client_that_waits(
    limited: Serve, streams: int
) -> None:
    server = limited("[limits]\ntests = 1\nidle_s = 5\n")
    key = cookie()
    with control(server, "127.0.0.1", key) as silent, ExitStack() as stack:
        assert silent.recv(1) == CREATE_STREAMS
        for _ in range(streams):
            stack.enter_context(connect(server, "127.0.0.1")).sendall(key)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(iperf3, server, "-n", "1M")
            server.next_event("test queued")
            failed = server.next_event("test failed")
            assert failed["client"] == f"127.0.0.1:{silent.getsockname()[1]}"
            assert "error" not in waiting.result()
        code = 144 if streams else 110
        assert goodbye(silent)[-9:] == SERVER_ERROR + struct.pack(">ii", code, 0)


def test_a_slow_test_is_not_a_silent_one(limited: Serve) -> None:
    """A block each 2 s at this rate, and 1 s without one would be silence."""
    server = limited("[limits]\nidle_s = 1\n")
    report = iperf3(server, "-t", "5", "-b", "512K", "-l", "128K")
    assert "error" not in report


def test_subscribers_behind_one_address_all_test_at_once(serve: Serve) -> None:
    """Test the defaults with an address that many subscribers share (CGNAT)."""
    server = serve()
    with ThreadPoolExecutor(12) as pool:
        reports = list(
            pool.map(lambda _: iperf3(server, "-t", "1", "-b", "1M", "-P", "4"), range(12))
        )
    assert [report.get("error") for report in reports] == [None] * 12


def test_ndt7_waits_its_turn_and_is_refused_in_http(limited: Serve) -> None:
    server = limited(
        "[limits]\ntests = 1\nqueue = 2\nidle_s = 60\nstep_s = 60\n",
        protocols=("--http", "--iperf3"),
    )
    with control(server, "127.0.0.3") as running:
        assert running.recv(1) == CREATE_STREAMS
        greedy = []
        for _ in range(2):
            greedy.append(connect(server, "127.0.0.2", "--http"))
            greedy[-1].sendall(upgrade(UPLOAD))
            server.next_event("test queued")
        with held(greedy), control(server, "127.0.0.1") as victim:
            answer = goodbye(greedy[1])
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert re.search(rb"\r\nretry-after: \d+\r\n", answer.lower())
            running.close()
            assert greedy[0].recv(12) == b"HTTP/1.1 101", "it came first, and has no test either"
            greedy[0].close()
            assert victim.recv(1) == CREATE_STREAMS
