# SPDX-License-Identifier: Apache-2.0
"""wirespeed explain: report what limits a measured point, and what would change it."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.command_kinds import is_named
from wirespeed.cli.console import print_json, results_console
from wirespeed.cli.input.options import JsonOption, RunArgument, StoreOption
from wirespeed.cli.show.explain_tables import print_brief, print_explained, print_tried
from wirespeed.model.errors import BadInput
from wirespeed.report.json.explain_document import explain_document
from wirespeed.report.text.explained import Explained, check_evidence, explained
from wirespeed.store.named import point_named
from wirespeed.store.read import read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.store import Store, open_to_read

_PAIRS = 8


def explain(
    ctx: typer.Context,
    run: RunArgument,
    point: Annotated[
        str | None,
        typer.Argument(
            metavar="POINT",
            help='Label or id of a point, or how it begins, e.g. "pvp, 64". Default: all points.',
            show_default=False,
        ),
    ] = None,
    *,
    brief: Annotated[
        bool, typer.Option("--brief", help="Print a line for each point: rate, limit, change.")
    ] = False,
    json: JsonOption = False,
    try_: Annotated[
        bool,
        typer.Option(
            "--try",
            help="Measure the first proposed change that this host can make: the point with and "
            "without it, in turn. Stored as a run.",
        ),
    ] = False,
    pairs: Annotated[
        int | None,
        typer.Option(
            "--pairs",
            metavar="N",
            help="Pairs that --try measures. Default: 8; 95% confidence needs 6 valid ones.",
        ),
    ] = None,
    lab: Annotated[
        Path | None,
        typer.Option(
            "--lab", metavar="FILE", help="For --try: testbed file, as for `wirespeed run`."
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Explain what limits each point of a run, with evidence, and what to change first."""
    lab_named = is_named(ctx, "lab")
    if not try_ and (pairs is not None or lab_named):
        raise BadInput("--pairs, --lab: they need --try", "Add --try or remove them.")
    if brief and json:
        raise BadInput("--brief, --json: only one output format can be printed", "Choose one.")
    console = results_console()
    if try_:
        # It loads the bench, for which no explanation should wait.
        from wirespeed.cli.verbs.try_change import TryOptions, first_change, the_one, try_change
    with Store(store, exists=True) if try_ else open_to_read(store) as opened:
        record = read_run(opened, run, series=True)
        found = _explained(record, point)
        chosen = the_one(found, record) if try_ else None
        if not json:
            for each in found:
                (print_brief if brief else print_explained)(each, console)
        outcome = None
        if chosen is not None:
            proposal = first_change(chosen, record.id, store)
            wanted = _PAIRS if pairs is None else pairs
            outcome = try_change(opened, record, chosen, wanted, TryOptions(lab, lab_named, store))
            if not json:
                print_tried(outcome, proposal, console, store)
    if json:
        told = explain_document(record, found, outcome)
        print_json(json_text.dumps(told, indent=2, allow_nan=False))


def _explained(record: RunRecord, named: str | None) -> tuple[Explained, ...]:
    points = record.points if named is None else (point_named(record, named),)
    check_evidence(record)
    return tuple(explained(record, point) for point in points)
