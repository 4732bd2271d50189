# SPDX-License-Identifier: Apache-2.0
"""Measure how routers converge: this project's next to Linux's, with the same FRR.

200 of 10,000 prefixes have frames, 0.2 Mpps together, so each has one a millisecond.

- `EVENT_linux`, `EVENT_router`: time in which no frame to a prefix arrived, p50 and p99, after a
  withdrawal, a next hop that is gone, a link without carrier, and a BFD timeout (3 x 50 ms).
  `ratio` is the router's p99 over Linux's.
- `EVENT_notified`: from the kernel's notification of a prefix to its first frame by the new path,
  of this project's router.
- `hole_linux`, `hole_router`: 7 prefixes get a blackhole route for 20 ms. Those that are
  unreachable while most others are not (`outliers` of the result) are named: how many of the 7, how
  many others, and the median and largest difference to the time between the two commands,
  negative where frames show less. zebra stands still meanwhile: it follows each route on the
  router's CPU, and frames that wait for the router when a route comes or goes shift that end.

Prints `name value unit ratio-to-what`. Needs root, bird2 and frr; it takes about 3 minutes.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.shared.figures import show
from tests.support.real_bench import RUNNER, planned, point

from wirespeed.bench.convergence.bench import ConvergenceBench, open_convergence_bench
from wirespeed.bench.convergence.events import Event
from wirespeed.bench.routing.destinations import destination_prefixes
from wirespeed.bench.routing.learned import LearnedRoutes
from wirespeed.bench.routing.programs import REAL_TIME
from wirespeed.bench.site import Site
from wirespeed.model.frame import FrameSizes
from wirespeed.model.result.convergence import ConvergenceRun, Spread
from wirespeed.model.study.convergence import Convergence, EventKind
from wirespeed.model.study.spec import (
    Destinations,
    Frames,
    RouterConvergence,
    Routing,
    RoutingDaemon,
    Traffic,
    Vnf,
    Vswitch,
)

TRACKED, HOLES, HOLE_S = 200, 7, 0.020
EVENTS = (
    EventKind.WITHDRAWAL,
    EventKind.NEXT_HOP,
    EventKind.LINK_DOWN,
    EventKind.BFD_TIMEOUT,
)


class Hole(Event):
    """Seven prefixes lead nowhere for a while."""

    kind = EventKind.WITHDRAWAL
    new_path = None

    def __init__(self) -> None:
        self.prefixes: tuple[str, ...] = ()
        self.length_ms = 0.0
        self._program: subprocess.Popen[str] | None = None
        """ip(8), which runs each line that it reads: its start is not part of the hole."""

    def prepare(self, routes: LearnedRoutes) -> None:
        found = destination_prefixes(routes.table, 4, routes.table.ports[0])[:TRACKED]
        self.prefixes = found[:: len(found) // HOLES][:HOLES]
        routes.freeze("zebra", frozen=True)
        command = [*REAL_TIME, "ip", "-n", routes.router.name, "-batch", "-"]
        self._program = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)

    def act(self, routes: LearnedRoutes) -> None:  # noqa: ARG002
        self._write("add")
        begun_s = time.monotonic()
        time.sleep(HOLE_S)
        self._write("del")
        self.length_ms = (time.monotonic() - begun_s) * 1e3

    def undo(self, routes: LearnedRoutes) -> None:
        if self._program is not None:
            self._program.communicate(timeout=10)
        routes.freeze("zebra", frozen=False)

    def _write(self, word: str) -> None:
        assert self._program is not None
        assert self._program.stdin is not None
        for prefix in self.prefixes:
            self._program.stdin.write(f"route {word} blackhole {prefix} metric 1\n")
        self._program.stdin.flush()


def spec(kind: str, prefixes: int, rate_fps: float, watch_s: float) -> RouterConvergence:
    routing = Routing(
        RoutingDaemon.FRR, ipv4=prefixes, destinations=Destinations.PREFIXES,
        destination_prefixes=TRACKED, backup=True, bfd=True,
    )  # fmt: skip
    path: Frames = point("p2p" if kind == "linux" else "host", vnf=Vnf("router"))
    if kind == "linux":
        path = replace(path, sut=replace(path.sut, vnf=Vnf(), vswitch=Vswitch(kind="linux-router")))
    path = replace(path, traffic=Traffic(FrameSizes.parse("64")), routing=routing)
    return RouterConvergence(Convergence(EVENTS, rate_fps=rate_fps, watch_s=watch_s), path)


@contextmanager
def opened(workload: RouterConvergence, logs: Path) -> Iterator[ConvergenceBench]:
    site = Site(RUNNER, logs)
    with open_convergence_bench(workload, planned(workload.path), site) as bench:
        yield bench


def middle(spreads: Sequence[Spread]) -> Spread:
    """Return the medians of the runs."""
    return Spread(
        statistics.median(each.p50_ms for each in spreads),
        statistics.median(each.p99_ms for each in spreads),
        max(each.max_ms for each in spreads),
    )


def events(bench: ConvergenceBench, kind: str, repeats: int) -> dict[EventKind, Spread]:
    """Let all events happen; print and return their blackouts."""
    found = {}
    for event in EVENTS:
        runs = [bench.run(event) for _ in range(repeats)]
        blackout = middle([run.blackout for run in runs])
        found[event] = blackout
        asked = " asked 250" if event is EventKind.BFD_TIMEOUT else ""
        show(f"{event}_{kind}_p50", blackout.p50_ms, "ms")
        show(f"{event}_{kind}_p99", blackout.p99_ms, f"ms{asked}")
        if kind == "router":
            notified(str(event), runs)
    return found


def notified(name: str, runs: Sequence[ConvergenceRun]) -> None:
    if known := [run.forwarding for run in runs if run.forwarding is not None]:
        spread = middle(known)
        show(f"{name}_notified_p50", spread.p50_ms, "ms asked 2")
        show(f"{name}_notified_p99", spread.p99_ms, "ms asked 10")
    show(f"{name}_misrouted", sum(run.misrouted for run in runs), "frames asked 0")


def hole(bench: ConvergenceBench, kind: str) -> None:
    """Plant a hole, and print how well frames show it."""
    event = Hole()
    run = bench.let_happen(event)
    named = {own.prefix: own.own_ms for own in run.longest_own}
    errors = [named[each] - event.length_ms for each in event.prefixes if each in named]
    show(f"hole_{kind}_resolution", run.interval_ms, "ms")
    show(f"hole_{kind}_found", len(errors), f"prefixes asked {HOLES}")
    show(f"hole_{kind}_named_in_error", run.outliers - len(errors), "prefixes asked 0")
    errors = errors or [-event.length_ms]
    show(f"hole_{kind}_error_median", statistics.median(errors), "ms asked 2")
    show(f"hole_{kind}_error", max(errors, key=abs), "ms asked 2")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prefixes", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=200_000.0, help="frames/s")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--watch", type=float, default=2.0, help="seconds after an event")
    args = parser.parse_args()
    blackouts = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("linux", "router"):
            workload = spec(kind, args.prefixes, args.rate, args.watch)
            with opened(workload, Path(folder) / kind) as bench:
                blackouts[kind] = events(bench, kind, args.repeats)
                hole(bench, kind)
    for event in EVENTS:
        linux, own = (blackouts[kind][event].p99_ms for kind in ("linux", "router"))
        if linux:
            show(f"{event}_ratio", own / linux, "of Linux's p99 asked 1.5")


if __name__ == "__main__":
    main()
