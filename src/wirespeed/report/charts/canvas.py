# SPDX-License-Identifier: Apache-2.0
"""Draw axes, scales, legend and text as SVG, for all drawings.

Colours are CSS variables, so that a page's dark theme changes the drawing. A standalone file
contains its style.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from wirespeed.model.result.reason import Reason
from wirespeed.report.base.theme import LIGHT, css_variables

LEFT, RIGHT, TOP, BOTTOM = 56, 16, 34, 46

# Estimated width of a letter of the 12 px font, and height of a legend row, in units.
_LETTER, _ROW = 6.4, 18
_SYMBOL = 24
# Smallest width of a drawing on a narrow screen, relative to its own.
_LEAST_WIDTH = 0.7


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps a value to its height, 0 (bottom) to 1 (top): linear from 0, or logarithmic."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]

    @classmethod
    def linear(cls, top: float) -> Scale:
        ticks = round_ticks(top)
        return cls(0.0, ticks[-1], False, ticks)

    @classmethod
    def logarithmic(cls, values: Sequence[float]) -> Scale:
        """Return an axis over positive values, from tick to tick.

        Ticks are 1, 2 and 5 in each decade; only powers of ten over more than three decades.
        """
        first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        mantissas = (1, 2, 5) if last - first <= _DECADES else (1,)
        ticks = [m * 10.0**decade for decade in range(first, last + 1) for m in mantissas]
        low = max(tick for tick in ticks if tick <= min(values))
        high = min(tick for tick in ticks if tick >= max(values) and tick > low)
        shown = tuple(tick for tick in ticks if low <= tick <= high)
        return cls(math.log10(low), math.log10(high), True, shown)

    def share(self, value: float) -> float:
        at = math.log10(value) if self.log else value
        return (at - self.low) / (self.high - self.low)


# An axis of more decades has no space for ticks between them.
_DECADES = 3


def round_ticks(top: float) -> tuple[float, ...]:
    """Return 0 and up to six round values above it, the last at or above `top`."""
    if top <= 0:
        return (0.0, 1.0)
    unit = 10.0 ** math.floor(math.log10(top / 5))
    step = next(m * unit for m in (1, 2, 2.5, 5, 10) if m * unit >= top / 5)
    return tuple(round(i * step, 12) for i in range(math.ceil(round(top / step, 9)) + 1))


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a legend."""

    text: str
    symbol: str = ""
    """SVG, 18 wide, drawn at 0 0; empty for text alone."""

    @property
    def width(self) -> float:
        return (_SYMBOL if self.symbol else 0) + _LETTER * len(self.text) + 16


