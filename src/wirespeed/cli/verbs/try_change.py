# SPDX-License-Identifier: Apache-2.0
"""Measure the first change that a study can try (`wirespeed explain --try`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wirespeed.cli.console import print_line
from wirespeed.cli.input.begun import cut_short
from wirespeed.cli.show.progress import watching
from wirespeed.cli.typed import typed
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.input.fault import show
from wirespeed.model.result.explanation import Proposal
from wirespeed.model.study.study import Study
from wirespeed.report.compare.tried import Tried, tried
from wirespeed.report.text.explained import Explained
from wirespeed.session import rig as rigs
from wirespeed.session.lab_rig import rig_for, testbed_for
from wirespeed.store.in_use import held
from wirespeed.store.read import read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.run_writer import RunWriter
from wirespeed.store.store import Store
from wirespeed.study.change import AS_IT_WAS, study_of_change
from wirespeed.study.run import run_study


@dataclass(frozen=True, slots=True)
class TryOptions:
    """Options of the command."""

    lab: Path | None = None
    lab_is_named: bool = True
    """True if the command line names the testbed file; the point must need it."""
    store: str | None = None
    """As --store named it."""


def the_one(found: tuple[Explained, ...], run: RunRecord) -> Explained:
    """Return the point whose change is tried. Raises BadInput where that is ambiguous."""
    if len(found) > 1:
        raise BadInput(
            f"--try: run {run.id} has {len(found)} points",
            "Name the point whose change --try should measure.",
        )
    return found[0]


def first_change(found: Explained, run_id: str, store: str | None) -> Proposal:
    """Return the first change that a study can try.

    Raises WirespeedError with the reason of each where there is none.
    """
    proposals = [change.proposal for change in found.changes if change.proposal is not None]
    possible = [proposal for proposal in proposals if proposal.keys]
    if possible:
        return possible[0]
    if not proposals:
        why = found.why_not or "nothing is known to help"
        raise WirespeedError(
            f"{found.point.label}: there is no change to try: {why}",
            f"The report has what was measured: {typed('report', run_id, store=store)}",
        )
    reasons = "\n".join(f"  {p.change.rstrip('.')}: {p.cannot_try}" for p in proposals)
    raise WirespeedError(
        f"{found.point.label}: no change can be tried here", f"Reasons:\n{reasons}"
    )


def try_change(
    store: Store, run: RunRecord, found: Explained, pairs: int, options: TryOptions
) -> Tried:
    """Measure the point unchanged and changed, in turn, and compare. The run is stored.

    An interrupted run continues. Raises BadInput where this is another host than the run's.
    """
    keys = first_change(found, run.id, options.store).keys
    words = ", ".join(f"{change.key} = {show(change.value)}" for change in keys)
    title = f"Does {words} bring more at {found.point.label}?"
    study = study_of_change(f"try-{run.study}", found.point.parameters, keys, pairs, title)
    lab = testbed_for(study, options.lab, is_named=options.lab_is_named)
    with rig_for(study, lab) as rig:
        if rig.facts.host != run.host.host:
            raise BadInput(
                f"run {run.id} was measured on {run.host.host}, this is {rig.facts.host}",
                "Try the change there, or measure here first: "
                + typed("run", run.study, store=options.store),
            )
        for point in study.points[:2]:
            rig.plan(point.workload)  # report what the host cannot do before measuring
        origin = rigs.origin_of(rig, ["wirespeed", *sys.argv[1:]])
        begun = cut_short(store, study, origin)
        writer = RunWriter.start(store, study, origin) if begun is None else _go_on(store, begun)
        with (
            held(store, writer.run_id),
            _kept(writer, study, options.store),
            watching(study, writer.run_id) as watcher,
        ):
            run_study(study, writer, rig, watcher)
    return tried(read_run(store, writer.run_id), keys, AS_IT_WAS)


def _go_on(store: Store, begun: RunRecord) -> RunWriter:
    """Continue an interrupted run. Half a pair keeps until its partner is measured."""
    writer = RunWriter(store, begun.id)
    measured = len(writer.complete_points())
    print_line(
        f"run {begun.id} goes on: {measured} of its {len(begun.points)} points are measured",
        stderr=True,
    )
    return writer


@contextmanager
def _kept(writer: RunWriter, study: Study, store: str | None) -> Iterator[None]:
    report = typed("report", writer.run_id, store=store)
    try:
        yield
    except BaseException:
        print_line(
            f"run {writer.run_id} is incomplete: not all of its {len(study.points)} points are "
            f"measured; those that are stay stored, and `{report}` shows "
            "them. The same command goes on with it.",
            stderr=True,
        )
        raise
