# SPDX-License-Identifier: Apache-2.0
"""Collect what our speed-test server serves at /metrics, under the same names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import pairwise

from wirespeed.kpi.interface import (
    NS,
    NUMBER,
    OCTETS,
    Metric,
    Missing,
    Name,
    Source,
    Unit,
    Values,
    counter,
    gauge,
)
from wirespeed.remote.interface import LOCALHOST, Runner
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.processes import epoch_of

DEADLINE_S = 1.0
# The kernel cuts a process's name at 15 characters.
_PROGRAM, _FLAG = "wirespeed-speed", "--metrics"
_PATH, _PREFIX = "/metrics", "wirespeed_speedtest_"
_ANSWER_MAX = 1 << 20
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
        found: list[Source] = []
        for pid in pids:
            for address in _addresses(runner.read(f"/proc/{pid}/cmdline")):
                number = len(found) + 1
                label = "server" if number == 1 else f"server#{number}"
                found.append(_Server(f"speedtest {label}", runner, pid, label, address))
        return found or Missing(
            f"no wirespeed-speedtest with {_FLAG} ADDRESS:PORT runs ({len(pids)} without)"
        )


def _addresses(cmdline: str) -> Iterator[tuple[str, int]]:
    """Yield the addresses that the command line says. The port 0 says none."""
    words = cmdline.split("\0")
    given = [after for word, after in pairwise(words) if word == _FLAG]
    given += [word.partition("=")[2] for word in words if word.startswith(f"{_FLAG}=")]
    for each in given:
        host, _, port = each.rpartition(":")
        if port.isdecimal() and int(port):
            yield host.strip("[]"), int(port)


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
    connection = HTTPConnection(asked, port, timeout=DEADLINE_S)
    try:
        connection.request("GET", _PATH)
        answer = connection.getresponse()
        text = answer.read(_ANSWER_MAX)
    except (OSError, HTTPException) as fault:
        raise NoAnswer(f"http://{host}:{port}{_PATH}: {fault}") from fault
    finally:
        connection.close()
    if answer.status != 200:
        raise NoAnswer(f"http://{host}:{port}{_PATH}: answered {answer.status}")
    return text.decode(errors="replace")


def parse(server: str, text: str) -> Mapping[Name, int]:
    """Return the series of a page. Names that are not in the table are omitted."""
    units = _COUNTED | _LEVELS | _LOOP_COUNTED | _LOOP_LEVELS
    found: dict[Name, int] = {}
    for printed, loop, value in _SAMPLE.findall(text):
        name = printed.removesuffix("_total")
        if name in units:
            labels = (server, loop) if loop else (server,)
            found[f"speedtest_{name}", labels] = _stored(units[name], float(value))
    return found


def _stored(unit: Unit, value: float) -> int:
    return round(value * 1e9) if unit is NS else int(value)
