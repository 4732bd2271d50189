# SPDX-License-Identifier: Apache-2.0
"""Measure every point of a study that the run does not hold yet, and store each trial as it ends.

for each point: plan, enter the bench, search with its measure, store the result
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.measure.interface import UNLIMITED, Progress
from wirespeed.measure.run import run_search
from wirespeed.measure.windows import trial_series
from wirespeed.model.errors import WirespeedError
from wirespeed.model.result import SearchResult
from wirespeed.model.spec import PointSpec, TopologyKind
from wirespeed.model.study import Point, Study
from wirespeed.model.trial import Trial
from wirespeed.model.units import line_rate_fps
from wirespeed.store.errors import StoreError
from wirespeed.store.recording import Recording
from wirespeed.study.interface import Rig, Watcher
from wirespeed.study.tcp import measure_tcp


def run_study(study: Study, recording: Recording, rig: Rig, watcher: Watcher) -> None:
    """Measure the study's points in order, but not those that the recording has complete.

    An error ends the run; what is stored by then stays, and the point is measured again on resume.
    """
    done = recording.complete_points()
    for point in study.points:
        if point.id in done:
            watcher.point_skipped(point)
            continue
        watcher.point_started(point)
        try:
            result = _measure_point(point, recording, rig, watcher)
        except StoreError:
            raise  # It would not take the news either.
        except WirespeedError as error:
            recording.fail_point(point.id, error.what)
            raise
        watcher.point_complete(point, result)
    recording.finish()


def _measure_point(point: Point, recording: Recording, rig: Rig, watcher: Watcher) -> SearchResult:
    plan = rig.plan(point.spec)
    recording.begin_point(point.id, plan)
    if point.spec.tcp is not None:
        with rig.open_tcp(point.spec, plan, f"{recording.run_id}/{point.id}") as tcp_bench:
            recording.add_bench(point.id, tcp_bench.describe())
            result = measure_tcp(tcp_bench, point.spec.tcp, watcher)
            recording.complete_point(point.id, result)
        return result
    with rig.open_bench(point.spec, plan, f"{recording.run_id}/{point.id}") as bench:
        recording.add_bench(point.id, bench.describe())
        listener = _RecordThenTell(point.id, recording, watcher)
        ceiling_fps = max_load_fps(point.spec)
        result = run_search(point.spec.search, bench.measure, ceiling_fps, listener)
        recording.complete_point(point.id, result)
    return result


def max_load_fps(spec: PointSpec) -> float:
    """The highest load that makes sense: the links' line rate where ports are real.

    Where they are not, as much as possible: the generator's best changes from second to second on a
    shared machine, and trials that ask for what it once reached would be short of it.
    """
    if spec.topology.kind is not TopologyKind.EXTERNAL:
        return UNLIMITED
    return len(spec.directions) * line_rate_fps(spec.traffic.link_bps, spec.mean_wire_bytes)


@dataclass(frozen=True, slots=True)
class _RecordThenTell:
    """The search's listener: a trial is safe before anybody sees it."""

    point_id: str
    recording: Recording
    watcher: Watcher

    def progress(self, progress: Progress) -> None:
        self.watcher.progress(progress)

    def trial(self, trial: Trial) -> None:
        self.recording.add_trial(self.point_id, trial, trial_series(trial.seen))
        self.watcher.trial(trial)
