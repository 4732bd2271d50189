# SPDX-License-Identifier: Apache-2.0
"""Measure one point for a benchmark, on this machine's bench, as `wirespeed run` does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from wirespeed.bench.interface import Bench
from wirespeed.measure.interface import Progress
from wirespeed.measure.run import run_search
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.spec import Frames
from wirespeed.session.rig import local_rig
from wirespeed.study.kinds.frames import max_load_fps
from wirespeed.study.load import load_study


@dataclass(frozen=True, slots=True)
class Silent:
    """A listener that prints nothing."""

    def progress(self, progress: Progress) -> None: ...

    def trial(self, trial: Trial) -> None: ...


def point_of(study: str, *overrides: str) -> Frames:
    """Return the first point of a study with the overrides on top."""
    workload = load_study(study, list(overrides)).points[0].workload
    assert isinstance(workload, Frames)
    return workload


@contextmanager
def bench_of(spec: Frames) -> Iterator[Bench]:
    """Yield the point's bench on this machine, brought up."""
    rig = local_rig()
    with rig.open_bench(spec, rig.plan(spec), "benchmark") as bench:
        yield bench


def searched(spec: Frames) -> SearchResult:
    """Return the result of the point's own search."""
    with bench_of(spec) as bench:
        return run_search(spec.search, bench.measure, max_load_fps(spec), Silent())


def trials_at(spec: Frames, loads_fps: Sequence[float], duration_s: float) -> list[Trial]:
    """Run one unjudged trial at each load on one bench, after a short one as warm-up."""
    with bench_of(spec) as bench:
        bench.measure(loads_fps[0], 0.2)
        return [
            Trial(bench.measure(load, duration_s), stage=Stage.CONSTANT, quiet=False)
            for load in loads_fps
        ]
