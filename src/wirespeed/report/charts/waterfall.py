# SPDX-License-Identifier: Apache-2.0
"""Draw the gain of each tuning step next to the gain that S0 published.

The vertical axis is the gain over the baseline, so that both sets of rates fit on it.
"""

from __future__ import annotations

from html import escape

from wirespeed.model.words import gbps
from wirespeed.report.charts.canvas import Canvas, Entry, Scale
from wirespeed.report.views.waterfall import Waterfall, published_rate, times

SIZE = (560, 320)
# Shares of a step's slot: where our bar and S0's begin, and the width of each.
_OURS, _S0, _WIDTH = 0.14, 0.54, 0.32
# Space above the tallest bar for its label.
_ABOVE = 1.12


def waterfall_svg(found: Waterfall, standalone: bool = False) -> str:
    """Draw a bar from the gain before each step to the gain after it, S0's in a second colour."""
    ours = [found.total(index) if index else 1.0 for index in range(len(found.steps))]
    theirs = [
        found.scenario.gain(step.tuning) if found.scenario and step.published else None
        for step in found.steps
    ]
    entries = [("measured here", "c0")]
    if found.scenario:
        entries.append((found.scenario.source, "c1"))
    legend = tuple(
        Entry(name, f'<rect class="fall {kind}" width="18" height="9" y="-4"/>')
        for name, kind in entries
    )
    top = _ABOVE * max(v for v in (*ours, *theirs) if v)
    canvas = Canvas(*SIZE, Scale.linear(top), legend)
    canvas.y_axis("gain over the baseline")
    slots = len(found.steps)
    labels = (str(step.tuning) for step in found.steps)
    canvas.x_axis((((i + 0.5) / slots, label) for i, label in enumerate(labels)), "")
    for index, step in enumerate(found.steps):
        before, after = ours[index - 1] if index else 0.0, ours[index]
        if before is not None and after is not None:
            hover = f"{step.what}: {gbps(step.bps)} Gbps with {step.streams} streams"
            left, right = (index + _OURS) / slots, (index + _OURS + _WIDTH) / slots
            bar(canvas, (left, right), (before, after), "c0", hover=hover, label=times(after))
        if (gain := theirs[index]) is not None:
            before = (theirs[index - 1] or 0.0) if index else 0.0
            hover = f"S0, {step.tuning}: {published_rate(step.published)} Gbps"
            left, right = (index + _S0) / slots, (index + _S0 + _WIDTH) / slots
            bar(canvas, (left, right), (before, gain), "c1", hover=hover, label=times(gain))
    return canvas.document(f"Gain of each step, {found.name}", standalone)


def bar(
    canvas: Canvas,
    sides: tuple[float, float],
    ends: tuple[float, float],
    kind: str,
    *,
    hover: str,
    label: str,
) -> None:
    """Draw a bar from ends[0] to ends[1]; only an outline for a step that loses.

    sides: shares of the width.
    """
    before, after = ends
    x, right = (canvas.x(side) for side in sides)
    top, bottom = canvas.y(max(ends)), canvas.y(min(ends))
    lost = " lost" if after < before else ""
    canvas.add(
        f'<rect class="fall {kind}{lost}" x="{x:.1f}" y="{top:.1f}" width="{right - x:.1f}" '
        f'height="{max(bottom - top, 1.5):.1f}"><title>{escape(hover)}</title></rect>'
    )
    canvas.text((x + right) / 2, top - 5, label, kind="strong")
