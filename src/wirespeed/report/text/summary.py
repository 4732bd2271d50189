# SPDX-License-Identifier: Apache-2.0
"""Lay out the points of a run as a table of plain text that fits the width of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from rich.cells import cell_len, set_cell_size

from wirespeed.model.cpus import PlacementKind, placement_words
from wirespeed.model.result.result import SearchResult
from wirespeed.model.words import NONE, percent
from wirespeed.report.text.columns import (
    CPU_KINDS,
    CPUS,
    LATENCY,
    LIMIT,
    NDR,
    PDR,
    TERMINAL,
    VERBOSE,
)
from wirespeed.report.views.column import GRADE, Column
from wirespeed.report.views.figures import PointFigures, figures_by_placement, point_figures
from wirespeed.report.views.tcp import why_missing
from wirespeed.report.views.workload_view import WorkloadView
from wirespeed.report.views.workloads import frames_of
from wirespeed.store.records import PointRecord, PointState, RunRecord

# Columns that alone make no result.
_CONTEXT = (CPUS, GRADE, LIMIT)
_GAP = "  "
_MEANING_OF_CPUS = "CPUs: whether those that poll were within one cache or across caches."


@dataclass(frozen=True, slots=True)
class Row:
    """A point, or its result in another CPU placement."""

    label: str
    cells: dict[Column, str] = field(default_factory=dict)
    """Text by column; absent where the point has no such rate."""
    span: str = ""
    """Bracket of a point of grade D, across the columns of NDR and PDR."""
    why: str = ""
    """Reason for which the point has no rate."""


def summary_lines(run: RunRecord, width: int, *, verbose: bool = False) -> list[str]:
    """Return the lines of the table of frames, at most `width` cells each.

    The first one is the heading. verbose: with the columns of VERBOSE.
    """
    columns = (*TERMINAL, *VERBOSE) if verbose else TERMINAL
    rows = [row for point in frames_of(run) for row in _rows(point, columns)]
    if len(_kinds(run)) < 2 and not any(_wanted(point) for point in frames_of(run)):
        for row in rows:
            row.cells.pop(CPUS, None)
    return _lines(rows, columns, width)


def view_lines(view: WorkloadView, points: Sequence[PointRecord], width: int) -> list[str]:
    """Return the lines of the table of points without a search, as `summary_lines` does."""
    rows = [row for point in points for row in _view_rows(view, point)]
    return _lines(rows, view.table_columns, width)


def _lines(rows: Sequence[Row], columns: Sequence[Column], width: int) -> list[str]:
    """Lay out the columns that any row has; leave out less important ones until they fit."""
    there = [column for column in columns if any(_has(row, column) for row in rows)]
    layout, dropped = _fitting(rows, there, width)
    lines = [line for text in layout.lines() for line in text]
    if dropped:
        names = ("latency" if column is LATENCY else column.terminal for column in dropped)
        lines.append(f"Hidden, as the terminal is narrow: {', '.join(names)}.")
    return [cut(line, width) for line in lines]


def _fitting(
    rows: Sequence[Row], columns: Sequence[Column], width: int
) -> tuple[_Layout, Sequence[Column]]:
    """Return the layout with most columns that fits, and the columns that it hides.

    Labels stand above the rates only where no layout fits with labels next to them.
    """
    order = sorted((column for column in columns if column.drop), key=attrgetter("drop"))
    for above in (False, True):
        for number in range(len(order) + 1):
            dropped = order[:number]
            kept = [column for column in columns if column not in dropped]
            layout = _Layout(rows, kept, above=above)
            if layout.width <= width:
                return layout, dropped
    return layout, order


def meaning(run: RunRecord) -> str:
    """Explain the headings of the table."""
    points = frames_of(run)
    goal = percent(points[0].frames.search.pdr_loss) if points else ""
    found = [point.result for point in points if point.result is not None]
    said = [
        ("NDR: highest rate without loss.", any(r.ndr or r.bracket for r in found)),
        (f"PDR: at most {goal} lost.", any(r.pdr for r in found)),
        ("MRR: received under overload.", any(r.mrr_fps for r in found)),
        ("Latency at half the PDR.", any(r.half_load_latency for r in found)),
        (_MEANING_OF_CPUS, len(_kinds(run)) > 1),
    ]
    return " ".join(words for words, there in said if there)


def missed_placements(run: RunRecord) -> Iterator[str]:
    """Yield a sentence for each point without a rate in the placement that its study asks for."""
    for point in frames_of(run):
        wanted, result = _wanted(point), point.result
        if wanted is not None and result is not None and result.placement is not wanted:
            yield (
                f"{point.caption}: no rate with {placement_words(wanted)}, which search.placement "
                f"asks for. The rates are of: {placement_words(result.placement)}."
            )


def _wanted(point: PointRecord) -> PlacementKind | None:
    return point.frames.search.placement


def _kinds(run: RunRecord) -> set[PlacementKind]:
    """Return the placements of the run's points."""
    figures = (found for point in frames_of(run) for found in figures_by_placement(point))
    return {found.placement for found in figures if found.placement is not None}


