# SPDX-License-Identifier: Apache-2.0
"""Make counted TCP connections a kind of workload, on the network that [tcp] describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from wirespeed.bench.assembly.kinds import tcp_needs_of, tcp_sut_of
from wirespeed.bench.host.root import check_namespaces
from wirespeed.bench.site import Site
from wirespeed.bench.tcp_session.sessions import SessionsBench, open_sessions_bench
from wirespeed.measure.sessions import fault, grade, summarise
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.result.result import SESSIONS, SearchResult
from wirespeed.model.result.sessions import UNITS, SessionsRun
from wirespeed.model.study.sessions import CLIENT_PORTS, Sessions, SessionsMode
from wirespeed.model.study.spec import TcpSessions
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.study.tcp import Tcp
from wirespeed.model.words import quantity
from wirespeed.plan.testbed.tcp import plan_tcp
from wirespeed.study.estimate import BENCH_S
from wirespeed.study.interface import PointBench, Rig, RunListener
from wirespeed.study.kinds.tcp import streams_of, tables_of
from wirespeed.study.repeat import Judge, fewer, none_counts, repeat
from wirespeed.study.rules_tcp import broken_tcp_rules
from wirespeed.study.tables import CommonTables

# Keys of [tcp] that describe streams.
_OF_STREAMS = (
    "tool", "processes", "streams", "direction", "message_bytes", "congestion", "window_bytes",
    "mss",
)  # fmt: skip
# Connections that a client opens in a second at least; for the estimate alone.
_OPENED_EACH_S = 5_000


@dataclass(frozen=True, slots=True)
class SessionsKind:
    """A WorkloadKind."""

    workload: TcpSessions
    read_from: CommonTables = field(default_factory=CommonTables)
    """Tables of a study file that it was read from."""

    @classmethod
    def read(cls, tables: CommonTables, sessions: Sessions) -> SessionsKind:
        network = streams_of(tables, tables.tcp or Tcp())
        return cls(TcpSessions(sessions, network), tables)

    @property
    def _tcp(self) -> Tcp:
        return self.workload.network.tcp

    def faults(self) -> Iterator[Fault]:
        yield from broken_tcp_rules(self.read_from, self.workload.network)
        for key in _OF_STREAMS:
            if (value := getattr(self._tcp, key)) != getattr(Tcp(), key):
                yield Fault(f"tcp.{key}", value, "does not apply with [sessions]")
        yield from _faults(self.workload.sessions, self._tcp)

    def tables(self) -> Mapping[str, object]:
        return {"sessions": self.workload.sessions, **tables_of(self.workload.network)}

    @property
    def heading(self) -> tuple[str, ...]:
        return (f"TCP sessions, {self.workload.sessions.mode}, over {self._tcp.path}",)

    @property
    def in_heading(self) -> frozenset[str]:
        return frozenset({"sessions.mode", "tcp.path"})

    @property
    def needs(self) -> tuple[str, ...]:
        return ()

    @property
    def estimate_s(self) -> float:
        sessions, tcp = self.workload.sessions, self._tcp
        opening_s = sessions.connections / _OPENED_EACH_S
        first_s = tcp.omit_s if sessions.mode is SessionsMode.RATE else opening_s
        return BENCH_S + tcp.repeats * (tcp.seconds + first_s + 1)

    @property
    def sut(self) -> SutDescription:
        return tcp_sut_of(self._tcp)

    def plan(self, facts: HostFacts) -> Plan:
        return plan_tcp(facts, self.workload.network, tcp_needs_of(self.workload.network))

    def check_user(self, user: str, plan: HostPlan) -> None:  # noqa: ARG002
        check_namespaces(user, "sessions")

    def open(self, rig: Rig, plan: Plan, name: str) -> AbstractContextManager[PointBench]:
        return rig.open_own(self.workload, plan, name)

    @contextmanager
    def open_on(self, plan: Plan, site: Site) -> Iterator[PointBench]:
        with open_sessions_bench(self.workload, plan, site) as bench:
            yield RepeatedSessions(self.workload, bench)


def _faults(sessions: Sessions, tcp: Tcp) -> Iterator[Fault]:
    if sessions.mode is SessionsMode.RATE:
        if sessions.connections != Sessions().connections:
            allowed = 'does not apply to sessions.mode = "rate"'
            yield Fault("sessions.connections", sessions.connections, allowed)
        return
    if tcp.omit_s != Tcp().omit_s:
        yield Fault("tcp.omit_s", tcp.omit_s, 'does not apply to sessions.mode = "concurrent"')
    if not tcp.clients <= sessions.connections <= tcp.clients * CLIENT_PORTS:
        allowed = (
            f"must be {tcp.clients} to {tcp.clients * CLIENT_PORTS} with tcp.clients = "
            f"{tcp.clients}: a client has {CLIENT_PORTS} ports for one server"
        )
        yield Fault("sessions.connections", sessions.connections, allowed)


@dataclass(frozen=True, slots=True)
class RepeatedSessions:
    """A PointBench whose runs are repeated."""

    workload: TcpSessions
    bench: SessionsBench

    @property
    def emulated(self) -> str | None:
        return self.bench.emulated

    def describe(self) -> Mapping[str, object]:
        return self.bench.describe()

    def measure(self, listener: RunListener) -> SearchResult:
        sessions, tcp = self.workload.sessions, self.workload.network.tcp
        runs, discarded = repeat(self.bench, tcp.repeats, _SessionsJudge(sessions), listener)
        if not runs:
            why, notes = none_counts(discarded)
            return SearchResult(
                SESSIONS, conformant=False, trials=(), not_measurable=why, notes=notes
            )
        result = summarise(runs, sessions, tcp, discarded)
        found, because = grade(result, sessions)
        return SearchResult(
            SESSIONS, conformant=False, trials=(), sessions=result, grade=found, because=because,
            notes=fewer(len(runs), tcp.repeats),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _SessionsJudge(Judge[SessionsRun]):
    sessions: Sessions

    def fault(self, run: SessionsRun) -> str | None:
        return fault(run)

    def words(self, run: SessionsRun) -> str:
        return quantity(run.connections, UNITS[self.sessions.mode])
