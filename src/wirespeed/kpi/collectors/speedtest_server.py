# SPDX-License-Identifier: Apache-2.0
"""Collect what our speed-test server serves at /metrics, under the same names."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from io import BytesIO
from itertools import pairwise
from typing import cast

from wirespeed.kpi.interface import (
    NS,
    NUMBER,
    OCTETS,
    Metric,
    Missing,
    Name,
    Source,
    Values,
    counter,
    gauge,
)
from wirespeed.model.numbered import numbered
from wirespeed.remote.interface import LOCALHOST, Runner
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.listeners import listeners
from wirespeed.sources.processes import epoch_of

DEADLINE_S = 1.0
# The kernel cuts a process's name at 15 characters.
_PROGRAM, _FLAG = "wirespeed-speed", "--metrics"
_PATH, _PREFIX = "/metrics", "wirespeed_speedtest_"
_ANSWER_MAX = 1 << 20
_BEYOND = 1 << 63
_SAMPLE = re.compile(rf'^{_PREFIX}(\w+?)(?:\{{loop="(\d+)"\}})? ([0-9.e+-]+)$', re.MULTILINE)
# Series of the whole server, and of each event loop: kind and unit by name without prefix.
_COUNTED = {
    **dict.fromkeys((
        "connections_accepted", "connections_refused", "handshakes_failed", "http2_floods",
        "bodies_refused", "bodies_cut", "tests_finished", "tests_failed", "tests_refused",
        "results_kept", "results_unwritten", "log_lines_suppressed", "log_lines_dropped",
    ), NUMBER),
    **dict.fromkeys(("received_bytes", "sent_bytes", "refused_bytes", "test_bytes"), OCTETS),
}  # fmt: skip
_LEVELS = {
    **dict.fromkeys(("tests_running", "tests_waiting", "results_spooled", "connections"), NUMBER),
    **dict.fromkeys(("results_bytes", "results_spool_bytes"), OCTETS),
}
_LOOP_COUNTED = {"turns": NUMBER, "long_turns": NUMBER}
_LOOP_LEVELS = {"longest_turn_seconds": NS, "longest_turn_delay_seconds": NS}


def _metrics() -> Iterator[Metric]:
    for make, labels, units in (
        (counter, "server", _COUNTED), (gauge, "server", _LEVELS),
        (counter, "server loop", _LOOP_COUNTED), (gauge, "server loop", _LOOP_LEVELS),
    ):  # fmt: skip
        for name, unit in units.items():
            words = name.replace("_", " ").removesuffix(" bytes").removesuffix(" seconds")
            yield make(f"speedtest_{name}", unit, labels, f"Speed-test server: {words}", _PATH)


class SpeedtestCollector:
    name = "speedtest"
    cheap = False
    metrics = tuple(_metrics())

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        if runner.address != LOCALHOST:
            return Missing(f"{_PATH} of a server is read on its own machine alone")
        names = runner.read_many(runner.glob("/proc/[0-9]*/comm"))
        pids = sorted(
            int(path.split("/")[2])
            for path, name in names.items()
            if isinstance(name, str) and name.strip() == _PROGRAM
        )
        found: list[_Server] = []
        for pid in pids:
            # Any user may start a program of that name: a command line alone proves nothing.
            given = tuple(_addresses(runner.read(f"/proc/{pid}/cmdline")))
            own = listeners(runner, pid) if given else frozenset()
            for address in (each for each in given if each in own):
                label = numbered("server", {each.server for each in found})
                found.append(_Server(f"speedtest {label}", runner, pid, label, address))
        return found or Missing(
            f"no wirespeed-speedtest listens on its {_FLAG} ADDRESS:PORT ({len(pids)} without); "
            "only root sees the sockets of other users"
        )


def _addresses(cmdline: str) -> Iterator[tuple[str, int]]:
    """Yield the addresses on the command line, without port 0, which is any."""
    words = cmdline.split("\0")
    given = [after for word, after in pairwise(words) if word == _FLAG]
    given += [word.partition("=")[2] for word in words if word.startswith(f"{_FLAG}=")]
    for each in given:
        host, _, port = each.rpartition(":")
        if port.isdecimal() and int(port):
            yield host.strip("[]"), int(port)


class _Received:
    """Stands in for the socket of an answer that has been received."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets

    def makefile(self, _: str) -> BytesIO:
        return BytesIO(self._octets)


@dataclass(frozen=True, slots=True)
class _Server:
    name: str
    runner: Runner
    pid: int
    server: str
    address: tuple[str, int]

    def read(self) -> Values:
        epoch = epoch_of(self.runner, self.pid)
        return Values(epoch, parse(self.server, _asked(*self.address)))

    def close(self) -> None: ...


def _asked(host: str, port: int) -> str:
    """Return the page. Raises NoAnswer."""
    # An address that means all of them is reached by loopback.
    asked = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    try:
        received = _Received(_exchanged(asked, port))
        answer = HTTPResponse(cast(socket.socket, received), method="GET")
        answer.begin()
        text = answer.read()
    except (OSError, HTTPException) as fault:
        raise NoAnswer(f"http://{host}:{port}{_PATH}: {fault}") from fault
    if answer.status != 200:
        raise NoAnswer(f"http://{host}:{port}{_PATH}: answered {answer.status}")
    return text.decode(errors="replace")


def _exchanged(host: str, port: int) -> bytes:
    """Return all octets of the answer. Raises OSError, also after DEADLINE_S in all."""
    end_s = time.monotonic() + DEADLINE_S
    # A socket may listen on an address of another host (IP_FREEBIND). To come from there fails.
    source = host, 0
    with socket.create_connection((host, port), DEADLINE_S, source_address=source) as connection:
        name = f"[{host}]" if ":" in host else host
        request = f"GET {_PATH} HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        received = b""
        while len(received) <= _ANSWER_MAX:
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                raise TimeoutError(f"no whole answer within {DEADLINE_S:g} s")
            connection.settimeout(left_s)
            piece = connection.recv(1 << 16)
            if not piece:
                return received
            received += piece
    raise OSError(f"answered more than {_ANSWER_MAX} octets")


def parse(server: str, text: str) -> Mapping[Name, int]:
    """Return the series of a page. Names that are not in the table are omitted.

    Raises NoAnswer for a value that is not finite or has more than 64 bits.
    """
    units = _COUNTED | _LEVELS | _LOOP_COUNTED | _LOOP_LEVELS
    found: dict[Name, int] = {}
    for printed, loop, value in _SAMPLE.findall(text):
        name = printed.removesuffix("_total")
        if name in units:
            labels = (server, loop) if loop else (server,)
            scaled = float(value) * (1e9 if units[name] is NS else 1)
            if not abs(scaled) < _BEYOND:
                raise NoAnswer(f"{printed} is {value}, which has more than 64 bits")
            found[f"speedtest_{name}", labels] = round(scaled)
    return found
