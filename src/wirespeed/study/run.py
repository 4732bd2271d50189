# SPDX-License-Identifier: Apache-2.0
"""Measure every point of a study that the run lacks, and store each trial when it ends.

For each point: plan, enter the bench, search with its `measure`, store the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from wirespeed.bench.assembly.kinds import sut_of, topology_of
from wirespeed.explain.explain import explain
from wirespeed.explain.far_apart import doubted
from wirespeed.explain.interface import Measured, tsc_hz
from wirespeed.measure.interface import UNLIMITED, Progress
from wirespeed.measure.run import run_search
from wirespeed.model.errors import WirespeedError
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.spec import Frames, TcpStreams
from wirespeed.model.study.study import Point, Study
from wirespeed.store.errors import StoreError
from wirespeed.store.run_writer import RunWriter
from wirespeed.study.interface import Rig, Watcher
from wirespeed.study.needs import lacking
from wirespeed.study.tcp import measure_tcp
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
    plan = rig.plan(point.workload)
    sut = sut_of(point.workload)
    writer.begin_point(point.key, plan, sut)
    if isinstance(point.workload, TcpStreams):
        with rig.open_tcp(point.workload, plan, f"{writer.run_id}/{point.key}") as tcp_bench:
            writer.add_bench(point.key, tcp_bench.describe())
            result = measure_tcp(tcp_bench, point.workload.tcp, watcher)
            result = replace(result, emulated=tcp_bench.emulated)
            found = Measured(sut, result, workload=point.workload, plan=plan, host=rig.facts)
            writer.complete_point(point.key, result, explain(found))
        return result
    with rig.open_bench(point.workload, plan, f"{writer.run_id}/{point.key}") as bench:
        described = bench.describe()
        writer.add_bench(point.key, described)
        listener = _StoreThenTell(point.key, writer, watcher)
        ceiling_fps = max_load_fps(point.workload)
        result = run_search(
            point.workload.search, bench.measure, ceiling_fps, listener, bench.place
        )
        result = replace(result, emulated=bench.emulated)
        found = Measured(
            sut, result, workload=point.workload, plan=plan, host=rig.facts,
            tsc_hz=tsc_hz(described),
        )  # fmt: skip
        found = replace(found, result=doubted(found))
        result = found.result
        writer.complete_point(point.key, result, explain(found))
    return result


def max_load_fps(frames: Frames) -> float:
    """Return the highest useful load: the links' line rate, or UNLIMITED.

    The line rate applies if ports are real or represent real ports. Elsewhere the load is
    unlimited. The generator's maximum changes from second to second on a shared machine; a fixed
    ceiling would make trials fall short of it.
    """
    bound = topology_of(frames).external or frames.traffic.link_bound
    return frames.line_rate_fps if bound else UNLIMITED


@dataclass(frozen=True, slots=True)
class _StoreThenTell:
    """Listener of the search that stores a trial before anyone sees it."""

    key: str
    writer: RunWriter
    watcher: Watcher

    def progress(self, progress: Progress) -> None:
        self.watcher.progress(progress)

    def trial(self, trial: Trial) -> None:
        self.writer.add_trial(self.key, trial)
        self.watcher.trial(trial)
