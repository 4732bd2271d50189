# SPDX-License-Identifier: Apache-2.0
"""Test that every injected fault is named by hop and cause, and no healthy run is blamed.

The matrix has every fault type on three topologies at three loads, and healthy points. Strengths,
places, times and loads are drawn from a seed that is printed. Each cell is a point with a fixed
load, explained from what a run stores. The explainers do not know the fault. Prints the confusion
matrix and shares with 95% bounds (Clopper-Pearson), then `name value unit`.

    python -m benchmarks.fault_matrix [--seed N] [--state FILE] [--short]

Each finished cell is stored in FILE (build/fault-matrix.jsonl). A later call continues with the
seed of that file. --short runs one topology and one load per fault type; it is the default without
a state file, as in `make bench`. Exits 1 if the required shares are not reached. Needs root.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.faults.cases import ANYWHERE, CASES, HEALTHY, Setting, drawn
from benchmarks.faults.report import Cell, report
from benchmarks.shared.point import Silent

from wirespeed.bench.assembly.kinds import sut_of
from wirespeed.bench.fault.inject import needs_of_fault, place_of, strength_of
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.measure.run import run_search
from wirespeed.model.errors import WirespeedError
from wirespeed.model.result.explanation import Explanation
from wirespeed.model.result.result import SearchResult
from wirespeed.session.rig import local_rig
from wirespeed.store.codec import decode, encode
from wirespeed.study.interface import Rig
from wirespeed.study.kinds.frames import max_load_fps
from wirespeed.study.needs import lacking

STATE = Path("build/fault-matrix.jsonl")
HEALTHY_REPEATS = 5


@dataclass(slots=True)
class State:
    """Cells that are done, in a file where there is one."""

    path: Path | None
    seed: int
    cells: list[Cell]

    @classmethod
    def open(cls, path: Path | None, seed: int | None) -> State:
        if path is None or not path.exists():
            state = cls(path, secrets.randbelow(1 << 32) if seed is None else seed, [])
            state._write({"seed": state.seed})
            return state
        first, *rest = path.read_text().splitlines()
        kept = int(json.loads(first)["seed"])
        if seed is not None and seed != kept:
            raise SystemExit(f"{path} is of seed {kept}: remove it to begin anew")
        return cls(path, kept, [Cell(**json.loads(line)) for line in rest])

    def add(self, cell: Cell) -> None:
        self.cells.append(cell)
        self._write(asdict(cell))

    def left(self, setting: Setting) -> Setting:
        """Return the setting with the loads that are still to be tried."""
        kind, topology = setting.case.kind, setting.topology
        done = Counter(c.load_fps for c in self.cells if (c.kind, c.topology) == (kind, topology))
        if 0.0 in done:  # It could not be brought up.
            return replace(setting, loads_fps=())
        open_fps = [
            fps for fps, n in Counter(setting.loads_fps).items() for _ in range(n - done[fps])
        ]
        return replace(setting, loads_fps=tuple(open_fps))

    def _write(self, line: object) -> None:
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(json.dumps(line) + "\n")


def settings(seed: int, short: bool) -> Iterator[Setting]:
    """All benches of a seed, each drawn by itself, in an order by chance."""
    pairs = [(case, topology) for case in (*CASES, HEALTHY) for topology in case.topologies]
    found = [drawn(case, t, random.Random(f"{seed} {case.kind} {t}")) for case, t in pairs]
    repeated = [s for s in found if s.case is HEALTHY]
    found = [s for s in found if s.case is not HEALTHY]
    found += [replace(s, loads_fps=s.loads_fps * HEALTHY_REPEATS) for s in repeated]
    order = random.Random(seed)
    order.shuffle(found)
    if not short:
        yield from found
        return
    kinds = {setting.case.kind: setting for setting in found}
    for setting in kinds.values():
        yield replace(setting, loads_fps=(order.choice(setting.loads_fps),))


def measured(setting: Setting, rig: Rig) -> Iterator[Cell]:
    """Measure every load on one bench; yield a cell for each."""
    frames = setting.frames
    with rig.open_bench(frames, rig.plan(frames), "fault-matrix") as bench:
        for load_fps in setting.loads_fps:
            began = time.monotonic()
            search = replace(frames.search, load_fps=load_fps)
            result = run_search(search, bench.measure, max_load_fps(frames), Silent())
            stored = decode(SearchResult, encode(result))
            found = explain(Measured(sut_of(frames), stored))
            yield cell_of(setting, load_fps, found, time.monotonic() - began)


def cell_of(
    setting: Setting, load_fps: float, found: tuple[Explanation, ...], took_s: float
) -> Cell:
    fault, case = setting.frames.fault, setting.case
    looked_at = found if case.candidate else found[:1]
    right = any(
        each.limit == case.limit and setting.hop in (ANYWHERE, each.hop) for each in looked_at
    )
    return Cell(
        case.kind, setting.topology, load_fps,
        0.0 if fault is None else strength_of(fault),
        "" if fault is None else place_of(setting.frames),
        tuple((each.limit, each.hop) for each in found), right, setting.hop, round(took_s, 2),
        said=found[0].sentence if found else "",
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", help="a kind of fault, or none")
    given = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root, for Open vSwitch with DPDK")
        return 1
    state = State.open(given.state, given.seed)
    print(f"# seed {state.seed}, state {state.path or 'kept nowhere'}", flush=True)
    rig, not_run = local_rig(), {}
    for drawn_setting in settings(state.seed, given.short or given.state is None):
        setting = state.left(drawn_setting)
        if not setting.loads_fps or given.only not in (None, setting.case.kind):
            continue
        if (why := lacking(needs_of_fault(setting.frames), rig.facts)) is not None:
            not_run[setting.case.kind] = why
            continue
        try:
            for cell in measured(setting, rig):
                state.add(cell)
                print(f"# {cell}", flush=True)
        except WirespeedError as error:
            print(f"# {setting.case.kind} on {setting.topology}: {error}", flush=True)
            state.add(Cell.failed(setting.case.kind, setting.topology, error.what))
    return report(state.cells, not_run)


if __name__ == "__main__":
    sys.exit(main())
