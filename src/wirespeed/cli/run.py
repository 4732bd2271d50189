# SPDX-License-Identifier: Apache-2.0
"""wirespeed run: measure a study on this host."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli import rig as rigs
from wirespeed.cli.options import JsonOption, SetOption, StoreOption, StudyArgument
from wirespeed.cli.progress import watching
from wirespeed.cli.show import check_file, print_results, results_console, write_html
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.result import Grade
from wirespeed.model.study import Study
from wirespeed.report.document import document
from wirespeed.report.table import below_grade, without_figures
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.recording import Origin, Recording
from wirespeed.store.records import RunRecord
from wirespeed.store.store import Store
from wirespeed.study.load import load_study, resolve_study
from wirespeed.study.run import run_study


def run(
    study: StudyArgument,
    *,
    set_: SetOption = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue the study's newest incomplete run, or the run named instead of STUDY.",
        ),
    ] = False,
    json: JsonOption = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report to FILE, too.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print a line for each trial as it ends.")
    ] = False,
    require_grade: Annotated[
        str | None,
        typer.Option(
            "--require-grade",
            metavar="GRADE",
            help="Exit with 1 when a point's grade is below A, B or C.",
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Measure every point of a study and keep each trial; then print the results."""
    required = _required_grade(require_grade)
    if html is not None:
        check_file(html)
    with Store(store) as opened:
        rig = rigs.local_rig()
        origin = Origin(["wirespeed", *sys.argv[1:]], rigs.own_versions(), rig.facts)
        if resume:
            loaded, recording = _resume(opened, study, set_ or (), origin)
        else:
            loaded, recording = load_study(study, set_ or ()), None
        for point in loaded.points:
            rig.plan(point.spec)  # What this host cannot do is said before anything is measured.
        recording = recording or Recording.start(opened, loaded, origin)
        with _kept(recording), watching(loaded, recording.run_id, verbose=verbose) as watcher:
            run_study(loaded, recording, rig, watcher)
        record = read_run(opened, recording.run_id, series=html is not None)
    if html is not None:
        write_html(record, html)
    if json:
        typer.echo(json_text.dumps(document(record), indent=2, allow_nan=False))
    else:
        print_results(record, results_console(), html)
    _check_figures(record, required)


def _required_grade(text: str | None) -> Grade | None:
    """Raises BadInput for anything but A, B or C: every figure has at least a D."""
    if text is None:
        return None
    if text not in ("A", "B", "C"):
        raise BadInput(f"--require-grade {text}: must be A, B or C", "E.g. --require-grade B.")
    return Grade(text)


def _check_figures(record: RunRecord, required: Grade | None) -> None:
    """Raises WirespeedError where a script must not go on: no figure, or one not sure enough."""
    total = len(record.points)
    if without := without_figures(record):
        raise WirespeedError(
            f"{len(without)} of {total} points have no figure: {'; '.join(without)}",
            "The report says what kept every trial from running or counting.",
        )
    if required is not None and (below := below_grade(record, required)):
        raise WirespeedError(
            f"{len(below)} of {total} points are below grade {required}: {'; '.join(below)}",
            "The report says what disturbed them. Isolated CPUs lift the grade (wirespeed plan).",
        )


@contextmanager
def _kept(recording: Recording) -> Iterator[None]:
    """Whatever ends the run early, say that its results are kept and how it goes on."""
    try:
        yield
    except BaseException:
        sys.stderr.write(
            f"run {recording.run_id} is incomplete; complete points are kept. "
            f"Continue: wirespeed run {recording.run_id} --resume\n"
        )
        raise


def _resume(
    store: Store, named: str, overrides: Sequence[str], origin: Origin
) -> tuple[Study, Recording]:
    """The run to continue, and its study. Raises BadInput when there is none that fits."""
    summaries = list_runs(store)
    if any(summary.id == named for summary in summaries):
        record = read_run(store, named)
        if overrides:
            raise BadInput(
                f"--set {overrides[0]} cannot change run {named}",
                "Start a new run without --resume.",
            )
        study = resolve_study(record.study, f"run {named}", record.resolved)
    else:
        study = load_study(named, overrides)
        ids = [s.id for s in summaries if s.study == study.name and s.complete < s.points]
        if not ids:
            raise BadInput(
                f"study {study.name}: no incomplete run to resume in {store.url}",
                "Leave out --resume to start a new run.",
            )
        record = read_run(store, ids[0])
    _check_same(record, study, origin)
    return study, Recording(store, record.id)


def _check_same(record: RunRecord, study: Study, origin: Origin) -> None:
    """A run is one study, measured on one host with one version."""
    next_step = "Start a new run without --resume."
    if {p.id for p in record.points} != {p.id for p in study.points}:
        raise BadInput(f"run {record.id} has other points than {study.name} has now", next_step)
    if record.host.host != origin.host.host:
        raise BadInput(
            f"run {record.id} was begun on host {record.host.host}, this is {origin.host.host}",
            next_step,
        )
    if record.versions != dict(origin.versions):
        raise BadInput(
            f"run {record.id} was begun with {record.versions}, this is {dict(origin.versions)}",
            next_step,
        )
