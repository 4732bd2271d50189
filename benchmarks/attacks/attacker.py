# SPDX-License-Identifier: Apache-2.0
"""Run one attacker: a process that keeps its connections as busy as possible.

`python -m benchmarks.attacks.attacker NAME OVER PORT CONNECTIONS FIRST_SOURCE`, on 127.0.0.1, until
SIGTERM or the end of its parent. It prints two lines of JSON, when all connections have been tried
and at its end: `opened`, `refused`, `units`, `sent_bytes`, `received_bytes`. It comes from
127.1.0.FIRST_SOURCE and the addresses after it. Each opens at most as many connections as a server
may allow one address.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import ssl
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache

from benchmarks.attacks.kinds import ATTACKS, CONNECTIONS_OF_ONE, H2, HTTPS, UDP, Attack

PATIENCE_S = 5.0
READ_BYTES = 1 << 18
DRIP_S = 1.0
BOTH = selectors.EVENT_READ | selectors.EVENT_WRITE
TRY_AGAIN = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


@dataclass(slots=True)
class Counts:
    opened: int = 0
    refused: int = 0
    units: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0

    def tell(self) -> None:
        print(json.dumps(asdict(self)), flush=True)


@dataclass(frozen=True, slots=True)
class Target:
    attack: Attack
    over: str
    port: int


@cache
def context(over: str) -> ssl.SSLContext:
    made = ssl.create_default_context()
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    made.set_alpn_protocols(["h2" if over == H2 else "http/1.1"])
    return made


class Link:
    """One connection, reopened whenever it has ended."""

    def __init__(self, target: Target, source: str, counts: Counts) -> None:
        self.target, self.source, self.counts = target, source, counts
        self.attack = target.attack
        self.buffer = bytearray(READ_BYTES)
        self.socket: socket.socket | None = None

    def open(self, selector: selectors.BaseSelector) -> None:
        self.left = memoryview(self.attack.opening())
        self.opening, self.units = True, 0
        self.since = self.dripped = time.monotonic()
        where = ("127.0.0.1", self.target.port)
        try:
            link = socket.create_connection(where, PATIENCE_S, (self.source, 0))
            # TLS handshakes are sent by hand where they are the attack.
            wrapped = self.target.over in (HTTPS, H2) and not self.attack.until_answered
            if wrapped:
                link = context(self.target.over).wrap_socket(link)
        except OSError:
            self.counts.refused += 1
            return
        link.setblocking(False)
        self.counts.opened += 1
        self.socket = link
        selector.register(link, self.wanted(), self)

    def wanted(self) -> int:
        sends = bool(self.left) and not self.attack.slowly
        return BOTH if sends or self.attack.chunk else selectors.EVENT_READ

    def close(self, selector: selectors.BaseSelector) -> None:
        if self.socket is not None:
            selector.unregister(self.socket)
            self.socket.close()
            self.socket = None

    def turn(self, selector: selectors.BaseSelector, mask: int) -> None:
        """Send and read what is possible at once; reopen the connection where it has ended."""
        try:
            if mask & selectors.EVENT_READ and self.read():
                raise ConnectionError
            if mask & selectors.EVENT_WRITE:
                self.write(len(self.left))
                if self.socket is not None and not self.left and not self.attack.chunk:
                    selector.modify(self.socket, selectors.EVENT_READ, self)
        except OSError:
            self.close(selector)
            self.open(selector)

    def read(self) -> bool:
        """Read. Return whether the connection has ended, or has done its part."""
        assert self.socket is not None
        count = -1
        with suppress(*TRY_AGAIN):
            while count := self.socket.recv_into(self.buffer):
                self.counts.received_bytes += count
                if self.attack.until_answered:
                    self.counts.units += self.attack.units
                    return True
        return count == 0

    def write(self, most: int) -> None:
        assert self.socket is not None
        with suppress(*TRY_AGAIN):
            if not self.left and self.attack.chunk:
                self.left = memoryview(self.attack.chunk(self.units))
                self.opening, most = False, len(self.left)
            count = self.socket.send(self.left[:most])
            self.left = self.left[count:]
            self.counts.sent_bytes += count
            if not self.left and not self.opening:
                self.units += self.attack.units
                self.counts.units += self.attack.units

    def tick(self, selector: selectors.BaseSelector, now: float) -> None:
        """Do what is due by the clock."""
        over = self.attack.lasts_s is not None and now >= self.since + self.attack.lasts_s
        if self.socket is None or over:
            self.close(selector)
            self.open(selector)
        elif self.attack.slowly and self.left and now >= self.dripped + DRIP_S:
            self.dripped = now
            try:
                self.write(1)
            except OSError:
                self.close(selector)


def flood_tcp(target: Target, connections: int, first_source: int, counts: Counts) -> None:
    with selectors.DefaultSelector() as selector:
        links = []
        for number in range(connections * target.attack.connections_each):
            last = first_source + number // CONNECTIONS_OF_ONE
            links.append(Link(target, f"127.1.{last >> 8}.{last & 255}", counts))
            links[-1].open(selector)
        counts.tell()
        ticked, parent = time.monotonic(), os.getppid()
        while os.getppid() == parent:
            for key, mask in selector.select(0.1):
                key.data.turn(selector, mask)
            now = time.monotonic()
            if now >= ticked + 0.1:
                ticked = now
                for link in links:
                    link.tick(selector, now)


def flood_udp(target: Target, connections: int, first_source: int, counts: Counts) -> None:
    """Run a test, so that the server has had sockets for this address; then send datagrams."""
    source = f"127.1.0.{first_source}"
    command = ["iperf3", "-c", "127.0.0.1", "-p", str(target.port), "-B", source]
    subprocess.run([*command, "-u", "-b", "1M", "-t", "1"], check=False, capture_output=True)
    assert target.attack.chunk is not None
    payload = target.attack.chunk(0)
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(connections)]
    for one in sockets:
        one.bind((source, 0))
        one.connect(("127.0.0.1", target.port))
        counts.opened += 1
    counts.tell()
    parent = os.getppid()
    while os.getppid() == parent:
        for one in sockets:
            # Without a listener, the kernel reports that to the next call.
            with suppress(OSError):
                counts.sent_bytes += one.send(payload)
            counts.units += 1


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    name, over, port, connections, first_source = sys.argv[1:]
    counts = Counts()
    signal.signal(signal.SIGTERM, stop)
    flood = flood_udp if over == UDP else flood_tcp
    try:
        flood(Target(ATTACKS[name], over, int(port)), int(connections), int(first_source), counts)
    except KeyboardInterrupt:
        counts.tell()
    return 0


if __name__ == "__main__":
    sys.exit(main())
