# SPDX-License-Identifier: Apache-2.0
"""Draw a result over many hosts, and one host's trials over hours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from wirespeed.fleet.burn_in import LOSS_GOAL, BurnIn
from wirespeed.fleet.outliers import Compared
from wirespeed.report.charts.canvas import LEFT, Canvas, Entry, Scale, round_ticks
from wirespeed.report.charts.svg import SMALL

# Space above and below the values, as a share of their range.
_ROOM = 0.08
_ODD = '<circle class="full fail" cx="12" cy="0" r="3.5"/>'


def strip_svg(compared: Compared) -> str:
    """Draw every host's result from lowest to highest, with median and interval."""
    hosts = sorted(compared.values.values(), key=lambda figure: figure.value)
    values = [figure.value for figure in hosts]
    spread = compared.spread
    reach = [] if spread is None else [spread.low, spread.high]
    legend = (Entry("lies apart", _ODD),) if compared.outliers else ()
    canvas = Canvas(*SMALL, around([*values, *reach]), legend)
    canvas.y_axis(compared.unit)
    canvas.x_axis((), f"{len(hosts)} hosts, by value")
    if spread is not None:
        top, bottom = canvas.y(spread.high), canvas.y(spread.low)
        edges = f"V{bottom:.1f}H{LEFT}Z"
        canvas.add(f'<path class="hop" d="M{LEFT} {top:.1f}H{canvas.right}{edges}"/>')
        canvas.add(
            f'<path class="level" d="M{LEFT} {canvas.y(spread.median):.1f}H{canvas.right}"/>'
        )
    for number, figure in enumerate(hosts):
        kind = "full fail" if figure.host in compared.outliers else "dot c0"
        at = canvas.x((number + 0.5) / len(hosts)), canvas.y(figure.value)
        canvas.add(_dot(kind, at, f"{figure.host}: {figure.value:.4g} {compared.unit}"))
    return canvas.document(compared.title, False)


def burn_in_svg(one: BurnIn) -> str:
    """Draw the rate of each trial over time; trials with loss are marked."""
    rates = [trial.rate_fps / 1e6 for trial in one.trials]
    lossy = any(trial.loss > LOSS_GOAL for trial in one.trials)
    legend = (Entry("trial with loss", _ODD),) if lossy else ()
    canvas = Canvas(*SMALL, around(rates), legend)
    canvas.y_axis("Mpps")
    canvas.x_axis([(0.0, "0"), (1.0, f"{one.hours:.1f}")], "hours")
    last = max(1, len(rates) - 1)
    for number, (trial, rate) in enumerate(zip(one.trials, rates, strict=True)):
        kind = "full fail" if trial.loss > LOSS_GOAL else "dot c0"
        hover = f"{trial.ended_at[:16].replace('T', ' ')}: {rate:.4g} Mpps, loss {trial.loss:.2e}"
        canvas.add(_dot(kind, (canvas.x(number / last), canvas.y(rate)), hover))
    return canvas.document(f"{one.host}, {one.point}: rate against time", False)


def around(values: Sequence[float]) -> Scale:
    """Return an axis that shows differences of the values; it need not begin at 0."""
    low, high = min(values), max(values)
    room = _ROOM * (high - low) or _ROOM * abs(high) or 1.0
    low, high = low - room, high + room
    step = round_ticks(high - low)[1]
    first = math.ceil(low / step)
    ticks = tuple(round(n * step, 12) for n in range(first, math.floor(high / step) + 1))
    return Scale(low, high, False, ticks)


def _dot(kind: str, at: tuple[float, float], hover: str) -> str:
    x, y = at
    title = f"<title>{escape(hover)}</title>"
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.5">{title}</circle>'
