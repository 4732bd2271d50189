# SPDX-License-Identifier: Apache-2.0
"""Axes, scales and text of an SVG drawing.

Colours are CSS variables, so that a page's dark theme reaches the drawing; a file of its own brings
its style along.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from wirespeed.report.theme import LIGHT, css_variables

LEFT, RIGHT, TOP, BOTTOM = 56, 16, 34, 46

# About what a letter of the 12 px font takes, in units.
_LETTER = 6.4


@dataclass(frozen=True, slots=True)
class Scale:
    """Where between bottom (0) and top (1) is a value? Linear from 0, or logarithmic."""

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
        """Whole decades around positive values."""
        low = math.floor(math.log10(min(values)))
        high = max(low + 1, math.ceil(math.log10(max(values))))
        return cls(low, high, True, tuple(10.0**e for e in range(low, high + 1)))

    def share(self, value: float) -> float:
        at = math.log10(value) if self.log else value
        return (at - self.low) / (self.high - self.low)


def round_ticks(top: float) -> tuple[float, ...]:
    """0 and up to six round values above it, the last at or above `top`."""
    if top <= 0:
        return (0.0, 1.0)
    unit = 10.0 ** math.floor(math.log10(top / 5))
    step = next(m * unit for m in (1, 2, 2.5, 5, 10) if m * unit >= top / 5)
    return tuple(round(i * step, 12) for i in range(math.ceil(round(top / step, 9)) + 1))


@dataclass
class Canvas:
    """A drawing in units of about a pixel; `parts` is its SVG so far."""

    width: int
    height: int
    y_scale: Scale
    parts: list[str] = field(default_factory=list)

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
        return bottom - self.y_scale.share(value) * (bottom - TOP)

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
        middle = (TOP + self.height - BOTTOM) / 2
        self.add(
            f'<text transform="translate(14 {middle:.0f}) rotate(-90)" text-anchor="middle">'
            f"{escape(label)}</text>"
        )

    def x_axis(self, ticks: Iterable[tuple[float, str]], label: str) -> None:
        """Ticks are (share of the width, text)."""
        for share, text in ticks:
            self.text(self.x(share), self.height - BOTTOM + 18, text)
        self.text(self.x(0.5), self.height - 8, label)

    def legend(self, entries: Iterable[tuple[str, str]]) -> None:
        """Entries are (SVG of a symbol 18 wide drawn at 0 0, text)."""
        x = float(LEFT)
        for symbol, text in entries:
            self.add(f'<g transform="translate({x:.0f} 14)">{symbol}</g>')
            self.text(x + 24, 18, text, "start")
            x += 24 + _LETTER * len(text) + 16

    def document(self, title: str, standalone: bool) -> str:
        """The whole SVG element; standalone: as a file of its own."""
        extra = f' style="max-width:{self.width + 40}px"'
        if standalone:
            extra = f' xmlns="http://www.w3.org/2000/svg" width="{self.width}"'
        return (
            f'<svg{extra} viewBox="0 0 {self.width} {self.height}" role="img" class="chart">'
            f"<title>{escape(title)}</title>{_OWN_STYLE if standalone else ''}"
            f"{''.join(self.parts)}</svg>"
        )


def _css() -> str:
    rules = [
        "svg.chart{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}",
        "svg.chart text{fill:var(--muted)}",
        "svg.chart text.strong{fill:var(--ink);font-weight:600}",
        "svg.chart path{fill:none}",
        "svg.chart .rule{stroke:var(--rule)}",
        "svg.chart .level{stroke:var(--ink);stroke-dasharray:2 3}",
        "svg.chart .line{stroke-width:2.25;stroke-linejoin:round}",
        "svg.chart .dashed{stroke-dasharray:5 4;stroke-width:1.5}",
        "svg.chart .reference{stroke:var(--muted);stroke-width:1.25;stroke-dasharray:2 3}",
        "svg.chart .bar{stroke-width:2;stroke-opacity:.45}",
        "svg.chart .hollow{fill:var(--paper);stroke:var(--invalid);stroke-width:1.5}",
        "svg.chart .arrow{stroke:var(--muted);stroke-width:1.25}",
        "svg.chart .cross{stroke-width:2;fill:none}",
        "svg.chart path.band{fill:var(--s0);fill-opacity:.35;stroke:var(--s0)}",
        "svg.chart path.counts{fill:var(--pass)}",
        "svg.chart path.queued{fill:var(--s7);fill-opacity:.3;stroke:var(--s7)}",
        "svg.chart path.lost-in{fill:var(--fail)}",
        "svg.chart path.lost-out{fill:var(--invalid);fill-opacity:.45}",
        "svg.chart .range{stroke-width:3;stroke-opacity:.7}",
    ]
    for i in range(8):
        rules.append(f"svg.chart .line.c{i}{{stroke:var(--s{i})}}")
        rules.append(f"svg.chart .range.c{i}{{stroke:var(--s{i})}}")
        rules.append(f"svg.chart .dot.c{i}{{fill:var(--s{i})}}")
        rules.append(f"svg.chart .fall.c{i}{{fill:var(--s{i});stroke:var(--s{i})}}")
    for number, colour in enumerate(("s1", "s4", "s3", "s5")):
        rules.append(f"svg.chart path.why{number}{{fill:var(--{colour})}}")
    rules.append("svg.chart .fall.lost{fill:none;stroke-width:1.5;stroke-dasharray:3 2}")
    for outcome in ("pass", "goal", "fail", "invalid"):
        rules.append(f"svg.chart .bar.{outcome}{{stroke:var(--{outcome})}}")
        rules.append(f"svg.chart .cross.{outcome}{{stroke:var(--{outcome})}}")
        rules.append(f"svg.chart .full.{outcome}{{fill:var(--{outcome})}}")
    return "".join(rules)


CHART_CSS = _css()
_OWN_STYLE = f"<style>svg{{{css_variables(LIGHT)}background:#fff}}{CHART_CSS}</style>"
