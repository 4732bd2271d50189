# SPDX-License-Identifier: Apache-2.0
"""Test admission and limits while some clients try to keep the others out.

Addresses of 127.0.0.0/8 are clients of their own. Tests count places, turns and bytes, not times.
"""

from __future__ import annotations

import http.client
import itertools
import json
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from .certificates import Certificate, make_certificate
from .conftest import PATIENCE_S, Server
from .h2_client import H2Client
from .test_http_limits import get
from .test_iperf3 import iperf3
from .test_iperf3_faults import PARAMS, framed, goodbye
from .test_ndt7 import UPLOAD, upgrade

Serve = Callable[..., Server]
PARAM_EXCHANGE, CREATE_STREAMS, ACCESS_DENIED = b"\x09", b"\x0a", b"\xff"
SERVER_ERROR = b"\xfe"
SMALL = 64 * 1024
numbers = itertools.count()


@pytest.fixture
def limited(serve: Serve, tmp_path: Path) -> Callable[..., Server]:
    def start(toml: str, *options: str, protocols: tuple[str, ...] = ("--iperf3",)) -> Server:
        path = tmp_path / "speedtest.toml"
        path.write_text(toml)
        return serve("--config", str(path), *options, protocols=protocols)

    return start


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
def test_connections_that_send_only_a_cookie_take_no_place(
    limited: Callable[..., Server], attacker: str
) -> None:
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
    limited: Callable[..., Server], attacker: str
) -> None:
    """This also holds behind one address: the victim's connections displace waiting ones."""
    server = limited("[limits]\npending_per_client = 8\nconnections_per_client = 16\n")
    with held([connect(server, attacker) for _ in range(64)]) as peers:
        assert "error" not in iperf3(server, "-n", "1M", "-P", "4")
        closed = sum(goodbye(peer) == b"" for peer in peers[:56])
        assert closed == 56


def test_idle_connections_of_http_make_room_too(limited: Callable[..., Server]) -> None:
    server = limited("[limits]\nconnections_per_client = 4\n", protocols=("--http",))
    links = [http.client.HTTPConnection("127.0.0.1", server.ports["--http"]) for _ in range(12)]
    for link in links:
        assert get(link, "/health").read() == b"ok\n"
    for link in links:
        link.close()


def test_many_places_of_one_client_are_one_turn_for_another(
    limited: Callable[..., Server],
) -> None:
    server = limited("[limits]\ntests = 2\nqueue = 40\nidle_s = 60\nstep_s = 60\n")
    with (
        held(running_then_queued(server, "127.0.0.2", 2, 20)) as greedy,
        control(server, "127.0.0.1") as victim,
    ):
        assert server.next_event("test queued")["ahead"] == 1
        greedy[0].close()
        assert victim.recv(1) == CREATE_STREAMS, "the first slot that became free"


def test_a_client_that_reconnects_gets_its_turn(limited: Callable[..., Server]) -> None:
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
    limited: Callable[..., Server],
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
    limited: Callable[..., Server], streams: int
) -> None:
    server = limited("[limits]\ntests = 1\nidle_s = 2\n")
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


def test_a_slow_test_is_not_a_silent_one(limited: Callable[..., Server]) -> None:
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


def test_ndt7_waits_its_turn_and_is_refused_in_http(limited: Callable[..., Server]) -> None:
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


RATE_BPS = 100_000_000


def within_the_rate(sent: Iterator[int], began: float) -> None:
    """Check that the bytes moved exceed the rate for that time by at most 1%."""
    moved = sum(sent)
    allowed = RATE_BPS / 8 * (time.monotonic() - began)
    # And what a loop may make up for, and the body on its way.
    assert 0 < moved <= allowed * 1.01 + RATE_BPS / 8 * 0.08 + SMALL, moved / allowed


@pytest.mark.parametrize("connections", [1, 16])
def test_small_uploads_keep_the_rate_on_any_number_of_connections(
    limited: Callable[..., Server], connections: int
) -> None:
    server = limited("", "--max-rate", str(RATE_BPS), protocols=("--http",))
    body, began = b"x" * SMALL, time.monotonic()

    def upload(_: int) -> int:
        link = http.client.HTTPConnection("127.0.0.1", server.ports["--http"], PATIENCE_S)
        moved = 0
        while moved < 40_000_000 / connections:
            link.request("POST", "/empty", body)
            answer = link.getresponse()
            answer.read()
            assert answer.status == 200
            moved += len(body)
        link.close()
        return moved

    with ThreadPoolExecutor(connections) as pool:
        within_the_rate(pool.map(upload, range(connections)), began)


def test_small_uploads_keep_the_rate_over_http2(
    limited: Callable[..., Server], tmp_path: Path
) -> None:
    certificate: Certificate = make_certificate(tmp_path, "server")
    server = limited("", "--max-rate", str(RATE_BPS), *certificate.options, protocols=("--https",))
    body, began, moved = b"x" * SMALL, time.monotonic(), []
    with H2Client(server.ports["--https"], certificate) as client:
        while sum(moved) < 20_000_000:
            length = ("content-length", str(SMALL))
            streams = [client.ask("POST", "/empty", length, with_body=True) for _ in range(8)]
            for stream in streams:
                client.upload(stream, body)
            for stream in streams:
                assert client.answer(stream).status == 200
                moved.append(SMALL)
    within_the_rate(iter(moved), began)


