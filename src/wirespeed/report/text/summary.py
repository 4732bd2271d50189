# SPDX-License-Identifier: Apache-2.0
"""Lay out the points of a run as a table of plain text that fits the width of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.result import SearchResult
from wirespeed.model.words import NONE, loss, microseconds, mpps, percent
from wirespeed.report.base.as_is import bound_words, ndr_words
from wirespeed.report.text.limit_words import limited_by
from wirespeed.report.views.figures import figures_by_placement
from wirespeed.report.views.tcp import split
from wirespeed.store.records import PointRecord, PointState, RunRecord

_NDR, _PDR, _MRR, _LATENCY = "NDR, Mpps", "PDR", "MRR", "p50 / p99 \N{MICRO SIGN}s"
_LOAD, _FORWARDED, _LOST = "load, Mpps", "forwarded", "lost"
_BURST, _CPUS, _GRADE, _LIMIT = "burst, frames", "CPUs", "grade", "limited by"
# Print order.
_COLUMNS = (_NDR, _PDR, _MRR, _LOAD, _FORWARDED, _LOST, _BURST, _LATENCY, _CPUS, _GRADE, _LIMIT)
# Columns that are dropped, in this order, where a terminal is too narrow.
_LESS_IMPORTANT = (_LATENCY, _PDR, _MRR)
_GAP = "  "
_KINDS = {
    PlacementKind.ONE_CACHE: "one cache",
    PlacementKind.ACROSS_CACHES: "across",
    PlacementKind.ONE_CORE: "one core",
}
_MEANING_OF_CPUS = "CPUs: whether those that poll were within one cache or across caches."


@dataclass(frozen=True, slots=True)
class Row:
    """A point, or its result in another CPU placement."""

    label: str
    cells: dict[str, str] = field(default_factory=dict)
    """Text by heading; absent where the point has no such rate."""
    span: str = ""
    """Bracket of a point of grade D, across the columns of NDR and PDR."""
    why: str = ""
    """Reason for which the point has no rate."""


def summary_lines(run: RunRecord, width: int) -> list[str]:
    """Return the lines of the table, at most `width` cells each; the first one is the heading."""
    rows = [row for point in split(run)[0] for row in _rows(point)]
    if len(_kinds(run)) < 2:
        for row in rows:
            row.cells.pop(_CPUS, None)
    columns = [name for name in _COLUMNS if any(_has(row, name) for row in rows)]
    dropped: list[str] = []
    for name in _LESS_IMPORTANT:
        if _Layout(rows, columns).width <= width:
            break
        if name in columns:
            columns.remove(name)
            dropped.append(name.partition(" /")[0].replace("p50", "latency"))
    layout = _Layout(rows, columns, above=_Layout(rows, columns).width > width)
    lines = [line for text in layout.lines() for line in text]
    if dropped:
        lines.append(f"Hidden, as the terminal is narrow: {', '.join(dropped)}.")
    return [cut(line, width) for line in lines]


def meaning(run: RunRecord) -> str:
    """Explain the headings of the table."""
    points = split(run)[0]
    goal = percent(points[0].frames.search.pdr_loss) if points else ""
    found = [point.result for point in points if point.result is not None]
    said = [
        ("NDR: highest rate without loss.", any(r.ndr or r.bracket for r in found)),
        (f"PDR: at most {goal} lost.", any(r.pdr for r in found)),
        ("MRR: received under overload.", any(r.mrr_fps for r in found)),
        ("Latency at half the PDR.", any(_latency(r) for r in found)),
        (_MEANING_OF_CPUS, len(_kinds(run)) > 1),
    ]
    return " ".join(words for words, there in said if there)


def _kinds(run: RunRecord) -> set[PlacementKind]:
    """Return the placements of the run's points."""
    figures = (found for point in split(run)[0] for found in figures_by_placement(point))
    return {found.placement for found in figures if found.placement is not None}


def cut(line: str, width: int | None) -> str:
    """Return the line, or its beginning where it takes more cells than `width`."""
    if width is None or cell_len(line) <= width:
        return line
    return f"{set_cell_size(line, max(width - 1, 0)).rstrip()}\N{HORIZONTAL ELLIPSIS}"


def _has(row: Row, name: str) -> bool:
    return bool(row.cells.get(name)) or bool(row.span and name == _NDR)