@dataclass
class Canvas:
    """A drawing in units of about a pixel.

    It grows by a row where the legend does not fit into the rows before.
    """

    width: int
    height: int
    y_scale: Scale
    legend: tuple[Entry, ...] = ()
    parts: list[str] = field(default_factory=list)
    """SVG drawn so far."""

    def __post_init__(self) -> None:
        self._rows = self._legend_rows()
        self.top = TOP + _ROW * max(0, len(self._rows) - 1)
        self.height += self.top - TOP

    def _legend_rows(self) -> list[list[Entry]]:
        rows: list[list[Entry]] = []
        for entry in self.legend:
            if rows and sum(e.width for e in (*rows[-1], entry)) <= self.inner_width:
                rows[-1].append(entry)
            else:
                rows.append([entry])
        return rows

    @property
    def inner_width(self) -> int:
        return self.width - LEFT - RIGHT

    @property
    def right(self) -> int:
        return self.width - RIGHT

    def x(self, share: float) -> float:
        return LEFT + share * self.inner_width

    def y(self, value: float) -> float:
        bottom = self.height - BOTTOM
        return bottom - self.y_scale.share(value) * (bottom - self.top)

    def add(self, *parts: str) -> None:
        self.parts += parts

    def text(self, x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> None:
        cls = f' class="{kind}"' if kind else ""
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{cls}>{escape(text)}</text>')

    def y_axis(self, label: str) -> None:
        for tick in self.y_scale.ticks:
            y = self.y(tick)
            self.add(f'<path class="rule" d="M{LEFT} {y:.1f}H{self.right}"/>')
            self.text(LEFT - 8, y + 4, f"{tick:g}", "end")
        middle = (self.top + self.height - BOTTOM) / 2
        self.add(
            f'<text transform="translate(14 {middle:.0f}) rotate(-90)" text-anchor="middle">'
            f"{escape(label)}</text>"
        )

    def x_axis(self, ticks: Iterable[tuple[float, str]], label: str) -> None:
        """Draw the x axis. ticks: (share of the width, text)."""
        for share, text in ticks:
            self.text(self.x(share), self.height - BOTTOM + 18, text)
        self.text(self.x(0.5), self.height - 8, label)

    def _draw_legend(self) -> None:
        for number, row in enumerate(self._rows):
            x, y = float(LEFT), 14 + _ROW * number
            for entry in row:
                if entry.symbol:
                    self.add(f'<g transform="translate({x:.0f} {y})">{entry.symbol}</g>')
                self.text(x + (_SYMBOL if entry.symbol else 0), y + 4, entry.text, "start")
                x += entry.width

    def document(self, title: str, standalone: bool) -> str:
        """Return the whole SVG element. standalone: for a file of its own."""
        self._draw_legend()
        narrowest = round(_LEAST_WIDTH * self.width)
        extra = f' style="min-width:{narrowest}px;max-width:{self.width + 40}px"'
        if standalone:
            extra = f' xmlns="http://www.w3.org/2000/svg" width="{self.width}"'
        return (
            f'<svg{extra} viewBox="0 0 {self.width} {self.height}" role="img" class="chart">'
            f"<title>{escape(title)}</title>{_OWN_STYLE if standalone else ''}"
            f"{''.join(self.parts)}</svg>"
        )


def reason_class(reason: Reason) -> str:
    """Return the CSS class of what is drawn in a reason's colour."""
    return f"why-{reason.name.lower().replace('_', '-')}"


def _css() -> str:
    rules = [
        "svg.chart{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}",
        "svg.chart text{fill:var(--muted)}",
        "svg.chart .strong{fill:var(--ink);font-weight:600}",
        "svg.chart .halo{paint-order:stroke;stroke:var(--paper);stroke-width:3px}",
        "svg.chart path{fill:none}",
        "svg.chart .rule{stroke:var(--rule)}",
        "svg.chart .level{stroke:var(--ink);stroke-dasharray:2 3}",
        "svg.chart .line{stroke-width:2.25;stroke-linejoin:round}",
        "svg.chart .dashed{stroke-dasharray:5 4;stroke-width:1.5}",
        "svg.chart .reference{stroke:var(--muted);stroke-width:1.25;stroke-dasharray:2 3}",
        "svg.chart .bar{stroke-width:2;stroke-opacity:.45}",
        "svg.chart .hollow{fill:var(--paper);stroke:var(--invalid);stroke-width:1.5}",
        "svg.chart .ring{fill:var(--paper);stroke-width:2}",
        "svg.chart .error{stroke-width:1.5}",
        "svg.chart .arrow{stroke:var(--muted);stroke-width:1.25}",
        "svg.chart .cross{stroke-width:2;fill:none}",
        "svg.chart path.band{fill:var(--s0);fill-opacity:.35;stroke:var(--s0)}",
        "svg.chart path.counts{fill:var(--pass)}",
        "svg.chart path.queued{fill:var(--s7);fill-opacity:.3;stroke:var(--s7)}",
        "svg.chart path.lost-in{fill:var(--fail)}",
        "svg.chart path.lost-out{fill:var(--invalid);fill-opacity:.45}",
        "svg.chart .hop{fill:var(--panel);stroke:var(--muted)}",
        "svg.chart .flow{fill:var(--s0);fill-opacity:.4}",
        "svg.chart .lost-here{fill:var(--fail)}",
        "svg.chart .lost-text{fill:var(--fail)}",
        "svg.chart .range{stroke-width:3;stroke-opacity:.7}",
    ]
    for i in range(8):
        rules.append(f"svg.chart .line.c{i}{{stroke:var(--s{i})}}")
        rules.append(f"svg.chart .range.c{i}{{stroke:var(--s{i})}}")
        rules.append(f"svg.chart .dot.c{i}{{fill:var(--s{i})}}")
        rules.append(f"svg.chart .ring.c{i}{{stroke:var(--s{i})}}")
        rules.append(f"svg.chart .error.c{i}{{stroke:var(--s{i})}}")
        rules.append(f"svg.chart .fall.c{i}{{fill:var(--s{i});stroke:var(--s{i})}}")
    for reason in Reason:
        rules.append(f"svg.chart path.{reason_class(reason)}{{fill:var(--{reason.about.colour})}}")
    rules.append("svg.chart .fall.lost{fill:none;stroke-width:1.5;stroke-dasharray:3 2}")
    for outcome in ("pass", "goal", "fail", "invalid"):
        rules.append(f"svg.chart .bar.{outcome}{{stroke:var(--{outcome})}}")
        rules.append(f"svg.chart .cross.{outcome}{{stroke:var(--{outcome})}}")
        rules.append(f"svg.chart .full.{outcome}{{fill:var(--{outcome})}}")
    return "".join(rules)


CHART_CSS = _css()
_OWN_STYLE = f"<style>svg{{{css_variables(LIGHT)}background:#fff}}{CHART_CSS}</style>"
