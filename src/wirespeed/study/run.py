# SPDX-License-Identifier: Apache-2.0
"""Measure every point of a study that the run lacks, and store each trial when it ends.

For each point: plan, open the bench, measure, store the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from wirespeed.explain.explain import explain
from wirespeed.explain.far_apart import doubted
from wirespeed.explain.interface import Measured, tsc_hz
from wirespeed.measure.interface import Progress
from wirespeed.model.errors import WirespeedError
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.study import Point, Study
from wirespeed.store.errors import StoreError
from wirespeed.store.run_writer import RunWriter
from wirespeed.study.interface import Rig, Watcher
from wirespeed.study.kinds.registry import kind_of
from wirespeed.study.needs import lacking
from wirespeed.study.upcoming import Upcoming


def run_study(study: Study, writer: RunWriter, rig: Rig, watcher: Watcher) -> None:
    """Measure the study's incomplete points, in its order.

    If CPUs move, points that lack the current placement come first (study/upcoming.py). A point is
    excluded with the reason if the host does not meet its requirements. An error ends the run;
    stored results stay, and the point is measured again on resume.
    """
    upcoming = Upcoming.of(study, writer.placements())
    for point in study.in_order:
        if point not in upcoming.left:
            watcher.point_skipped(point, "complete already")
    while upcoming.left:
        point = upcoming.take()
        if (why := lacking(point.needs, rig.facts, rig.lab_hosts)) is not None:
            writer.leave_out(point.key, why)
            watcher.point_skipped(point, f"not run: {why}")
            continue
        upcoming.add(point, measure_point(point, writer, rig, watcher))
    writer.finish()


def measure_point(point: Point, writer: RunWriter, rig: Rig, watcher: Watcher) -> SearchResult:
    """Measure a point of the run and store its result, or the error that ends the run."""
    watcher.point_started(point)
    try:
        result = _result_of(point, writer, rig, watcher)
    except StoreError:
        raise  # The store would not accept the failure, either.
    except WirespeedError as error:
        writer.fail_point(point.key, error.what)
        raise
    watcher.point_complete(point, result)
    return result


def _result_of(point: Point, writer: RunWriter, rig: Rig, watcher: Watcher) -> SearchResult:
    plan, kind = rig.plan(point.workload), kind_of(point.workload)
    writer.begin_point(point.key, plan, kind.sut)
    with kind.open(rig, plan, f"{writer.run_id}/{point.key}") as bench:
        described = bench.describe()
        writer.add_bench(point.key, described)
        result = bench.measure(_StoreThenTell(point.key, writer, watcher))
        result = replace(result, emulated=bench.emulated)
        found = Measured(
            kind.sut, result, workload=point.workload, plan=plan, host=rig.facts,
            tsc_hz=tsc_hz(described),
        )  # fmt: skip
        found = replace(found, result=doubted(found))
        writer.complete_point(point.key, found.result, explain(found))
    return found.result


@dataclass(frozen=True, slots=True)
class _StoreThenTell:
    """Listener that stores a trial before anyone sees it."""

    key: str
    writer: RunWriter
    watcher: Watcher

    def progress(self, progress: Progress) -> None:
        self.watcher.progress(progress)

    def trial(self, trial: Trial) -> None:
        self.writer.add_trial(self.key, trial)
        self.watcher.trial(trial)

    def run_ended(self, rates: str, number: int) -> None:
        self.watcher.run_ended(rates, number)

    def run_failed(self, why: str) -> None:
        self.watcher.run_failed(why)
