# SPDX-License-Identifier: Apache-2.0
"""Draw the path of a point's frames: hops, bands as wide as the rate, and losses."""

from __future__ import annotations

from html import escape

from wirespeed.model.words import loss as loss_words
from wirespeed.model.words import mpps, percent
from wirespeed.report.charts.canvas import Canvas, Scale
from wirespeed.report.text.path import Hop, Link, Loss, PathView

_WIDTH = 600
_HOP, _ROW, _LINK = 38, 16, 26
# Left edge of hops and bands, and the width of a band for the offered load.
_X, _BAND = 8, 150


def path_svg(view: PathView, standalone: bool = False) -> str:
    """Draw the path from top to bottom, with rates and losses of the whole trial."""
    canvas = Canvas(_WIDTH, round(_height(view)), Scale.linear(1.0))
    y = 8.0
    for position, hop in enumerate(view.hops):
        y = _draw_hop(canvas, hop, y)
        if position < len(view.links):
            y = _draw_link(canvas, view.links[position], y)
    title = f"Path at {mpps(view.load_fps)} Mpps, trial {view.trial}"
    return canvas.document(title, standalone)


def _height(view: PathView) -> float:
    at_hops = sum(len(hop.losses) for hop in view.hops)
    on_links = sum(len(link.losses) for link in view.links)
    places = _HOP * len(view.hops) + _LINK * len(view.links)
    return 16 + places + _ROW * (at_hops + on_links)


def _draw_hop(canvas: Canvas, hop: Hop, y: float) -> float:
    height = _HOP + _ROW * len(hop.losses)
    canvas.add(
        f'<rect class="hop" x="{_X}" y="{y:.1f}" width="{_WIDTH - 2 * _X}" height="{height}" '
        'rx="4"/>'
    )
    canvas.text(_X + 10, y + 16, hop.name, "start", "strong")
    canvas.text(_X + 10, y + 31, hop.what, "start")
    for number, loss in enumerate(hop.losses, start=1):
        canvas.text(_X + 10, y + 31 + _ROW * number, f"lost: {_words(loss)}", "start", "lost-text")
    return y + height


def _draw_link(canvas: Canvas, link: Link, y: float) -> float:
    height = _LINK + _ROW * len(link.losses)
    width = max(1.0, _BAND * min(1.0, link.share))
    together = f", all {link.streams} streams" if link.streams > 1 else ""
    hover = f"{link.ends[0]} to {link.ends[1]}"
    canvas.add(
        f'<rect class="flow" x="{_X}" y="{y:.1f}" width="{width:.1f}" height="{height}">'
        f"<title>{escape(hover)}</title></rect>"
    )
    words = f"{mpps(link.fps)} Mpps, {percent(link.share)} of what was offered{together}"
    canvas.text(_X + _BAND + 14, y + 17, words, "start")
    for number, loss in enumerate(link.losses, start=1):
        _draw_loss(canvas, loss, width, y + _LINK - 10 + _ROW * number)
    return y + height


def _draw_loss(canvas: Canvas, loss: Loss, after: float, y: float) -> None:
    """Draw what leaves the band, on its right; at least a line."""
    width = max(2.0, min(_BAND * loss.share, _BAND - after + 10))
    canvas.add(
        f'<rect class="lost-here" x="{_X + after:.1f}" y="{y - 10:.1f}" width="{width:.1f}" '
        f'height="12"/>'
    )
    canvas.text(_X + _BAND + 14, y, f"lost: {_words(loss)}", "start", "lost-text")


def _words(loss: Loss) -> str:
    return f"{mpps(loss.fps)} Mpps ({loss_words(loss.share)}), {loss.cause}"
