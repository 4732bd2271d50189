# SPDX-License-Identifier: Apache-2.0
"""Open, use and close a bench that counts TCP connections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from wirespeed.bench.site import Site
from wirespeed.bench.tcp_session.hosts import TcpHosts, Watched, open_hosts
from wirespeed.bench.topology import tcp as topology
from wirespeed.bench.traffic.tcp.clients import Client
from wirespeed.bench.traffic.tcp.intervals import evidence, payload, taken
from wirespeed.bench.traffic.tcp.session_programs import (
    Accepted,
    ClientCounts,
    Percentiles,
    read_sessions,
    sessions_clients,
    sessions_server,
)
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.sessions import ACCEPTED, ConnectTimes, Failures, SessionsRun
from wirespeed.model.study.sessions import Sessions, SessionsMode
from wirespeed.model.study.spec import TcpSessions
from wirespeed.remote.interface import Runner


class SessionsBench(Protocol):
    """Hosts joined as a point's [tcp] table asks, with a server that takes connections."""

    def run(self) -> SessionsRun:
        """Let every client open connections, all at the same time. Raises BenchError."""
        ...

    def describe(self) -> Mapping[str, object]:
        """Return versions, configuration and commands, for the run record."""
        ...

    @property
    def emulated(self) -> str | None:
        """See SearchResult."""
        ...


@dataclass(slots=True)
class _Memory:
    """Resident memory of a process, and the most of it since the beginning."""

    runner: Runner
    pid: int
    first: int = field(init=False)
    most: int = field(init=False)

    def __post_init__(self) -> None:
        self.first = self.most = self._read()

    def look(self) -> None:
        self.most = max(self.most, self._read())

    def _read(self) -> int:
        """Return the resident memory in bytes (proc_pid_status(5), VmRSS)."""
        lines = self.runner.read(f"/proc/{self.pid}/status").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) * 1024


@dataclass(frozen=True, slots=True)
class RealSessionsBench:
    """A SessionsBench on one host. Made by open_sessions_bench alone."""

    sessions: Sessions
    hosts: TcpHosts
    clients: tuple[Client, ...]
    accepted: Accepted

    def run(self) -> SessionsRun:
        tcp, server = self.hosts.tcp, self.hosts.server.processes[0]
        memory = _Memory(self.hosts.server_runner, server.pid)
        concurrent = self.sessions.mode is SessionsMode.CONCURRENT
        look_on = memory.look if concurrent else _nothing
        # Opening takes as long as it takes: the client ends by itself.
        longest_s = tcp.omit_s + tcp.seconds + self.sessions.connections / 100
        found = self.hosts.watch(self.clients, self.accepted, longest_s, look_on)
        clients = [read_sessions(text) for text in found.outputs]
        run = self._observed(found, clients)
        return self._held(run, clients, memory) if concurrent else run

    def _observed(self, found: Watched, clients: Sequence[ClientCounts]) -> SessionsRun:
        tcp, programs = self.hosts.tcp, self.hosts.programs
        cpus = {program.name: max(1, len(program.cpus)) for program in programs}
        answered = sum(one.answered for one in clients)
        looks, outside = found.looks, found.outside
        return SessionsRun(
            connections=answered / tcp.seconds,
            answered=answered,
            failures=_failures(clients),
            connect=_slowest([one.connect_us for one in clients]),
            elapsed_s=found.elapsed_s,
            server_cpu_share=found.server_cpu_s / found.elapsed_s / cpus["server"],
            clients_cpu_share=sum(one.cpu_share for one in clients) / cpus["clients"],
            programs=taken(looks, programs),
            others=outside.busiest,
            evidence=evidence(looks, programs, tcp, outside.cpu_s, traffic=0),
            payload=payload(looks, [ACCEPTED], "connections", traffic=0),
        )

    def _held(
        self, run: SessionsRun, clients: Sequence[ClientCounts], memory: _Memory
    ) -> SessionsRun:
        held = sum(one.held for one in clients)
        again = sum(one.answered_again for one in clients)
        return replace(
            run,
            connections=float(again),
            opening_s=max(one.opening_s for one in clients),
            answered_again=again,
            server_bytes_each=(memory.most - memory.first) / held if held else None,
            evidence=None,
            payload=(),
        )

    @property
    def emulated(self) -> str | None:
        return self.hosts.emulated

    def describe(self) -> Mapping[str, object]:
        return self.hosts.description


@contextmanager
def open_sessions_bench(workload: TcpSessions, plan: Plan, site: Site) -> Iterator[SessionsBench]:
    """Bring up the bench of this point; undo all when the context ends. Raises BenchError."""
    sessions, tcp = workload.sessions, workload.network.tcp
    make_server = partial(sessions_server, sessions, tcp.clients)
    with open_hosts(workload.network, plan, site, make_server) as hosts:
        in_guest = topology.SERVER in topology.guest_names(tcp)
        path = f"/proc/{hosts.server.processes[0].pid}/net/snmp"
        elsewhere = hosts.server_runner if in_guest else None
        accepted = Accepted(path, ACCEPTED, elsewhere=elsewhere)
        clients = sessions_clients(sessions, tcp, hosts.clients)
        yield RealSessionsBench(sessions, hosts, clients, accepted)


def _nothing() -> None:
    """Do nothing at a look."""


def _failures(clients: Sequence[ClientCounts]) -> tuple[Failures, ...]:
    causes = dict.fromkeys(cause for one in clients for cause in one.failures)
    return tuple(
        Failures(cause, sum(one.failures.get(cause, 0) for one in clients)) for cause in causes
    )


def _slowest(times: Sequence[Percentiles]) -> ConnectTimes | None:
    """Return the largest of each percentile; None where no connection was answered."""
    known = [one for one in times if one.max is not None]
    if not known:
        return None
    return ConnectTimes(*(max(values) for values in zip(*map(_values, known), strict=True)))


def _values(found: Percentiles) -> tuple[float, ...]:
    return tuple(v or 0.0 for v in (found.p50, found.p90, found.p99, found.p999, found.max))
