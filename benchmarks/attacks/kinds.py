# SPDX-License-Identifier: Apache-2.0
"""List the attacks on a speed-test server: data, protocol, number of connections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.attacks import octets as made

IPERF3, HTTP, HTTPS, H2, UDP = "iperf3", "http", "https", "h2", "udp"
# Connections that a server may allow one address; attackers with more have several addresses.
CONNECTIONS_OF_ONE = 64
COOKIE = b"a" * 36 + b"\0"


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack, as one connection performs it."""

    over: tuple[str, ...]
    chunk: Callable[[int], bytes] | None = None
    """Data sent repeatedly after the opening, given the units sent so far; None: nothing."""
    units: int = 0
    """Units in a chunk."""
    opening: Callable[[], bytes] = bytes
    """Data sent once."""
    connections_each: int = 1
    lasts_s: float | None = None
    """Time in s until the connection is reopened; None: only after the server has closed it."""
    # A byte of the opening each second instead of all at once.
    slowly: bool = False
    # Reopened once the server has answered.
    until_answered: bool = False


def over_h1(chunk: Callable[[int], bytes], units: int) -> Attack:
    return Attack((HTTP, HTTPS), chunk, units)


def over_h2(chunk: Callable[[int], bytes], units: int) -> Attack:
    return Attack((H2,), chunk, units, made.h2_opening)


# Chunks have some hundred kilobytes: few calls, so that the attack costs its sender little.
ATTACKS = {
    "pipelined GETs": over_h1(lambda _: made.pipelined_gets(4096), 4096),
    "GETs over HTTP/2": over_h2(lambda sent: made.h2_gets(sent, 64), 64),
    "uploads of 64 KiB": over_h1(lambda _: made.small_uploads(16), 16),
    "uploads of 64 KiB over HTTP/2": over_h2(lambda sent: made.h2_uploads(sent, 16), 16),
    "iperf3 cookies": Attack(
        (IPERF3,), opening=lambda: COOKIE, connections_each=22, lasts_s=1.0, units=1
    ),
    "fresh ids": over_h1(lambda sent: made.fresh_ids(sent, 4096), 4096),
    "fresh ids over HTTP/2": over_h2(
        lambda sent: made.h2_uploads(sent, 64, size=1, with_ids=True), 64
    ),
    "telemetry": over_h1(lambda _: made.telemetry(256), 256),
    "WebSocket pings": Attack(
        (HTTP, HTTPS), lambda _: made.web_socket_pings(2048), 2048, made.web_socket_upgrade
    ),
    "rapid reset": over_h2(lambda sent: made.h2_rapid_resets(sent, 1024), 1024),
    "HTTP/2 pings": over_h2(lambda _: made.h2_pings(8192), 8192),
    "HTTP/2 settings": over_h2(lambda _: made.h2_settings(8192), 8192),
    "HTTP/2 window updates": over_h2(lambda _: made.h2_window_updates(8192), 8192),
    "slow heads": Attack(
        (HTTP, HTTPS), opening=lambda: made.get("/"), connections_each=125, slowly=True
    ),
    "idle connections": Attack((IPERF3, HTTP), connections_each=1250),
    "datagrams after a test": Attack((UDP,), lambda _: bytes(1400), 1),
    "TLS handshakes": Attack(
        (HTTPS,), opening=made.client_hello, connections_each=8, until_answered=True, units=1
    ),
}
