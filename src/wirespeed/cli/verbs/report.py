# SPDX-License-Identifier: Apache-2.0
"""wirespeed report: write what a run measured."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.console import print_json, print_line, print_text, results_console
from wirespeed.cli.input.options import (
    JsonOption,
    JunitOption,
    RunArgument,
    StoreOption,
    ThresholdOption,
)
from wirespeed.cli.input.predictions import parameters_of, with_predictions
from wirespeed.cli.input.required import check_met
from wirespeed.cli.show.show import Files, print_thresholds, write_svg
from wirespeed.model.errors import BadInput
from wirespeed.report.json.document import document
from wirespeed.report.text.csv_table import csv_text
from wirespeed.report.text.threshold_text import check_labels, read_thresholds
from wirespeed.report.views.redact import Redactor
from wirespeed.report.views.thresholds import judge
from wirespeed.store.read import read_run
from wirespeed.store.store import open_to_read


def report(
    run: RunArgument,
    *,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write the HTML report to FILE. Default: ./RUN.html."
        ),
    ] = None,
    csv: Annotated[
        bool,
        typer.Option(
            "--csv", help="Print CSV on stdout: one line for each point and placement of its CPUs."
        ),
    ] = False,
    json: JsonOption = False,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg", metavar="DIRECTORY", help="Write the charts as SVG files into DIRECTORY."
        ),
    ] = None,
    params: Annotated[
        Path | None,
        typer.Option(
            "--params",
            metavar="FILE",
            help="Also show what these parameters predict; `wirespeed predict fit` writes them.",
        ),
    ] = None,
    threshold: ThresholdOption = None,
    junit: JunitOption = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            help="Replace host names, addresses and command lines with labels in all output.",
        ),
    ] = False,
    store: StoreOption = None,
) -> None:
    """Write a run's report: one HTML file that needs no network."""
    if csv and json:
        raise BadInput("--csv, --json: both print on stdout", "Choose one.")
    asked = read_thresholds(threshold or ())
    # Only the charts need the series.
    page = html is not None or not (csv or json or svg or junit)
    with open_to_read(store) as opened:
        record = read_run(opened, run, series=page or svg is not None)
    check_labels(asked, [point.label for point in record.points], f"run {record.id}")
    judged = judge(record, asked)
    if params is not None:
        record = with_predictions(record, parameters_of(params))
    if redact:
        redactor = Redactor(record)
        record, judged = redactor.of(record), redactor.of(judged)
    if csv:
        print_text(csv_text(record))
    if json:
        print_json(json_text.dumps(document(record, judged), indent=2, allow_nan=False))
    if svg is not None:
        for chart in write_svg(record, svg, store):
            print_line(f"Chart: {chart.absolute()}", stderr=csv or json)
    written = html or Path(f"{record.id}.html") if page else None
    Files(written, junit).write(record, judged, store)
    for name, path in (("Report", written), ("JUnit", junit)):
        if path is not None:
            print_line(f"{name}: {path.absolute()}", stderr=csv or json)
    if not (csv or json):
        print_thresholds(judged, results_console())
    check_met(record, judged, store)