def cut(line: str, width: int | None) -> str:
    """Return the line, or its beginning where it takes more cells than `width`."""
    if width is None or cell_len(line) <= width:
        return line
    return f"{set_cell_size(line, max(width - 1, 0)).rstrip()}\N{HORIZONTAL ELLIPSIS}"


def _has(row: Row, column: Column) -> bool:
    return bool(row.cells.get(column)) or bool(row.span and column is NDR)


class _Layout:
    """Widths of columns. above: labels stand on separate lines, above the rates."""

    def __init__(
        self, rows: Sequence[Row], columns: Sequence[Column], *, above: bool = False
    ) -> None:
        self._rows, self._columns, self._above = rows, columns, above
        labels = [cell_len(row.label) for row in rows if not row.why]
        self._label = 2 if above else max([len("point"), *labels])
        self._widths = {
            each: max(cell_len(text) for text in (each.terminal, *(_text(r, each) for r in rows)))
            for each in columns
        }
        if NDR in self._widths:
            spans = max((cell_len(row.span) for row in rows), default=0)
            pdr = self._widths.get(PDR)
            spans -= pdr + len(_GAP) if pdr is not None else 0
            self._widths[NDR] = max(self._widths[NDR], spans)

    @property
    def width(self) -> int:
        return self._label + sum(len(_GAP) + width for width in self._widths.values())

    def lines(self) -> Iterator[list[str]]:
        headings = {column: column.terminal for column in self._columns}
        yield [self._line("" if self._above else "point", headings)]
        for row in self._rows:
            if row.why:
                label = row.label + " " * (self._label - cell_len(row.label))
                yield [f"{label}{_GAP}{row.why}"]
            else:
                cells = {column: _text(row, column) for column in self._columns}
                figures = self._line("" if self._above else row.label, cells, row.span)
                yield [row.label, figures] if self._above else [figures]

    def _line(self, label: str, cells: dict[Column, str], span: str = "") -> str:
        parts, widths = [set_cell_size(label, self._label)], dict(self._widths)
        if span:
            widths[NDR] += widths.pop(PDR, -len(_GAP)) + len(_GAP)
        for column, width in widths.items():
            text = span if span and column is NDR else cells[column]
            fill = " " * (width - cell_len(text))
            parts.append(fill + text if column.style else text + fill)
        return _GAP.join(parts).rstrip()


def _text(row: Row, column: Column) -> str:
    return "" if row.span and column in (NDR, PDR) else row.cells.get(column, NONE)


def _rows(point: PointRecord, columns: Sequence[Column]) -> Iterator[Row]:
    """Yield the point, then the other placements that gave a rate."""
    result = point.result
    cells = _cells(point_figures(point), columns)
    yield (
        _row(point.caption, cells, result)
        if result is not None and _has_rate(cells)
        else Row(point.caption, why=_why(point))
    )
    for other in result.by_placement if result is not None else ():
        if other.grade is None or other.placement is None:
            continue
        figures = point_figures(replace(point, result=other))
        cells = _cells(figures, columns) | {LIMIT: ""}
        if _has_rate(cells):
            yield _row("", cells, other)


def _view_rows(view: WorkloadView, point: PointRecord) -> Iterator[Row]:
    """Yield the rows of a point without a search, or the reason for which it has none."""
    found = view.rows(point)
    if not found:
        yield Row(point.caption, why=why_missing(point))
    for figures in found:
        yield Row(point.caption, _cells(figures, view.table_columns))


def _cells(figures: PointFigures, columns: Sequence[Column]) -> dict[Column, str]:
    """Return the texts of the columns that the row has."""
    found = {column: column.cell(figures) for column in columns if column.cell is not None}
    return {column: text for column, text in found.items() if text}


def _has_rate(cells: Mapping[Column, str]) -> bool:
    return any(column not in _CONTEXT for column in cells)


def _row(label: str, cells: dict[Column, str], result: SearchResult) -> Row:
    bracketed = result.bracket is not None and NDR in cells and PDR not in cells
    return Row(label, cells, cells[NDR] if bracketed else "")


def _why(point: PointRecord) -> str:
    result = point.result
    if result is not None:
        placed = (
            f", {CPU_KINDS[result.placement]}" if result.placement and result.by_placement else ""
        )
        return f"no rate{placed}: {result.not_measurable or 'no trial decides one'}"
    if point.state is PointState.NOT_RUN:
        return f"not run: {point.error}"
    return "not measured yet" if point.error is None else f"not measured: {point.error}"
