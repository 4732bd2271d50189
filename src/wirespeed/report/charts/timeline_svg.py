# SPDX-License-Identifier: Apache-2.0
"""Draw a trial's timeline: labelled rows over one time axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from wirespeed.model.words import mpps, share
from wirespeed.report.charts.canvas import (
    BOTTOM,
    LEFT,
    Canvas,
    Scale,
    reason_class,
    round_ticks,
)
from wirespeed.report.charts.timeline import Timeline

WIDTH = 760
_TOP, _STRIP, _GAP = 26, 17, 14
_LOAD, _BACKLOG, _LOST = 64, 56, 52
# Labels of strips stand to the left of them.
_INDENT = 176
# Smallest height of an event in a column, in units.
_LEAST = 2.5


def timeline_svg(timeline: Timeline, standalone: bool = False) -> str:
    """Draw offered load, excluded time by reason, counted time, queues and losses."""
    rows = _LOAD + _GAP + (len(timeline.strips) + 1) * _STRIP + _GAP + _LOST + _GAP + 18
    rows += _BACKLOG + _GAP + 18 if timeline.backlog is not None else 0
    drawing = _Drawing(timeline, Canvas(WIDTH, _TOP + rows + BOTTOM, Scale.linear(1.0)))
    y = drawing.load(_TOP)
    y = drawing.strips(y + _GAP)
    if timeline.backlog is not None:
        y = drawing.backlog(y + _GAP + 18)
    drawing.losses(y + _GAP + 18)
    drawing.time_axis()
    return drawing.canvas.document(f"{timeline.title}: what happened when", standalone)


class _Drawing:
    def __init__(self, timeline: Timeline, canvas: Canvas) -> None:
        self.timeline, self.canvas = timeline, canvas
        self.columns = len(timeline.offered_mpps)
        self.left = float(_INDENT)
        self.width = (canvas.right - self.left) / self.columns

    def x(self, column: int) -> float:
        return self.left + column * self.width

    def load(self, y: float) -> float:
        """Draw a band from the least to the most offered in a window of each column."""
        timeline, bottom = self.timeline, y + _LOAD
        top = 1.15 * max([timeline.intended_mpps, *(high for _, high in timeline.offered_mpps)])
        self._name(y, "offered load", "Mpps, by window")
        self._scale(bottom, _LOAD, top, f"{top / 1.15:.3g}", top / 1.15)
        upper = [bottom - _LOAD * high / top for _, high in timeline.offered_mpps]
        lower = [bottom - _LOAD * low / top for low, _ in timeline.offered_mpps]
        forth = "L".join(f"{self.x(i) + self.width / 2:.1f} {v:.1f}" for i, v in enumerate(upper))
        back = "L".join(
            f"{self.x(i) + self.width / 2:.1f} {v + 1.5:.1f}"
            for i, v in reversed(list(enumerate(lower)))
        )
        hover = f"{mpps(timeline.intended_mpps * 1e6)} Mpps intended"
        self.canvas.add(f'<path class="band" d="M{forth}L{back}Z"><title>{hover}</title></path>')
        return bottom

    def strips(self, y: float) -> float:
        """Draw one row for each reason, then the time that counts. Heights are shares of time."""
        for strip in self.timeline.strips:
            self._strip(y, strip.why, strip.columns, reason_class(strip.why))
            y += _STRIP
        self._strip(y, "counts", self.timeline.counted, "counts")
        return y + _STRIP

    def _strip(self, y: float, label: str, columns: Sequence[float], kind: str) -> None:
        room, bottom = _STRIP - 4, y + _STRIP - 2
        strong = "strong" if kind == "counts" else ""
        part = share(sum(columns) / len(columns))
        self.canvas.text(self.left - 50, bottom - 3, label, "end", strong)
        self.canvas.text(self.left - 8, bottom - 3, part, "end", strong)
        self.canvas.add(f'<path class="rule" d="M{self.left:.1f} {bottom}H{self.canvas.right}"/>')
        bars = self._bars(columns, bottom, room)
        hover = escape(f"{label}: {part} of the time")
        self.canvas.add(f'<path class="{kind}" d="{bars or "M0 0"}"><title>{hover}</title></path>')

    def _bars(self, values: Sequence[float], bottom: float, unit: float) -> str:
        """Return a path with one bar for each column; any bar above 0 is visible."""
        return "".join(
            f"M{self.x(i):.1f} {bottom}v{-max(_LEAST, unit * value):.1f}h{n * self.width:.1f}"
            f"V{bottom}Z"
            for i, n, value in _equal(values)
            if value
        )

    def backlog(self, y: float) -> float:
        """Draw the longest queue of each column, and the capacity of the shallowest ring."""
        values, ring = self.timeline.backlog or (), self.timeline.ring_frames
        bottom, top = y + _BACKLOG, 1.1 * max(1.0, *values, float(ring))
        self._name(y, "frames queued", "longest in the column")
        self._scale(bottom, _BACKLOG, top, f"{max(values):,.0f}", max(values))
        path = "".join(
            f"L{self.x(i):.1f} {bottom - _BACKLOG * v / top:.1f}h{n * self.width:.1f}"
            for i, n, v in _equal(values)
        )
        self.canvas.add(f'<path class="queued" d="M{self.left:.1f} {bottom}{path}V{bottom}Z"/>')
        if ring:
            at = bottom - _BACKLOG * ring / top
            self.canvas.add(
                f'<path class="level" d="M{self.left:.1f} {at:.1f}H{self.canvas.right}"/>'
            )
            self.canvas.text(self.canvas.right - 4, at - 4, f"a ring holds {ring:,}", "end", "halo")
        return bottom

    def losses(self, y: float) -> float:
        """Draw the most that one window lost: pale where excluded, with a cross where it counts."""
        timeline, bottom = self.timeline, y + _LOST
        most = max(*timeline.lost_counted, *timeline.lost_left_out)
        top = 1.1 * max(1.0, most)
        counted, others = timeline.total_counted, timeline.total_left_out
        count = f"{counted:,} in windows that count, {others:,} in others"
        self._name(y, "frames lost", f"most in a window; {count}")
        self._scale(bottom, _LOST, top, f"{most:,.0f}", most)
        for kind, values in (
            ("lost-out", timeline.lost_left_out),
            ("lost-in", timeline.lost_counted),
        ):
            bars = self._bars(values, bottom, _LOST / top)
            self.canvas.add(f'<path class="{kind}" d="{bars or "M0 0"}"/>')
        for column, value in enumerate(timeline.lost_counted):
            if value:
                x, at = self.x(column) + self.width / 2, bottom - _LOST * value / top - 7
                path = f"M{x - 3:.1f} {at - 3:.1f}l6 6m0 -6l-6 6"
                self.canvas.add(f'<path class="cross fail" d="{path}"/>')
        return bottom

    def time_axis(self) -> None:
        end_s = self.timeline.duration_s
        first = (self.left - LEFT) / self.canvas.inner_width
        ticks = [tick for tick in round_ticks(end_s) if tick <= end_s]
        self.canvas.x_axis(
            ((first + (1 - first) * t / end_s, f"{t:g}") for t in ticks), "seconds of the trial"
        )

    def _name(self, y: float, name: str, note: str) -> None:
        parts = f'<tspan class="strong">{escape(name)}</tspan><tspan dx="10">{escape(note)}</tspan>'
        self.canvas.add(f'<text x="{self.left:.1f}" y="{y - 7:.1f}">{parts}</text>')

    def _scale(self, bottom: float, height: float, top: float, text: str, value: float) -> None:
        at = bottom - height * value / top
        self.canvas.add(f'<path class="rule" d="M{self.left:.1f} {bottom}H{self.canvas.right}"/>')
        self.canvas.add(f'<path class="rule" d="M{self.left:.1f} {at:.1f}H{self.canvas.right}"/>')
        self.canvas.text(self.left - 8, bottom, "0", "end")
        if value:
            self.canvas.text(self.left - 8, at + 6, text, "end")


def _equal(values: Sequence[float]) -> Iterator[tuple[int, int, float]]:
    """Yield runs of columns with equal values: (first column, how many, value)."""
    at = 0
    for value, group in groupby(values):
        count = len(list(group))
        yield at, count, value
        at += count
