# SPDX-License-Identifier: Apache-2.0
"""Make TCP between hosts a kind of workload: runs are repeated, as TCP finds its own load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from wirespeed.bench.assembly.kinds import tcp_needs_of, tcp_sut_of
from wirespeed.bench.host.root import check_namespaces
from wirespeed.bench.interface import TcpBench
from wirespeed.bench.site import Site
from wirespeed.bench.tcp_session.streams import open_tcp_bench
from wirespeed.bench.topology.tcp import PATHS
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.spec import TcpStreams
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.study.tcp import Tcp
from wirespeed.plan.testbed.tcp import plan_tcp
from wirespeed.study.estimate import BENCH_S
from wirespeed.study.interface import PointBench, Rig, RunListener
from wirespeed.study.rules_tcp import broken_tcp_rules
from wirespeed.study.tables import CommonTables
from wirespeed.study.tcp import measure_tcp


def streams_of(tables: CommonTables, tcp: Tcp) -> TcpStreams:
    """Return the workload of these tables."""
    return TcpStreams(tcp, tables.sut.vswitch, tables.guest, tables.sut.ports, tables.sriov)


def tables_of(streams: TcpStreams) -> dict[str, object]:
    """Return the tables that a point with these streams depends on, by name."""
    path = PATHS[streams.tcp.path]
    sut: dict[str, object] = {"vswitch": streams.vswitch} if path.switch is not None else {}
    if path.on_vfs:
        sut = {"ports": streams.ports}
    others = {"sut": sut or None, "guest": streams.guest, "sriov": streams.sriov}
    return {"tcp": streams.tcp, **{k: v for k, v in others.items() if v is not None}}


@dataclass(frozen=True, slots=True)
class TcpKind:
    """A WorkloadKind."""

    workload: TcpStreams
    read_from: CommonTables = field(default_factory=CommonTables)
    """Tables of a study file that it was read from."""

    @classmethod
    def read(cls, tables: CommonTables, tcp: Tcp) -> TcpKind:
        return cls(streams_of(tables, tcp), tables)

    def faults(self) -> Iterator[Fault]:
        return broken_tcp_rules(self.read_from, self.workload)

    def tables(self) -> Mapping[str, object]:
        return tables_of(self.workload)

    @property
    def heading(self) -> tuple[str, ...]:
        return (f"TCP over {self.workload.tcp.path}",)

    @property
    def in_heading(self) -> frozenset[str]:
        return frozenset({"tcp.path"})

    @property
    def needs(self) -> tuple[str, ...]:
        return ()

    @property
    def estimate_s(self) -> float:
        tcp = self.workload.tcp
        return BENCH_S + tcp.repeats * (tcp.seconds + tcp.omit_s + 1)

    @property
    def sut(self) -> SutDescription:
        return tcp_sut_of(self.workload.tcp)

    def plan(self, facts: HostFacts) -> Plan:
        return plan_tcp(facts, self.workload, tcp_needs_of(self.workload))

    def check_user(self, user: str, plan: HostPlan) -> None:  # noqa: ARG002
        check_namespaces(user, "[tcp]")

    def open(self, rig: Rig, plan: Plan, name: str) -> AbstractContextManager[PointBench]:
        return rig.open_own(self.workload, plan, name)

    @contextmanager
    def open_on(self, plan: Plan, site: Site) -> Iterator[PointBench]:
        with open_tcp_bench(self.workload, plan, site) as bench:
            yield RepeatedTcp(self.workload.tcp, bench)


@dataclass(frozen=True, slots=True)
class RepeatedTcp:
    """A PointBench whose runs are repeated."""

    tcp: Tcp
    bench: TcpBench

    @property
    def emulated(self) -> str | None:
        return self.bench.emulated

    def describe(self) -> Mapping[str, object]:
        return self.bench.describe()

    def measure(self, listener: RunListener) -> SearchResult:
        return measure_tcp(self.bench, self.tcp, listener)
