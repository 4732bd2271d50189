# SPDX-License-Identifier: Apache-2.0
"""wirespeed kpi export: a recording as CSV, OpenMetrics or one HTML file."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated

import typer

from wirespeed.cli.console import print_line
from wirespeed.cli.input.options import StoreOption
from wirespeed.cli.output_file import writing
from wirespeed.kpi.collectors.registry import metrics
from wirespeed.kpi.interface import KpiError
from wirespeed.kpi.openmetrics import Column, family
from wirespeed.live.exported import write_file
from wirespeed.live.stored import StoredRecording
from wirespeed.model.errors import BadInput
from wirespeed.model.result.recording import NO_VALUE
from wirespeed.store import recordings
from wirespeed.store.chunk_codec import Reads
from wirespeed.store.store import Store, open_to_read

_HEAD = ("series", "labels", "unit", "kind", "epoch", "begin_ns", "end_ns", "value")


def export(
    recording: Annotated[
        str, typer.Argument(metavar="RECORDING", help='Id of a recording, or "latest".')
    ] = recordings.LATEST,
    *,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write every sample as CSV.")
    ] = None,
    openmetrics: Annotated[
        Path | None,
        typer.Option(
            "--openmetrics",
            metavar="FILE",
            help="Write OpenMetrics for `promtool tsdb create-blocks-from openmetrics`.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write one HTML file that plays offline: 32 MiB of packed samples at most.",
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Export a recording to files. Values are raw counters; rates are left to the reader."""
    if csv_file is None and openmetrics is None and html is None:
        raise BadInput(
            "kpi export: names no file", "Give --csv FILE, --openmetrics FILE, --html FILE or all."
        )
    with open_to_read(store) as opened:
        found = recordings.recording_of(opened, recording)
        if csv_file is not None:
            with writing(csv_file) as file:
                _write_csv(opened, found.id, file)
        if openmetrics is not None:
            with writing(openmetrics) as file:
                _write_openmetrics(opened, found, file)
        if html is not None:
            recorded = StoredRecording(opened, found.id).recorded()
            with writing(html) as file:
                write_file(opened, recorded, file)
    for path in filter(None, (csv_file, openmetrics, html)):
        print_line(f"{path} is written.", stderr=True)


def _write_csv(store: Store, recording_id: str, file: IO[str]) -> None:
    series = recordings.series_of(store, recording_id)
    table = csv.writer(file)
    table.writerow(_HEAD)
    for source in recordings.sources_of(store, recording_id):
        for reads in recordings.reads_of(store, recording_id, source):
            heads = [
                (each.key, json.dumps(dict(each.labels)), each.unit, each.kind.value)
                for each in (series[number] for number in reads.series.tolist())
            ]
            for begin, took, row in _rows(reads):
                for head, value in zip(heads, row, strict=True):
                    if value != NO_VALUE:
                        table.writerow((*head, reads.epoch, begin, begin + took, value))


def _rows(reads: Reads) -> Iterator[tuple[int, int, list[int]]]:
    return zip(reads.begin_ns.tolist(), reads.took_ns.tolist(), reads.values.tolist(), strict=True)


def _write_openmetrics(store: Store, found: recordings.RecordingSummary, file: IO[str]) -> None:
    """Write family by family, and within it series by series: the format wants both."""
    known = metrics()
    series = recordings.series_of(store, found.id)
    unknown = sorted({each.key for each in series} - known.keys())
    if unknown:
        shown = ", ".join(unknown[:5]) + (" ..." if len(unknown) > 5 else "")
        print_line(f"not in --openmetrics, unknown to this version: {shown}", stderr=True)
    for key in sorted({each.key for each in series} & known.keys()):
        columns = {
            number: Column(each.labels, [], [])
            for number, each in enumerate(series)
            if each.key == key
        }
        for source in sorted({series[number].source for number in columns}):
            for reads in recordings.reads_of(store, found.id, source):
                moments = [found.clock.realtime_of(at) for at in reads.begin_ns.tolist()]
                for place, number in enumerate(reads.series.tolist()):
                    if number in columns:
                        columns[number].moments_ns.extend(moments)
                        columns[number].values.extend(reads.values[:, place].tolist())
        for column in columns.values():
            if tuple(name for name, _ in column.labels) != known[key].labels:
                raise KpiError(
                    f"recording {found.id}: labels of {key} are not {known[key].labels}",
                    "Another version of wirespeed wrote it; export it with that one.",
                )
        for line in family(known[key], columns.values()):
            file.write(line)
    file.write("# EOF\n")
