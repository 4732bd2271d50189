# SPDX-License-Identifier: Apache-2.0
"""Open a run whose points a search chooses while it measures: tune, compare and bisect."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from wirespeed.cli.console import print_line
from wirespeed.cli.show.detail import Detail
from wirespeed.cli.show.progress import watching
from wirespeed.cli.typed import typed
from wirespeed.model.errors import BadInput
from wirespeed.model.study.study import Point, Study
from wirespeed.remote.fence import check_not_leased
from wirespeed.remote.interface import Runner
from wirespeed.remote.local import LocalRunner
from wirespeed.session import rig as rigs
from wirespeed.store.codec import encode
from wirespeed.store.in_use import held
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.study.expand import parameters
from wirespeed.study.interface import Rig
from wirespeed.tune.goal import Goal
from wirespeed.tune.host_factors import host_set
from wirespeed.tune.trials import Trials, workload_with


@dataclass(frozen=True, slots=True)
class Request:
    """Purpose of a run. A run of the same request continues one that was cut short."""

    name: str
    title: str
    point: Point
    goal: Goal
    asked: Mapping[str, Any]
    """All that decides the measurements; stored with the run."""
    most: int
    """Most measurements."""
    store: str | None
    """As --store named it."""
    resume: bool = False
    json: bool = False

    @property
    def study(self) -> Study:
        """Return the study under which the run is stored; it begins without points."""
        resolved = {"title": self.title, **self.point.parameters, "asked": encode(dict(self.asked))}
        return Study(self.name, self.title, "", (), resolved)


class Paused(Exception):
    """Raised within trials_of to leave its run unfinished without a word."""


def measured_point(point: Point, keys: Mapping[str, Any]) -> Point:
    """Return the point with the keys of [search] that its goal needs."""
    workload = workload_with(point.parameters, keys, point.label)
    return replace(point, workload=workload, parameters=parameters(workload))


@contextmanager
def trials_of(
    opened: Store, request: Request, rig: Rig, runner: Runner | None = None
) -> Iterator[Trials]:
    """Yield the measurements of a new run, or of the one that --resume continues.

    runner: host whose files are set for measurements; None: this machine. Raises Fenced where
    another controller has leased the host.
    """
    sut = runner or LocalRunner()
    check_not_leased(sut)
    origin = rigs.origin_of(rig, ["wirespeed", *sys.argv[1:]])
    if request.resume:
        writer = RunWriter(opened, _cut_short(opened, request, origin))
    else:
        writer = RunWriter.start(opened, request.study, origin)
    shown = replace(request.study, points=(request.point,) * request.most)
    detail = Detail.QUIET if request.json else Detail.NORMAL
    with held(opened, writer.run_id), watching(shown, writer.run_id, detail) as watcher:
        trials = Trials(writer, rig, watcher, request.goal, lambda files: host_set(sut, files))
        if request.resume:
            print_line(f"run {writer.run_id} goes on: {trials.replay()} measured", stderr=True)
        try:
            yield trials
        except Paused:
            raise
        except BaseException:
            print_line(
                f"run {writer.run_id} is incomplete; its measurements stay. The same command with "
                f"--resume goes on. Report: {typed('report', writer.run_id, store=request.store)}",
                stderr=True,
            )
            raise
        writer.finish()


def _cut_short(opened: Store, request: Request, origin: Origin) -> str:
    """Return the newest unfinished run of the same request here. Raises BadInput."""
    for summary in list_runs(opened):
        if summary.study != request.name[:64]:
            continue
        record = read_run(opened, summary.id)
        same = (
            record.finished_at is None
            and record.resolved == request.study.resolved
            and record.host.host == origin.host.host
            and record.versions == dict(origin.versions)
        )
        if same:
            return record.id
    raise BadInput(
        f"{request.name}: no unfinished run of the same request in {opened.url}",
        "Leave out --resume to start a new one.",
    )