class _Layout:
    """Widths of columns. above: labels stand on separate lines, above the rates."""

    def __init__(self, rows: Sequence[Row], columns: Sequence[str], *, above: bool = False) -> None:
        self._rows, self._columns, self._above = rows, columns, above
        labels = [cell_len(row.label) for row in rows if not row.why]
        self._label = 2 if above else max([len("point"), *labels])
        self._widths = {
            name: max(cell_len(text) for text in (name, *(_text(row, name) for row in rows)))
            for name in columns
        }
        if _NDR in self._widths:
            spans = max((cell_len(row.span) for row in rows), default=0)
            pdr = self._widths.get(_PDR)
            spans -= pdr + len(_GAP) if pdr is not None else 0
            self._widths[_NDR] = max(self._widths[_NDR], spans)

    @property
    def width(self) -> int:
        return self._label + sum(len(_GAP) + width for width in self._widths.values())

    def lines(self) -> Iterator[list[str]]:
        yield [self._line("" if self._above else "point", {name: name for name in self._columns})]
        for row in self._rows:
            if row.why:
                label = row.label + " " * (self._label - cell_len(row.label))
                yield [f"{label}{_GAP}{row.why}"]
            else:
                cells = {name: _text(row, name) for name in self._columns}
                figures = self._line("" if self._above else row.label, cells, row.span)
                yield [row.label, figures] if self._above else [figures]

    def _line(self, label: str, cells: dict[str, str], span: str = "") -> str:
        parts, widths = [set_cell_size(label, self._label)], dict(self._widths)
        if span:
            widths[_NDR] += widths.pop(_PDR, -len(_GAP)) + len(_GAP)
        for name, width in widths.items():
            text = span if span and name == _NDR else cells[name]
            fill = " " * (width - cell_len(text))
            parts.append(text + fill if name == _LIMIT else fill + text)
        return _GAP.join(parts).rstrip()


def _text(row: Row, name: str) -> str:
    return "" if row.span and name in (_NDR, _PDR) else row.cells.get(name, NONE)


def _rows(point: PointRecord) -> Iterator[Row]:
    """Yield the point, then the other placements that gave a rate."""
    result = point.result
    if result is None or not _figures(result):
        yield Row(point.caption, why=_why(point))
    else:
        yield _row(point.caption, result, limited_by(point))
    for other in result.by_placement if result is not None else ():
        if other.grade is not None and other.placement is not None and _figures(other):
            yield _row("", other, "")


def _row(label: str, result: SearchResult, limit: str) -> Row:
    cells = _figures(result)
    span = cells[_NDR] if result.bracket is not None and _NDR in cells and _PDR not in cells else ""
    grade = NONE if result.grade is None else str(result.grade)
    placed = {} if result.placement is None else {_CPUS: _KINDS[result.placement]}
    return Row(label, {**cells, **placed, _GRADE: grade, _LIMIT: limit}, span)


def _figures(result: SearchResult) -> dict[str, str]:
    """Return the result's rates and latency."""
    held, burst = result.constant, result.back_to_back
    found = {
        _NDR: ndr_words(result),
        _PDR: bound_words(result.pdr) if result.pdr else None,
        _MRR: mpps(result.mrr_fps) if result.mrr_fps is not None else None,
        _LOAD: mpps(held.load_fps) if held else None,
        _FORWARDED: mpps(held.forwarding_fps) if held else None,
        _LOST: loss(held.loss_ratio) if held else None,
        _BURST: f"{burst.mean_frames:,.0f}" if burst else None,
        _LATENCY: _latency(result),
    }
    return {name: text for name, text in found.items() if text}


def _latency(result: SearchResult) -> str | None:
    found = result.half_load_latency
    if found is None:
        return None
    return f"{microseconds(found.p50_ns)} / {microseconds(found.p99_ns)}"


def _why(point: PointRecord) -> str:
    result = point.result
    if result is not None:
        placed = f", {_KINDS[result.placement]}" if result.placement and result.by_placement else ""
        return f"no rate{placed}: {result.not_measurable or 'no trial decides one'}"
    if point.state is PointState.NOT_RUN:
        return f"not run: {point.error}"
    return "not measured yet" if point.error is None else f"not measured: {point.error}"
