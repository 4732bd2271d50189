# SPDX-License-Identifier: Apache-2.0
"""wirespeed run: measure a study on this host."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.command_kinds import is_named
from wirespeed.cli.console import print_json, print_line, results_console
from wirespeed.cli.input.begun import check_same
from wirespeed.cli.input.neighbours import newest_neighbours
from wirespeed.cli.input.options import (
    JsonOption,
    JunitOption,
    QuickOption,
    SetOption,
    StoreOption,
    StudyArgument,
    ThresholdOption,
)
from wirespeed.cli.input.required import required
from wirespeed.cli.show.detail import Detail, detail_of
from wirespeed.cli.show.progress import watching
from wirespeed.cli.show.show import Files, print_results
from wirespeed.cli.typed import RunOptions, typed
from wirespeed.cli.verbs.run_recording import polling_cpus, recording
from wirespeed.kpi.pace import checked_rate
from wirespeed.model.errors import BadInput
from wirespeed.model.study.study import Point, Study
from wirespeed.report.json.document import document
from wirespeed.report.views.thresholds import judge
from wirespeed.session import rig as rigs
from wirespeed.session.lab_rig import rig_for, testbed_for
from wirespeed.store.errors import StoreError
from wirespeed.store.in_use import held
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.run_writer import RunWriter
from wirespeed.store.store import Store
from wirespeed.study.announce import announcement
from wirespeed.study.load import load_study, resolve_study
from wirespeed.study.needs import lacking
from wirespeed.study.run import run_study
from wirespeed.study.shipped import find_study


def run(
    ctx: typer.Context,
    study: StudyArgument,
    *,
    set_: SetOption = None,
    fault: Annotated[
        str | None,
        typer.Option(
            "--fault",
            metavar="NAME[:STRENGTH]",
            help="Inject a fault at every point, e.g. pmd-core-hog:0.2 (docs/reference/faults.md).",
        ),
    ] = None,
    quick: QuickOption = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue the newest incomplete run of STUDY, or the run with this id or name.",
        ),
    ] = False,
    json: JsonOption = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write the report to FILE.")
    ] = None,
    junit: JunitOption = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only errors and the table of results.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Also print each trial as it ends, and explain the table."
        ),
    ] = False,
    threshold: ThresholdOption = None,
    require_grade: Annotated[
        str | None,
        typer.Option(
            "--require-grade",
            metavar="GRADE",
            help="Exit with 1 if any point's grade is below A, B or C.",
        ),
    ] = None,
    require_placement: Annotated[
        bool,
        typer.Option(
            "--require-placement",
            help="Exit with 1 if a point has no rate in the placement that search.placement names.",
        ),
    ] = False,
    lab: Annotated[
        Path | None,
        typer.Option(
            "--lab",
            metavar="FILE",
            help="Testbed file (TOML): the hosts that the study's table `hosts` names.",
        ),
    ] = None,
    kpi: Annotated[
        bool,
        typer.Option(
            "--kpi/--no-kpi",
            help="Record this host's counters next to the run (`wirespeed kpi`). Default: no.",
        ),
    ] = False,
    kpi_rate: Annotated[
        float | None,
        typer.Option(
            "--kpi-rate",
            metavar="HZ",
            help="Record at this rate, 1 to 50, also while frames flow on a host without a CPU to "
            "spare. Implies --kpi.",
        ),
    ] = None,
    fence: Annotated[
        int | None,
        typer.Option(
            "--fence",
            metavar="TOKEN",
            min=1,
            help="Fencing token of the host lease; a host rejects one older than it has seen.",
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Measure every point of a study, then print rates, limits and what to change."""
    detail = detail_of(quiet=quiet, verbose=verbose)
    asked = tuple(threshold or ())
    needed = required(asked, require_grade, placement=require_placement)
    rate_hz = None if kpi_rate is None else checked_rate(kpi_rate)
    kpi = kpi or rate_hz is not None
    files = Files(html, junit)
    files.check()
    overrides = (*(set_ or ()), *_fault_overrides(fault))
    fresh = None if resume else load_study(study, overrides, quick=quick)
    with Store(store, exists=resume) as opened:
        loaded, begun = (
            (fresh, None)
            if fresh is not None
            else _to_resume(opened, study, overrides, quick=quick, store=store)
        )
        needed.check_study(loaded)
        lab = testbed_for(loaded, lab, is_named=is_named(ctx, "lab"))
        with rig_for(loaded, lab, fence) as rig:
            origin = rigs.origin_of(
                rig,
                ["wirespeed", *sys.argv[1:]],
                newest_neighbours(opened, rig.facts.host),
            )
            if begun is not None:
                check_same(begun, loaded, origin)
            wanted = [
                p for p in loaded.points if lacking(p.needs, rig.facts, rig.lab_hosts) is None
            ]
            # Report what the hosts cannot do before anything is measured.
            plans = [
                rig.plan(workload)
                for workload in {point.id: point.workload for point in wanted}.values()
            ]
            writer = (
                RunWriter.start(opened, loaded, origin)
                if begun is None
                else RunWriter(opened, begun.id)
            )
            options = RunOptions(
                lab, fence, store, html, junit, json, quiet, verbose, require_grade,
                require_placement, asked, kpi, rate_hz,
            )  # fmt: skip
            with held(opened, writer.run_id), _kept(writer, options, new=begun is None):
                if detail is not Detail.QUIET:
                    _announce(loaded, wanted, writer)
                polled = frozenset[int]().union(*map(polling_cpus, plans))
                with ExitStack() as stack:
                    watcher = stack.enter_context(watching(loaded, writer.run_id, detail))
                    if kpi:
                        beside = recording(watcher, writer.run_id, polled, store, rate_hz)
                        watcher = stack.enter_context(beside)
                    run_study(loaded, writer, rig, watcher)
        record = read_run(opened, writer.run_id, series=html is not None)
    judged = judge(record, needed.thresholds)
    files.write(record, judged, store)
    if json:
        print_json(json_text.dumps(document(record, judged), indent=2, allow_nan=False))
    else:
        print_results(record, results_console(), html, judged=judged, detail=detail, store=store)
    needed.check_run(record, judged, store)


