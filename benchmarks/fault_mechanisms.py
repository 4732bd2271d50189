# SPDX-License-Identifier: Apache-2.0
"""Cause faults that no explainer was written for, and check that their mechanism is named.

Each kind acts on a healthy bench from its second trial on, on p2p and pvp, by means that the
product does not use itself: signals, ptrace, cgroups, affinity, policies, interrupts, OpenFlow.
A kind counts as named where its limit or the changed setting comes first; as honest where the
explanation says that the cause was not found and has the right hop; else it is blamed wrongly.

    python -m benchmarks.fault_mechanisms [--state FILE] [--only KIND,...] [--topology p2p|pvp]

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
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from benchmarks.fault_causes import CAUSES, EFFECTLESS, Causing, Live
from benchmarks.fault_report import interval
from benchmarks.point import Silent, point_of

from wirespeed.bench.assembly.kinds import sut_of
from wirespeed.bench.interface import Step
from wirespeed.bench.session import RealBench
from wirespeed.cli.rig import local_rig
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.measure.run import run_search
from wirespeed.model.errors import WirespeedError
from wirespeed.model.explanation import Explanation
from wirespeed.model.result import SearchResult
from wirespeed.model.spec import Frames
from wirespeed.store.codec import decode, encode
from wirespeed.study.interface import Rig
from wirespeed.study.run import max_load_fps

LOADS_FPS = (40_000, 90_000)
NAMED, NAMED_OR_HONEST, WRONG = 0.85, 0.95, 0.03
# Of the frames: a kind that lost no more had no effect.
EFFECT = 0.001
# Of a CPU: a cell says nothing where a program that is neither the bench's nor a kind's used more.
VOID, OURS = 0.1, frozenset({"python", "python3"})
# Explanations that accuse nobody.
NEUTRAL = frozenset(
    {"not_reached", "frame_cost", "worker_balance", "core_to_core_latency", "smt_siblings",
     "memory_contention", "core_contention", "shared_lcore", "max_load"}
)  # fmt: skip
# What this host's own noise looks like: no alarm where a kind had no effect.
NOISE = frozenset(
    {"generator_interrupted", "sut_interrupted", "steal", "pmd_core_shared",
     "generator_core_shared"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """One point: what was caused, the share of frames lost, and what was named, first first."""

    kind: str
    topology: str
    load_fps: float
    lost: float
    verdict: str
    named: Sequence[Sequence[str | None]] = field(default_factory=tuple)
    said: str = ""
    grade: str = ""
    took_s: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.verdict} {self.kind} on {self.topology}: missing {self.lost:.2%}, grade "
            f"{self.grade}, {self.named[:2]}; {self.said} ({self.took_s} s)"
        )


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

    def steps(self, duration_s: float) -> Sequence[Step]:
        if self.trials < 2:
            return ()
        if self.causing.each_trial:
            return self.causing.pulses(self.live, duration_s)
        return [(0.2 * duration_s, self._act)] if self.trials == 2 else ()

    def _act(self) -> None:
        self.stack.enter_context(self.causing.act(self.live))

    def rest(self) -> None:
        self.causing.rest(self.live)

    def down(self) -> None:
        """The stack undoes it."""


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
    frames, began = frames_of(topology, load_fps, causing), time.monotonic()
    with opened(rig, frames) as bench, ExitStack() as stack:
        live = Live.of(bench)
        bench.rig = replace(bench.rig, injections=(Acting(causing, live, stack),))
        found = run_search(frames.search, bench.measure, max_load_fps(frames), Silent())
    result = decode(SearchResult, encode(found))
    named = explain(Measured(sut_of(frames), result, workload=frames, plan=rig.plan(frames)))
    told = [(each.limit, each.hop) for each in named]
    acted = result.trials[1:]
    lost = sum(t.lost + (t.observation.total("unsent") if causing.delays else 0) for t in acted)
    share = lost / max(1, sum(t.observation.total("intended") for t in acted))
    beside = max((o.share for t in result.trials for o in t.observation.competitors
                  if not o.own and o.name not in OURS), default=0.0)  # fmt: skip
    accusing = (each for each in named if not each.limit.endswith("_harmless"))
    first = next((each for each in accusing if each.limit not in NEUTRAL), None)
    came_to = "void" if beside > VOID else verdict(causing, first, share)
    return Cell(
        causing.kind, topology, load_fps, round(share, 5), came_to, told,
        named[0].sentence if named else "", str(result.grade), round(time.monotonic() - began, 1),
    )  # fmt: skip


def verdict(causing: Causing, first: Explanation | None, missing: float) -> str:
    """named, honest, wrong or missed; without effect: silent, or wrong.

    A changed setting names the kind only where it is the kind's own.
    """
    limit = first.limit if first else None
    setting = causing.setting and first and causing.setting in first.sentence
    if missing <= EFFECT or causing.kind in EFFECTLESS:
        return "silent" if limit is None or limit in NOISE else "wrong"
    if limit in causing.limits or (limit == "changed" and setting):
        return "named"
    if limit in ("cause_not_found", "unaccounted"):
        return "honest"
    return "missed" if limit is None else "wrong"


def report(cells: Sequence[Cell]) -> int:
    acted = [cell for cell in cells if cell.verdict not in ("silent", "failed", "void")]
    void = sum(cell.verdict == "void" for cell in cells)
    named = sum(cell.verdict == "named" for cell in acted)
    honest = named + sum(cell.verdict == "honest" for cell in acted)
    wrong = sum(cell.verdict == "wrong" for cell in acted)
    failed = sum(cell.verdict == "failed" for cell in cells)
    total = max(1, len(acted))
    print(f"kinds {len({cell.kind for cell in cells})} 1 (asked: >= 30)")
    print(
        f"cells {len(cells)} 1 ({len(cells) - len(acted) - failed - void} without effect, "
        f"{void} void beside other programs, {failed} failed)"
    )
    ok = True
    for name, hits, asked, most in (
        ("named_first", named, NAMED, False),
        ("named_or_not_found", honest, NAMED_OR_HONEST, False),
        ("wrong_first", wrong, WRONG, True),
    ):  # fmt: skip
        low, high = interval(hits, len(acted))
        sign = "<=" if most else ">="
        print(f"{name} {hits / total:.3f} ratio ({hits} of {len(acted)}, 95% {low:.3f} to "
              f"{high:.3f}, asked: {sign} {asked})")  # fmt: skip
        ok = ok and (hits / total <= asked if most else hits / total >= asked)
    for cell in cells:
        if cell.verdict in ("wrong", "missed", "failed"):
            print(f"# {cell.verdict} {cell.kind} on {cell.topology}: {cell.named[:3]} {cell.said}")
    return 0 if ok and not failed else 1


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--topology", choices=("p2p", "pvp"))
    given = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root, for Open vSwitch with DPDK")
        return 1
    kept = given.state.read_text().splitlines() if given.state and given.state.exists() else []
    cells = [Cell(**json.loads(line)) for line in kept]
    rig, wanted = local_rig(), given.only.split(",") if given.only else None
    for causing in CAUSES:
        for topology, load_fps in zip(("p2p", "pvp"), LOADS_FPS, strict=True):
            done = any(
                (c.kind, c.topology) == (causing.kind, topology) and c.verdict != "void"
                for c in cells
            )
            if (
                done
                or (wanted and causing.kind not in wanted)
                or topology not in causing.topologies
            ):
                continue
            if given.topology not in (None, topology):
                continue
            try:
                cell = measured(rig, causing, topology, load_fps)
            except WirespeedError as error:
                cell = Cell(causing.kind, topology, load_fps, 0.0, "failed", said=error.what)
            cells.append(cell)
            print(f"# {cell}", flush=True)
            if given.state:
                given.state.parent.mkdir(parents=True, exist_ok=True)
                with given.state.open("a") as file:
                    file.write(json.dumps(asdict(cell)) + "\n")
    return report(cells)


if __name__ == "__main__":
    sys.exit(main())
