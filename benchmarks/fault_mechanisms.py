# SPDX-License-Identifier: Apache-2.0
"""Cause faults that no explainer was written for, and check that their mechanism is named.

Each kind acts on a healthy bench from its second trial on, on p2p and pvp, by means that the
product does not use itself: signals, ptrace, cgroups, affinity, policies, interrupts, OpenFlow.
A kind counts as named where its limit or the changed setting comes first; as honest where the
explanation says that the cause was not found and has the right hop; else it is blamed wrongly.

    python -m benchmarks.fault_mechanisms [--state FILE] [--only KIND,...] [--topology p2p|pvp]
        [--repeats N] [--seconds S]

Cells are kept in FILE as they end. Prints `name value unit` and asked next to measured. Needs root.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.faults.causes import CAUSES
from benchmarks.faults.causing import BOTH, Causing, Live
from benchmarks.faults.cells import Cell, report, verdict
from benchmarks.faults.outside_causes import OUTSIDE
from benchmarks.shared.point import Silent, point_of

from wirespeed.bench.assembly.kinds import sut_of
from wirespeed.bench.interface import Step
from wirespeed.bench.session import RealBench
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.explain.sum_trials import taken
from wirespeed.explain.suspect import MUCH
from wirespeed.measure.run import run_search
from wirespeed.model.errors import WirespeedError
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.spec import Frames
from wirespeed.session.rig import local_rig
from wirespeed.store.codec import decode, encode
from wirespeed.study.interface import Rig
from wirespeed.study.kinds.frames import max_load_fps

# Of a CPU: a cell says nothing where a program that is neither the bench's nor a kind's used more.
VOID = 0.1
# What names such a program, though it used less.
BY_OTHERS = frozenset({"generator_core_shared", "pmd_core_shared"})


@dataclass(slots=True)
class Acting:
    """An injection that begins to act in the second trial, and lasts until the bench closes."""

    causing: Causing
    live: Live
    stack: ExitStack
    trials: int = 0

    def up(self) -> None:
        """Nothing to do: the point begins healthy."""

    def begin(self) -> None:
        self.trials += 1
        if self.trials == 2 and self.causing.before_traffic:
            self._act()

    def steps(self, duration_s: float) -> Sequence[Step]:
        if self.trials < 2:
            return ()
        if self.causing.each_trial:
            return self.causing.pulses(self.live, duration_s)
        now = self.trials == 2 and not self.causing.before_traffic
        return [(0.2 * duration_s, self._act)] if now else ()

    def _act(self) -> None:
        self.stack.enter_context(self.causing.act(self.live))

    def rest(self) -> None:
        self.causing.rest(self.live)

    def down(self) -> None:
        """Leave the fault in place; the exit stack undoes it."""


def frames_of(topology: str, load_fps: float, causing: Causing) -> Frames:
    settings = [
        f"topology.kind={topology}", "search.kind=fixed", f"search.load_fps={load_fps}",
        "search.trial_s=0.5", "search.extension=2", "search.latency=false",
        *(("traffic.frame=64",) if not causing.settings else ()), *causing.settings,
    ]  # fmt: skip
    if topology == "pvp":
        settings.append('sut.vnf.placement="process"')
    return point_of("quickstart", *settings)


@contextmanager
def opened(rig: Rig, frames: Frames) -> Iterator[RealBench]:
    with rig.open_bench(frames, rig.plan(frames), "fault-mechanisms") as bench:
        assert isinstance(bench, RealBench)
        yield bench


def measured(rig: Rig, causing: Causing, topology: str, load_fps: float) -> Cell:
    frames, began, since = frames_of(topology, load_fps, causing), time.monotonic(), time.time()
    with opened(rig, frames) as bench, ExitStack() as stack:
        live = Live.of(bench)
        stack.enter_context(causing.prepared(live))
        bench.rig = replace(bench.rig, injections=(Acting(causing, live, stack),))
        found = run_search(frames.search, bench.measure, max_load_fps(frames), Silent())
    result = decode(SearchResult, encode(found))
    named = explain(Measured(sut_of(frames), result, workload=frames, plan=rig.plan(frames)))
    missing = _missing(result.trials[1:], causing) - _missing(result.trials[:1], causing)
    beside = max(
        (
            taken(t.observation, o)
            for t in result.trials
            for o in t.observation.competitors
            if not o.own
            and o.cpu in {thread.cpu for thread in t.observation.threads}
            and not causing.runs(o.name, o.started, since)
        ),
        default=0.0,
    )
    came_to = verdict(causing, named, missing)
    void = beside > VOID or (came_to == "wrong" and named[0].limit in BY_OTHERS and beside > MUCH)
    return Cell(
        causing.kind, topology, load_fps, round(missing, 5), "void" if void else came_to,
        [(each.limit, each.hop) for each in named], named[0].sentence if named else "",
        str(result.grade), round(time.monotonic() - began, 1), causing.outside,
    )  # fmt: skip


def _missing(trials: Sequence[Trial], causing: Causing) -> float:
    """Return the share of frames lost; of a kind that delays them, also of those not sent."""
    unsent = sum(t.observation.total("unsent") for t in trials) if causing.delays else 0
    intended = sum(t.observation.total("intended") for t in trials)
    return (sum(t.lost for t in trials) + unsent) / max(1, intended)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--topology", choices=("p2p", "pvp"))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="start no further cell after so long")
    given = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root, for Open vSwitch with DPDK")
        return 1
    kept = given.state.read_text().splitlines() if given.state and given.state.exists() else []
    cells = [Cell(**json.loads(line)) for line in kept]
    rig = local_rig()
    ends = time.monotonic() + given.seconds if given.seconds else float("inf")
    for causing, topology, load_fps in _wanted(given, cells):
        if time.monotonic() > ends:
            break
        try:
            cell = measured(rig, causing, topology, load_fps)
        except WirespeedError as error:
            cell = Cell(causing.kind, topology, load_fps, 0.0, "failed", said=error.what,
                        outside=causing.outside)  # fmt: skip
        cells.append(cell)
        print(f"# {cell}", flush=True)
        if given.state:
            given.state.parent.mkdir(parents=True, exist_ok=True)
            with given.state.open("a") as file:
                file.write(json.dumps(asdict(cell)) + "\n")
    return report(cells)


def _wanted(given: argparse.Namespace, cells: list[Cell]) -> Iterator[tuple[Causing, str, float]]:
    """Return the cells that are left to be measured, as cells are added."""
    only = given.only.split(",") if given.only else None
    for _ in range(given.repeats):
        for causing in (*CAUSES, *OUTSIDE):
            for topology, load_fps in zip(BOTH, causing.loads_fps, strict=True):
                done = sum((cell.kind, cell.topology) == (causing.kind, topology)
                           and cell.verdict != "void" for cell in cells)  # fmt: skip
                chosen = only is None or causing.kind in only
                here = topology in causing.topologies and given.topology in (None, topology)
                if done < given.repeats and chosen and here:
                    yield causing, topology, load_fps


if __name__ == "__main__":
    sys.exit(main())
