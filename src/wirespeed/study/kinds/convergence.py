# SPDX-License-Identifier: Apache-2.0
"""Make events after which a router converges a kind of workload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.convergence.bench import open_convergence_bench
from wirespeed.bench.convergence.events import EVENTS
from wirespeed.bench.interface import BenchError
from wirespeed.bench.site import Site
from wirespeed.measure.convergence import summarise
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.result.convergence import ConvergenceRun
from wirespeed.model.result.result import CONVERGENCE, SearchResult
from wirespeed.model.study.convergence import Convergence, EventKind
from wirespeed.model.study.spec import Destinations, Frames, Roles, RouterConvergence, Search
from wirespeed.model.study.sut import SutDescription
from wirespeed.study.estimate import BENCH_S, routing_s
from wirespeed.study.interface import PointBench, Rig, RunListener
from wirespeed.study.kinds.frames import FramesKind
from wirespeed.study.tables import CommonTables

# Time of a run without its traffic: all routes lead to their first next hops again.
_SETTLE_S = 3.0


@dataclass(frozen=True, slots=True)
class ConvergenceKind:
    """A WorkloadKind."""

    workload: RouterConvergence

    @classmethod
    def read(cls, tables: CommonTables, convergence: Convergence) -> ConvergenceKind:
        return cls(RouterConvergence(convergence, FramesKind.read(tables).workload))

    @property
    def _frames(self) -> FramesKind:
        return FramesKind(self.workload.path)

    def faults(self) -> Iterator[Fault]:
        yield from self._frames.faults()
        yield from _faults(self.workload.convergence, self.workload.path)

    def tables(self) -> Mapping[str, object]:
        tables = self._frames.tables()
        used = {name: table for name, table in tables.items() if name != "search"}
        return {"convergence": self.workload.convergence, **used}

    @property
    def heading(self) -> tuple[str, ...]:
        return ("convergence", *self._frames.heading)

    @property
    def in_heading(self) -> frozenset[str]:
        return self._frames.in_heading

    @property
    def needs(self) -> tuple[str, ...]:
        return self._frames.needs

    @property
    def estimate_s(self) -> float:
        wanted = self.workload.convergence
        each_s = wanted.before_s + wanted.watch_s + _SETTLE_S
        events = wanted.repeats * len(wanted.events)
        return BENCH_S + routing_s(self.workload.path.routing) + events * each_s

    @property
    def sut(self) -> SutDescription:
        return self._frames.sut

    def plan(self, facts: HostFacts) -> Plan:
        return self._frames.plan(facts)

    def check_user(self, user: str, plan: HostPlan) -> None:
        self._frames.check_user(user, plan)

    def open(self, rig: Rig, plan: Plan, name: str) -> AbstractContextManager[PointBench]:
        return rig.open_own(self.workload, plan, name)

    @contextmanager
    def open_on(self, plan: Plan, site: Site) -> Iterator[PointBench]:
        with open_convergence_bench(self.workload, plan, site) as bench:
            yield RepeatedEvents(self.workload.convergence, bench)


def _faults(convergence: Convergence, path: Frames) -> Iterator[Fault]:
    routing = path.routing
    if routing is None or not routing.backup:
        yield Fault("convergence", "(set)", "needs a second path: set routing.backup = true")
        return
    if routing.destinations is not Destinations.PREFIXES:
        allowed = 'must be "prefixes" with [convergence]: its result is by prefix'
        yield Fault("routing.destinations", str(routing.destinations), allowed)
    if path.topology.bidirectional:
        allowed = "must be false with [convergence]: events concern one direction"
        yield Fault("topology.bidirectional", True, allowed)
    if routing.churn_per_s:
        allowed = "must be 0 with [convergence]: its events change the routes"
        yield Fault("routing.churn_per_s", routing.churn_per_s, allowed)
    if path.hosts != Roles():
        yield Fault("hosts", "(set)", "does not go with [convergence]: it runs on one host")
    if path.search != Search():
        yield Fault("search", "(set)", "does not apply to [convergence]: its rate is constant")
    flows = routing.prefixes(path.traffic.ip_version)
    flows = min(flows, routing.destination_prefixes or flows)
    if flows > convergence.rate_fps * convergence.before_s:
        allowed = f"must offer each of {flows:,} prefixes a frame in {convergence.before_s:g} s"
        yield Fault("convergence.rate_fps", convergence.rate_fps, allowed)
    if not convergence.events:
        yield Fault("convergence.events", "[]", "must name an event")
    for kind in convergence.events:
        if (wanted := EVENTS[kind]().refused(routing)) is not None:
            yield Fault("convergence.events", str(kind), f"needs {wanted}")


class EventsBench(Protocol):
    """A bench that lets events happen, one at a time."""

    def run(self, kind: EventKind) -> ConvergenceRun:
        """Let an event happen and return what it did. Raises BenchError."""
        ...

    def describe(self) -> Mapping[str, object]:
        """Return versions, configuration and commands, for the run record."""
        ...

    @property
    def emulated(self) -> str | None:
        """See SearchResult."""
        ...


@dataclass(frozen=True, slots=True)
class RepeatedEvents:
    """A PointBench whose events happen one after the other, all of them `repeats` times."""

    wanted: Convergence
    bench: EventsBench

    @property
    def emulated(self) -> str | None:
        return self.bench.emulated

    def describe(self) -> Mapping[str, object]:
        return self.bench.describe()

    def measure(self, listener: RunListener) -> SearchResult:
        runs: list[ConvergenceRun] = []
        failed: list[str] = []
        for kind in self.wanted.events * self.wanted.repeats:
            try:
                runs.append(self.bench.run(kind))
            except BenchError as error:
                failed.append(f"{kind}: {error.what}")
                listener.run_failed(failed[-1])
                break  # the router may be in any state
            listener.run_ended(_words(runs[-1]), len(runs))
        if not runs:
            return SearchResult(CONVERGENCE, conformant=False, trials=(), not_measurable=failed[-1])
        result = summarise(runs, self.wanted.rate_fps)
        return SearchResult(
            CONVERGENCE, conformant=False, trials=(), convergence=result, notes=tuple(failed)
        )


def _words(run: ConvergenceRun) -> str:
    return (
        f"{run.event}: blackout p50 {run.blackout.p50_ms:.1f}, p99 {run.blackout.p99_ms:.1f} ms, "
        f"{run.lost:,} frames lost"
    )
