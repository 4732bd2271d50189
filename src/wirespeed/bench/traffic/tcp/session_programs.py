# SPDX-License-Identifier: Apache-2.0
"""Run wirespeed-speedtest as both ends of counted TCP connections, and parse its output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from wirespeed.bench.host.programs import find_program
from wirespeed.bench.interface import BenchError
from wirespeed.bench.traffic.tcp import programs
from wirespeed.bench.traffic.tcp.clients import Client
from wirespeed.bench.traffic.tcp.ends.interface import End, Place
from wirespeed.bench.traffic.tcp.ports import CounterFile
from wirespeed.model.study.sessions import Sessions, SessionsMode
from wirespeed.model.study.tcp import Tcp

PORT = 8080
# Files of the server other than connections: of each loop, one a CPU, and all others
# (speedtest/server/src/serve/mod.rs).
FILES_OF_A_LOOP, OTHER_FILES = 3, 64
# Nothing but the host limits the connections. Held ones are silent for long.
_LIMITS = """[limits]
connections_per_client = 0
pending_per_client = 0
pending_s = 3600
step_s = 3600
"""


def sessions_server(sessions: Sessions, clients: int, end: End) -> programs.SpeedtestServer:
    """Return the server as a component of the bench, without limits for a client.

    Raises BenchError where its host allows fewer open files than it needs.
    """
    place = end.place
    check_files(place, sessions, clients)
    path = str(place.dirs.log / "speedtest.toml")
    place.host.runner.write(path, _LIMITS)
    return programs.SpeedtestServer(place, ["--config", path, "--http", f"0.0.0.0:{PORT}"])


def sessions_clients(
    sessions: Sessions, tcp: Tcp, hosts: Sequence[tuple[End, str]]
) -> tuple[Client, ...]:
    """Return the client processes. hosts: each client's end, and the server's address for it."""
    shares = share_out(sessions.connections, len(hosts))
    return tuple(
        _client(end.place, end, [f"{address}:{PORT}", *_words(sessions, tcp, share)])
        for (end, address), share in zip(hosts, shares, strict=True)
    )


def share_out(connections: int, clients: int) -> tuple[int, ...]:
    """Return the connections of each client."""
    each, left = divmod(connections, clients)
    return tuple(each + (number < left) for number in range(clients))


def _client(place: Place, end: End, words: Sequence[str]) -> Client:
    program = find_program(place.host.runner, programs.SPEEDTEST)
    log = str(place.dirs.log / f"{end.name}.json")
    return Client(end, (program, "sessions", *words), log, place.cpus)


def _words(sessions: Sessions, tcp: Tcp, share: int) -> Iterator[str]:
    yield from ("--time", str(tcp.seconds), "--parallel", str(sessions.opening))
    if sessions.mode is SessionsMode.RATE:
        yield from ("--omit", str(tcp.omit_s))
    else:
        yield from ("--hold", str(share))


def check_files(place: Place, sessions: Sessions, clients: int) -> None:
    """Raise BenchError where the hard limit of open files is below the server's connections."""
    runner = place.host.runner
    most = runner.run(["sh", "-c", "ulimit -Hn"]).stdout.strip()
    concurrent = sessions.mode is SessionsMode.CONCURRENT
    connections = sessions.connections if concurrent else clients * sessions.opening
    wanted = connections + FILES_OF_A_LOOP * len(place.cpus) + OTHER_FILES
    if most != "unlimited" and int(most) < wanted:
        key = "sessions.connections" if concurrent else "sessions.opening"
        raise BenchError(
            f"{key}: the server needs {wanted} open files on {runner.name}, whose "
            f"hard limit is {most}",
            "Raise it (ulimit -Hn, LimitNOFILE of systemd), or ask for fewer connections.",
        )


class Percentiles(BaseModel):
    """Connect times in µs."""

    p50: float | None
    p90: float | None
    p99: float | None
    p999: float | None
    max: float | None


class _Counts(BaseModel):
    answered: int
    failures: dict[str, int]
    connect_us: Percentiles


class _Output(BaseModel):
    error: str | None
    counts: _Counts | None = None
    cpu_share: float = 0.0
    opening_s: float | None = None
    held: int | None = None
    answered_again: int | None = None


@dataclass(frozen=True, slots=True)
class ClientCounts:
    """Counts of one client."""

    answered: int
    failures: Mapping[str, int]
    connect_us: Percentiles
    cpu_share: float
    """Share of one CPU."""
    opening_s: float
    held: int
    answered_again: int


def read_sessions(text: str) -> ClientCounts:
    """Return what a client printed. Raises BenchError for anything else, or where it failed."""
    try:
        output = _Output.model_validate_json(text)
    except (ValidationError, ValueError):
        said = " ".join(text.split())[-300:] or "it printed nothing"
        raise BenchError(f"wirespeed-speedtest sessions did not print a result: {said}") from None
    if output.error is not None or output.counts is None:
        raise BenchError(f"wirespeed-speedtest sessions failed: {output.error or 'no counts'}")
    counts = output.counts
    return ClientCounts(
        counts.answered, counts.failures, counts.connect_us, output.cpu_share,
        output.opening_s or 0.0, output.held or 0, output.answered_again or 0,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Accepted(CounterFile):
    """Connections that the server's network namespace has accepted (RFC 4022, PassiveOpens).

    In /proc/PID/net/snmp of the server.
    """

    name: str

    def payload(self, text: str) -> dict[str, int]:
        names, values = (line.split() for line in text.splitlines() if line.startswith("Tcp:"))
        return {self.name: int(values[names.index("PassiveOpens")])}
