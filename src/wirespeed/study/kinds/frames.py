# SPDX-License-Identifier: Apache-2.0
"""Make frames a kind of workload: a search chooses the loads that the generator offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.assembly.kinds import needs_of, sut_of, topology_of
from wirespeed.bench.fault.inject import as_built, as_planned, needs_of_fault
from wirespeed.bench.host.root import check_root
from wirespeed.bench.interface import Bench
from wirespeed.bench.session import open_bench
from wirespeed.bench.site import Site
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import run_search
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.spec import Frames, Roles
from wirespeed.model.study.sut import SutDescription
from wirespeed.plan.testbed.bench import plan_bench
from wirespeed.study.estimate import BENCH_S, FUNCTION_S, routing_s, search_s
from wirespeed.study.interface import PointBench, PointListener, Rig
from wirespeed.study.rules import broken_rules
from wirespeed.study.tables import CommonTables


@dataclass(frozen=True, slots=True)
class FramesKind:
    """A WorkloadKind."""

    workload: Frames

    @classmethod
    def read(cls, tables: CommonTables) -> FramesKind:
        return cls(
            Frames(
                tables.topology, tables.traffic, tables.sut, tables.search, tables.bng,
                tables.hosts, tables.guest, tables.sriov, tables.injected,
                tables.routing,
            )
        )  # fmt: skip

    def faults(self) -> Iterator[Fault]:
        return broken_rules(self.workload)

    def tables(self) -> Mapping[str, object]:
        frames = self.workload
        always = {name: getattr(frames, name) for name in ("topology", "traffic", "sut", "search")}
        optional = {
            "bng": frames.bng,
            "hosts": frames.hosts if frames.hosts != Roles() else None,
            "guest": frames.guest,
            "sriov": frames.sriov,
            "fault": frames.fault,
            "routing": frames.routing,
        }
        return always | {name: table for name, table in optional.items() if table is not None}

    @property
    def heading(self) -> tuple[str, ...]:
        size = self.workload.traffic.frame.text
        parts = (
            self.workload.topology.kind,
            f"{size} B" if size.isdecimal() else f"IMIX {size}",
        )
        fault = self.workload.fault
        return parts if fault is None else (*parts, f"fault {fault.kind}")

    @property
    def in_heading(self) -> frozenset[str]:
        return frozenset({"topology.kind", "traffic.frame", "fault.kind"})

    @property
    def needs(self) -> tuple[str, ...]:
        return needs_of_fault(self.workload)

    @property
    def estimate_s(self) -> float:
        functions = len(topology_of(self.workload).functions(self.workload))
        bench_s = BENCH_S + FUNCTION_S * functions + routing_s(self.workload.routing)
        return bench_s + search_s(self.workload.search)

    @property
    def sut(self) -> SutDescription:
        return sut_of(self.workload)

    def plan(self, facts: HostFacts) -> Plan:
        built = as_built(self.workload)
        return as_planned(plan_bench(facts, built, needs_of(built)), facts, built)

    def check_user(self, user: str, plan: HostPlan) -> None:
        check_root(user, self.workload, plan)

    @contextmanager
    def open(self, rig: Rig, plan: Plan, name: str) -> Iterator[PointBench]:
        with rig.open_bench(self.workload, plan, name) as bench:
            yield FramesBench(self.workload, bench)

    @contextmanager
    def open_on(self, plan: Plan, site: Site) -> Iterator[PointBench]:
        hosts = BenchHosts(BenchHost(site.runner))
        with open_bench(self.workload, plan, hosts, site.logs, site.guests) as bench:
            yield FramesBench(self.workload, bench)


@dataclass(frozen=True, slots=True)
class FramesBench:
    """A PointBench that is searched."""

    frames: Frames
    bench: Bench

    @property
    def emulated(self) -> str | None:
        return self.bench.emulated

    def describe(self) -> Mapping[str, object]:
        return self.bench.describe()

    def measure(self, listener: PointListener) -> SearchResult:
        return run_search(
            self.frames.search, self.bench.measure, max_load_fps(self.frames), listener,
            self.bench.place,
        )  # fmt: skip


def max_load_fps(frames: Frames) -> float:
    """Return the highest useful load: the links' line rate, or UNLIMITED.

    The line rate applies if ports are real or represent real ports. Elsewhere the load is
    unlimited. The generator's maximum changes from second to second on a shared machine; a fixed
    ceiling would make trials fall short of it.
    """
    bound = topology_of(frames).external or frames.traffic.link_bound
    return frames.line_rate_fps if bound else UNLIMITED