def test_small_uploads_beyond_their_allowance_need_a_slot(
    limited: Callable[..., Server],
) -> None:
    server = limited("[limits]\ntests = 1\n", protocols=("--http",))
    port = server.ports["--http"]
    first = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)
    running = get(first, "/nq/large")
    assert running.read(SMALL)
    other = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S, ("127.0.0.2", 0))
    statuses = []
    while 503 not in statuses:
        other.request("POST", "/empty", b"x" * SMALL)
        answer = other.getresponse()
        answer.read()
        statuses.append(answer.status)
    assert statuses.count(200) * SMALL == 16 << 20
    # A latency probe has no body.
    assert get(other, "/empty").status == 200


def test_bytes_of_a_client_do_not_come_back_after_a_pause(limited: Callable[..., Server]) -> None:
    server = limited("[limits]\nclient_bytes = 3_000_000\n", protocols=("--http", "--iperf3"))
    port = server.ports["--http"]
    link = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)
    for _ in range(3):
        link.request("POST", "/empty", b"x" * 1_000_000)
        link.getresponse().read()
    refused = get(link, "/garbage?ckSize=1")
    assert refused.status == 429
    assert int(refused.headers["Retry-After"]) > 3000, "the rest of an hour"
    assert iperf3(server, "-n", "1M")["error"]
    assert "limits.client_bytes" in server.next_event("test failed")["because"]
    other = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S, ("127.0.0.2", 0))
    assert get(other, "/garbage?ckSize=1").status == 200


def test_an_iperf3_test_ends_when_its_clients_bytes_are_used_up(
    limited: Callable[..., Server],
) -> None:
    server = limited("[limits]\nclient_bytes = 20_000_000\n")
    report = iperf3(server, "-t", "20", "-b", "200M")
    assert "total required bandwidth is larger than server limit" in report["error"]


def test_results_of_one_client_are_bounded_and_do_not_keep_others_out(
    limited: Callable[..., Server],
) -> None:
    server = limited("[limits]\nresults_per_client = 3\n", protocols=("--http",))
    port = server.ports["--http"]

    def report(link: http.client.HTTPConnection) -> int:
        link.request("POST", "/results/telemetry", b"dl=1")
        answer = link.getresponse()
        answer.read()
        return answer.status

    greedy = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S, ("127.0.0.2", 0))
    assert [report(greedy) for _ in range(5)] == [200, 200, 200, 429, 429]
    assert report(http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)) == 200


def test_fresh_ids_of_one_client_displace_nobody_elses_verdict(
    limited: Callable[..., Server],
) -> None:
    server = limited("", protocols=("--http",))
    port = server.ports["--http"]
    victim = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)
    assert get(victim, "/garbage?ckSize=1&id=mine").read()
    greedy = http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S, ("127.0.0.2", 0))
    for number in range(4200):
        greedy.request("POST", f"/empty?id=x{number}", b"x")
        greedy.getresponse().read()
    victim.close()  # idle meanwhile: the server may have ended it
    assert json.loads(get(victim, "/verdict?id=mine").read())["download"]["bytes"] == 1 << 20
    assert json.loads(get(greedy, "/verdict?id=x0").read()) == {}
    assert json.loads(get(greedy, "/verdict?id=x4199").read())["upload"]["bytes"] == 1


V1 = b"PROXY TCP4 192.0.2.7 127.0.0.1 56324 80\r\n"
V2 = (
    b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"
    + socket.inet_aton("192.0.2.7")
    + socket.inet_aton("127.0.0.1")
    + struct.pack(">HH", 56324, 80)
)


@pytest.fixture
def proxied(tmp_path: Path, serve: Serve) -> Server:
    """Serve HTTP and iperf3 behind a proxy at 127.0.0.9."""
    path = tmp_path / "speedtest.toml"
    path.write_text(
        '[proxies]\ntrusted = ["127.0.0.9"]\n'
        + "".join(
            f'[[{name}]]\nlisten = "127.0.0.1:0"\nproxy_protocol = true\n'
            for name in ("http", "iperf3")
        )
    )
    return serve("--config", str(path), protocols=())


@pytest.mark.parametrize("head", [V1, V2], ids=["v1", "v2"])
def test_a_proxy_names_its_client_before_the_first_byte(proxied: Server, head: bytes) -> None:
    with connect(proxied, "127.0.0.9", "--http") as peer:
        for byte in head[:-4]:
            peer.sendall(bytes([byte]))
        peer.sendall(head[-4:] + b"GET /getIP HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        answer = goodbye(peer)
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["processedString"] == "192.0.2.7"
    with connect(proxied, "127.0.0.9") as peer:
        peer.sendall(head + cookie())
        assert peer.recv(1) == PARAM_EXCHANGE
        peer.sendall(framed(b"no json"))
        assert proxied.next_event("test failed")["client"] == "192.0.2.7:56324"


def test_proxy_headers_of_untrusted_peers_are_refused(proxied: Server) -> None:
    with connect(proxied, "127.0.0.1", "--http") as peer:
        assert goodbye(peer) == b""
    assert "proxies.trusted" in proxied.next_event("connection refused")["because"]
    with connect(proxied, "127.0.0.9", "--http") as peer:
        peer.sendall(b"GET /getIP HTTP/1.1\r\nHost: a\r\n\r\n")
        assert goodbye(peer) == b""
    assert "PROXY" in proxied.next_event("connection refused")["because"]
