# SPDX-License-Identifier: Apache-2.0
"""Collect the programs and sockets of a TCP test: CPU time, segments, retransmissions, queues.

The kernel counts segments by network namespace. The first program of each namespace stands for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.kpi.interface import (
    NS,
    NUMBER,
    OCTETS,
    Missing,
    Name,
    Source,
    Values,
    counter,
    gauge,
)
from wirespeed.model.numbered import numbered
from wirespeed.remote.interface import Runner
from wirespeed.sources.processes import epoch_of
from wirespeed.sources.scheduler import TICK_NS

# Names of their processes; the kernel cuts them at 15 characters.
PROGRAMS = ("iperf3", "wirespeed-speed", "netperf", "netserver")
_SNMP, _NETSTAT, _SOCKSTAT = "net/snmp", "net/netstat", "net/sockstat"
_TABLES = ("net/tcp", "net/tcp6")
_SEGMENTS = {"InSegs": "tcp_received_segments", "OutSegs": "tcp_sent_segments",
             "RetransSegs": "tcp_retransmitted_segments"}  # fmt: skip
_EVENTS = {"TCPTimeouts": "timeout", "TCPLostRetransmit": "lost_retransmission",
           "ListenOverflows": "listen_overflow", "TCPRcvQDrop": "receive_queue_full"}  # fmt: skip
_STATES = {"inuse": "in_use", "orphan": "orphan", "tw": "time_wait"}
# Of proc_pid_stat(5) from the third field on: user and system time of all threads.
_TIMES = slice(11, 13)


class TcpCollector:
    name = "tcp"
    cheap = False
    metrics = (
        counter("tcp_program_cpu_seconds", NS, "program", "CPU time of a program of a TCP test",
                "/proc/PID/stat"),
        counter("tcp_received_segments", NUMBER, "program", "Segments received", _SNMP),
        counter("tcp_sent_segments", NUMBER, "program", "Segments sent", _SNMP),
        counter("tcp_retransmitted_segments", NUMBER, "program", "Segments sent again", _SNMP),
        counter("tcp_events", NUMBER, "program kind", "Events of TCP", _NETSTAT),
        gauge("tcp_sockets", NUMBER, "program state", "Sockets by state", _SOCKSTAT),
        gauge("tcp_queued_bytes", OCTETS, "program direction",
              "Octets in the queues of all connected sockets", "net/tcp"),
    )  # fmt: skip

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        found = _programs(runner)
        if not found:
            return Missing(f"no process of a TCP test runs ({', '.join(PROGRAMS)})")
        spaces: dict[str, int] = {}
        for pid in found:
            spaces.setdefault(runner.readlink(f"/proc/{pid}/ns/net"), pid)
        return tuple(
            _Program(f"tcp {name}", runner, name, pid, pid in spaces.values())
            for pid, name in found.items()
        )


def _programs(runner: Runner) -> dict[int, str]:
    """Return the label of each program by its process."""
    names = runner.read_many(runner.glob("/proc/[0-9]*/comm"))
    pids = {int(path.split("/")[2]): text for path, text in names.items() if isinstance(text, str)}
    found: dict[int, str] = {}
    for pid in sorted(pids):
        name = pids[pid].strip()
        if name in PROGRAMS:
            found[pid] = numbered(name, found.values())
    return found


@dataclass(frozen=True, slots=True)
class _Program:
    name: str
    runner: Runner
    program: str
    pid: int
    whole: bool
    """It stands for its network namespace."""

    def read(self) -> Values:
        base = f"/proc/{self.pid}"
        files = (_SNMP, _NETSTAT, _SOCKSTAT, *_TABLES) if self.whole else ()
        epoch = epoch_of(self.runner, self.pid)
        texts = self.runner.read_many([f"{base}/{file}" for file in (*files, "stat")])
        there = {path.removeprefix(f"{base}/"): text for path, text in texts.items()
                 if isinstance(text, str)}  # fmt: skip
        return Values(epoch, parse(self.program, there))

    def close(self) -> None: ...


def parse(program: str, texts: Mapping[str, str]) -> Mapping[Name, int]:
    """Return the series of a program. texts: files below /proc/PID."""
    found: dict[Name, int] = {}
    if "stat" in texts:
        times = texts["stat"].rpartition(")")[2].split()[_TIMES]
        found["tcp_program_cpu_seconds", (program,)] = sum(map(int, times)) * TICK_NS
    for name, count in _pairs(texts.get(_SNMP, ""), "Tcp"):
        if name in _SEGMENTS:
            found[_SEGMENTS[name], (program,)] = count
    for name, count in _pairs(texts.get(_NETSTAT, ""), "TcpExt"):
        if name in _EVENTS:
            found["tcp_events", (program, _EVENTS[name])] = count
    for line in texts.get(_SOCKSTAT, "").splitlines():
        kind, *words = line.split()
        if kind == "TCP:":
            for state, sockets in zip(words[::2], words[1::2], strict=False):
                if state in _STATES:
                    found["tcp_sockets", (program, _STATES[state])] = int(sockets)
    if any(table in texts for table in _TABLES):
        sent, received = _queued(texts)
        found["tcp_queued_bytes", (program, "tx")] = sent
        found["tcp_queued_bytes", (program, "rx")] = received
    return found


def _pairs(text: str, protocol: str) -> Iterator[tuple[str, int]]:
    """Yield the counters of a protocol: a line of names comes before that of their values."""
    lines = [line.split()[1:] for line in text.splitlines() if line.startswith(f"{protocol}: ")]
    for names, counts in zip(lines[::2], lines[1::2], strict=False):
        for name, count in zip(names, counts, strict=False):
            yield name, int(count)


# State of a socket that listens; its queues count connections.
_LISTEN = "0A"


def _queued(texts: Mapping[str, str]) -> tuple[int, int]:
    """Return the octets in the send and receive queues of all sockets (proc_pid_net(5))."""
    sent = received = 0
    for table in _TABLES:
        for line in texts.get(table, "").splitlines()[1:]:
            words = line.split()
            if len(words) > 4 and words[3] != _LISTEN:
                tx, _, rx = words[4].partition(":")
                sent, received = sent + int(tx, 16), received + int(rx, 16)
    return sent, received
