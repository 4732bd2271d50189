# SPDX-License-Identifier: Apache-2.0
"""Open a bench whose router converges, and measure one event after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.convergence.events import EVENTS, Event
from wirespeed.bench.convergence.flow_gaps import Watched, read_flow_gaps
from wirespeed.bench.convergence.summary import Seen, summarise
from wirespeed.bench.function.kernel_router import KernelRouter
from wirespeed.bench.host.process import Daemon, await_true
from wirespeed.bench.interface import BenchError, Step
from wirespeed.bench.noise.clock import read_tsc
from wirespeed.bench.routing.destinations import destination_prefixes
from wirespeed.bench.routing.learned import LearnedRoutes
from wirespeed.bench.routing.notifications import read_notifications
from wirespeed.bench.routing.part import LoadsRoutes
from wirespeed.bench.session import RealBench, open_bench
from wirespeed.bench.site import Site
from wirespeed.bench.traffic.frames.generator import Generator
from wirespeed.bench.traffic.frames.prefixes import BACKUP, PRIMARY, TRACKED_FLOWS
from wirespeed.bench.trial import run_trial
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.convergence import ConvergenceRun
from wirespeed.model.study.convergence import EventKind
from wirespeed.model.study.spec import RouterConvergence

# Sleep of a router's polling thread that shares its CPU with the control plane. A round takes 64
# frames, so this is enough for 0.7 Mpps, with the 50 us that Linux may add.
_SLEEP_NS = 20_000
# Longest time until all routes have their first paths again, next to the time to load them.
_SETTLE_S, _LOOK_S = 60.0, 0.2


class Acting:
    """An injection that lets an event happen once during traffic."""

    def __init__(
        self, event: Event, routes: LearnedRoutes, generator: Generator, at_s: float
    ) -> None:
        self._event, self._routes, self._generator = event, routes, generator
        self._at_s = at_s
        self.begun_ns = 0
        """Time of the event by CLOCK_MONOTONIC."""

    def up(self) -> None:
        """Do nothing: the event happens in a trial."""

    def begin(self) -> None:
        """Do nothing: the trial's start undoes what `_act` sets."""

    def steps(self, duration_s: float) -> Sequence[Step]:  # noqa: ARG002
        return [(self._at_s, self._act)]

    def _act(self) -> None:
        self.begun_ns = time.monotonic_ns()
        if self._event.kills_hop:
            alive = BACKUP if self._event.new_path == BACKUP else PRIMARY
            self._generator.hear_only(alive)
        self._event.act(self._routes)

    def rest(self) -> None:
        """Do nothing: the event is undone after the counts."""

    def down(self) -> None:
        """Do nothing: the event is undone after its trial."""


@dataclass(frozen=True, slots=True)
class ConvergenceBench:
    """A bench with a router that has backups. Made by open_convergence_bench alone."""

    workload: RouterConvergence
    bench: RealBench
    source: LoadsRoutes
    routes: LearnedRoutes
    monitor: Daemon
    sleep_ns: int
    """Sleep of the router's polling threads between two rounds."""

    @property
    def emulated(self) -> str | None:
        return self.bench.emulated

    def describe(self) -> Mapping[str, object]:
        sleeps = {"polling threads sleep, ns": self.sleep_ns} if self.sleep_ns else {}
        return {**self.bench.describe(), **sleeps}

    def run(self, kind: EventKind) -> ConvergenceRun:
        """Let an event happen and return what it did. Raises BenchError."""
        return self.let_happen(EVENTS[kind]())

    def let_happen(self, event: Event) -> ConvergenceRun:
        """Let an event happen, which is undone; return what it did. Raises BenchError."""
        self._settle()
        event.prepare(self.routes)
        self._await(partial(event.ready, self.routes), f"the paths before {event.kind}")
        try:
            return self._measured(event)
        finally:
            event.undo(self.routes)

    def _measured(self, event: Event) -> ConvergenceRun:
        wanted, generator = self.workload.convergence, self.bench.rig.generator
        acting = Acting(event, self.routes, generator, wanted.before_s)
        rig = replace(self.bench.rig, injections=(*self.bench.rig.injections, acting))
        began_ns, recorded = time.time_ns(), self.monitor.log_bytes()
        seen = run_trial(rig, wanted.rate_fps, wanted.before_s + wanted.watch_s)
        if not acting.begun_ns:
            raise BenchError(f"{event.kind} did not happen during the traffic")
        tsc, now_ns, _, tsc_hz = read_tsc(generator.program)
        # Both clocks of the host at once.
        ahead_ns = time.time_ns() - time.monotonic_ns()

        def tsc_of(monotonic_ns: int) -> float:
            return tsc + (monotonic_ns - now_ns) * tsc_hz / 1e9

        prefixes = self._prefixes()
        started = generator.figures().clock().started_tsc
        return summarise(
            Seen(
                str(event.kind),
                prefixes[:TRACKED_FLOWS],
                Watched(
                    round(tsc_of(acting.begun_ns)),
                    started + round(seen.duration_s * tsc_hz),
                    len(prefixes) / wanted.rate_fps * tsc_hz,
                    event.new_path,
                ),
                read_flow_gaps(generator.flow_gaps(), tsc),
                read_notifications(
                    self.monitor.logged_since(recorded),
                    max(began_ns, acting.begun_ns + ahead_ns),
                ),
                lambda at_ns: tsc_of(at_ns - ahead_ns),
                seen.directions[0],
                wanted.rate_fps,
            )
        )

    def _prefixes(self) -> Sequence[str]:
        """Return the prefix of each flow."""
        table, path = self.routes.table, self.workload.path
        found = destination_prefixes(table, path.traffic.ip_version, table.ports[0])
        return found[: self.routes.table.routing.destination_prefixes or None]

    def _settle(self) -> None:
        """Wait until all routes lead to their first next hops, in kernel and router."""
        self._await(lambda: self.routes.leads_to(backup=False), "the first paths")
        self._await(lambda: not self.source.missing(), "all routes")

    def _await(self, holds: Callable[[], bool], what: str) -> None:
        await_true(
            holds,
            within_s=_SETTLE_S + self.source.ready_s,
            every_s=_LOOK_S,
            alive=self.routes.alive,
            otherwise=lambda: f"the router waits for {what}: {self.source.missing()}",
        )


@contextmanager
def open_convergence_bench(
    workload: RouterConvergence, plan: Plan, site: Site
) -> Iterator[ConvergenceBench]:
    """Bring up the bench of this point; undo all when the context ends. Raises BenchError."""
    hosts = BenchHosts(BenchHost(site.runner))
    with open_bench(workload.path, plan, hosts, site.logs, site.guests) as bench:
        source = next(part for part in bench.rig.parts if isinstance(part, LoadsRoutes))
        routes = source.routes
        if not isinstance(routes, LearnedRoutes):
            raise BenchError("convergence needs a routing daemon")
        sleep_ns = _let_sleep(source, bench.rig.limited_by)
        yield ConvergenceBench(workload, bench, source, routes, routes.watch_kernel(), sleep_ns)


def _let_sleep(source: LoadsRoutes, limited_by: str | None) -> int:
    """Let a router that shares its CPU sleep between two rounds of polls; return the time in ns.

    Its polling threads would otherwise have most of the CPU for finding no frames.
    """
    if not isinstance(source, KernelRouter) or limited_by != "shared_control":
        return 0
    source.program.ask(f"pause_pollers,ns={_SLEEP_NS}")
    return _SLEEP_NS