def _announce(study: Study, wanted: Sequence[Point], writer: RunWriter) -> None:
    """Print what is about to be measured, and how long it takes."""
    done = writer.complete_points()
    for sentence in announcement(study, [p for p in wanted if p.key not in done]):
        print_line(sentence, stderr=True)


def _fault_overrides(text: str | None) -> tuple[str, ...]:
    """Return the --set arguments that --fault NAME:STRENGTH stands for."""
    if text is None:
        return ()
    name, colon, strength = text.partition(":")
    return (f"fault.kind={name}", *((f"fault.strength={strength}",) if colon else ()))


@contextmanager
def _kept(writer: RunWriter, options: RunOptions, *, new: bool) -> Iterator[None]:
    """Report that results are kept, and how to continue, if anything ends the run early.

    new: whether it began just now; then it is removed where it has no result.
    """
    try:
        yield
    except BaseException:
        with suppress(StoreError):  # where nothing can be written, the run stays
            if new and writer.discard_empty():
                raise
        print_line(
            f"run {writer.run_id} is incomplete; complete points are kept. "
            f"Continue: {options.resume(writer.run_id)}",
            stderr=True,
        )
        raise


def _is_study(named: str) -> bool:
    """Return whether it names a study; a run of the same name does not hide the study."""
    try:
        find_study(named)
    except BadInput:
        return False
    return True


def _to_resume(
    opened: Store, named: str, overrides: Sequence[str], *, quick: bool, store: str | None
) -> tuple[Study, RunRecord]:
    """Return the study and the run to continue. store: as --store named it. Raises BadInput."""
    summaries = list_runs(opened)
    if any(named == each.id or (named == each.name and not _is_study(named)) for each in summaries):
        record = read_run(opened, named)
        if overrides or quick:
            said = f"--set {overrides[0]}" if overrides else "--quick"
            raise BadInput(
                f"{said} cannot change run {named}",
                "Start a new run without --resume.",
            )
        study = resolve_study(record.study, f"run {named}", record.resolved)
    else:
        try:
            find_study(named)
        except BadInput as error:
            raise BadInput(
                f"no run {named!r} in {opened.url}; {error.what}",
                f"`{typed('runs', store=store)}` lists runs. {error.next_step}",
            ) from error
        study = load_study(named, overrides, quick=quick)
        ids = [s.id for s in summaries if s.study == study.name and s.complete < s.points]
        if not ids:
            raise BadInput(
                f"study {study.name}: no incomplete run to resume in {opened.url}",
                "Run without --resume to start a new run.",
            )
        record = read_run(opened, ids[0])
    return study, record
