# SPDX-License-Identifier: Apache-2.0
"""Compare a run with the paper that its study names: measured, predicted, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from wirespeed.report.charts.shapes import Chart
from wirespeed.report.charts.svg import line_svg
from wirespeed.report.papers import s1, s2, s3, s4
from wirespeed.report.papers.interface import Agreement, Beside, Table
from wirespeed.report.papers.reading import MEASURED, Reading
from wirespeed.store.records import RunRecord

# Size of a panel of small multiples.
PANEL = (330, 220)
PAPERS: Mapping[str, Callable[[RunRecord, Reading], Beside]] = {
    "s1": s1.beside,
    "s2": s2.beside,
    "s3": s3.beside,
    "s4": s4.beside,
}


def beside_published(run: RunRecord, reading: Reading = MEASURED) -> Beside | None:
    """Return the comparison; None where the study names no published table."""
    if run.form.published is None:
        return None
    found = PAPERS[run.form.published.table](run, reading)
    return replace(found, without=run.form.published.without)


def with_predicted(measured: Beside, predicted: Beside) -> Beside:
    """Add the curves and columns of the prediction to the measured charts and tables.

    The sentences stay those of `measured`.
    """
    others = {chart.key: chart for chart in predicted.panels}
    tables = {table.title: table for table in predicted.tables}
    keys = {chart.key for chart in measured.panels}
    return replace(
        measured,
        panels=(
            *(_joined(chart, others.get(chart.key)) for chart in measured.panels),
            *(chart for chart in predicted.panels if chart.key not in keys),
        ),
        tables=tuple(_wider(table, tables.get(table.title)) for table in measured.tables),
    )


def _joined(chart: Chart, other: Chart | None) -> Chart:
    """Return the chart with the first curve of the other one, in its own colour."""
    if other is None or chart.axis != other.axis or len(other.curves) < 2:
        return chart
    return replace(chart, curves=(*chart.curves, replace(other.curves[0], colour=2)))


def _wider(table: Table, other: Table | None) -> Table:
    """Return the table with the other's columns that it lacks, by their headings."""
    lacking = [] if other is None else [
        at for at, name in enumerate(other.headings) if name not in table.headings
    ]  # fmt: skip
    if other is None or not lacking:
        return table
    cells = {row[: other.keys]: tuple(row[at] for at in lacking) for row in other.rows}
    return replace(
        table,
        headings=(*table.headings, *(other.headings[at] for at in lacking)),
        rows=tuple((*row, *cells[row[: table.keys]]) for row in table.rows),
    )


def panels(found: Beside, standalone: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yield (key, title, SVG) of each small multiple."""
    for chart in found.panels:
        if chart.curves:
            yield chart.key, chart.title, line_svg(chart, PANEL, standalone)


def counts(found: Beside) -> str:
    """Format the counts: "agrees 12, differs 3, open 4"."""
    return ", ".join(
        f"{agreement} {sum(one.agreement is agreement for one in found.said)}"
        for agreement in Agreement
    )
