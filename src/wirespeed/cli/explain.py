# SPDX-License-Identifier: Apache-2.0
"""wirespeed explain: what limits a measured point, and what would change it?"""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

from wirespeed.cli.explain_tables import print_explained
from wirespeed.cli.options import JsonOption, RunArgument, StoreOption
from wirespeed.cli.show import results_console
from wirespeed.report.explain_document import explain_document
from wirespeed.report.explained import Explained, check_evidence, explained
from wirespeed.store.named import point_named
from wirespeed.store.read import read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.store import Store


def explain(
    run: RunArgument,
    point: Annotated[
        str | None,
        typer.Argument(
            metavar="[POINT]",
            help="A point's label or id, or its first characters. Left out: all points.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Say what limits the points of a run, by which figures, and what to change first."""
    with Store(store) as opened:
        record = read_run(opened, run, series=True)
    found = _explained(record, point)
    if json:
        typer.echo(json_text.dumps(explain_document(record, found), indent=2, allow_nan=False))
        return
    console = results_console()
    for each in found:
        print_explained(each, console)


def _explained(record: RunRecord, named: str | None) -> tuple[Explained, ...]:
    points = record.points if named is None else (point_named(record, named),)
    check_evidence(record)
    return tuple(explained(record, point) for point in points)
