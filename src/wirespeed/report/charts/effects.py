# SPDX-License-Identifier: Apache-2.0
"""Draw the effects of factors: a waterfall, an effect chart, interaction plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirespeed.model.words import mpps
from wirespeed.report.charts.canvas import Canvas, Scale
from wirespeed.report.charts.shapes import Categories, Chart, Curve, LineStyle, Range
from wirespeed.report.charts.svg import SMALL, line_svg
from wirespeed.report.charts.waterfall import bar
from wirespeed.report.compare.effects import FactorGroup, NamedEffect, effect_words

# Edges of a bar as shares of its slot, and space above the tallest bar for its label.
_SIDES, _ABOVE = (0.2, 0.8), 1.15


def effect_drawings(
    groups: Sequence[FactorGroup], standalone: bool = False
) -> Iterator[tuple[str, str, str]]:
    """Yield (key, title, SVG) of every chart of every group."""
    for number, group in enumerate(groups, start=1):
        of = f"{group.name} ({group.quantity})"
        if group.cumulative:
            svg = steps_svg(group, standalone)
            yield f"waterfall-{number}", f"Each step on top of those before, {of}", svg
        for key, title, effects in (
            ("alone", "Each factor alone", group.alone),
            ("main", "Each factor over all combinations", group.mains),
        ):
            if effects:
                chart = effect_chart(f"effects-{key}-{number}", f"{title}, {of}", effects)
                yield chart.key, chart.title, line_svg(chart, SMALL, standalone)
        for chart in interaction_charts(group, number):
            yield chart.key, f"{chart.title}, {of}", line_svg(chart, SMALL, standalone)


def steps_svg(group: FactorGroup, standalone: bool = False) -> str:
    """Draw a bar from the rate before each step to the rate after it; the base's starts at zero."""
    count = len(group.factors)
    steps = [frozenset(range(at)) for at in range(count + 1)]
    rates = [group.mean_fps(cell) for cell in steps]
    top = _ABOVE * max((r for r in rates if r is not None), default=1.0) / 1e6
    canvas = Canvas(*SMALL, Scale.linear(top))
    canvas.y_axis("Mpps")
    names = ("base", *(f"+ {name}" for name in group.factors))
    canvas.x_axis((((at + 0.5) / (count + 1), name) for at, name in enumerate(names)), "")
    before = 0.0
    for at, rate in enumerate(rates):
        if rate is None:
            continue
        sides = ((at + _SIDES[0]) / (count + 1), (at + _SIDES[1]) / (count + 1))
        measured = ", ".join(mpps(each) for each in group.cells[steps[at]])
        hover = f"{names[at]}: {mpps(rate)} Mpps (measured: {measured})"
        bar(canvas, sides, (before / 1e6, rate / 1e6), "c0", hover=hover, label=mpps(rate))
        before = rate
    return canvas.document(f"Each step on top of those before, {group.name}", standalone)


def effect_chart(key: str, title: str, effects: Sequence[NamedEffect]) -> Chart:
    """Build a chart with a dot for each effect and a bar for its interval.

    The line marks no effect.
    """
    none = tuple((float(at), 1.0) for at in range(len(effects)))
    dots = tuple(
        Curve(
            "effect", LineStyle.SOLID, 0, ((float(at), each.effect.ratio),), (effect_words(each),)
        )
        for at, each in enumerate(effects)
    )
    bars = tuple(
        Range("95% interval", 1, float(at), each.effect.low, each.effect.high, effect_words(each))
        for at, each in enumerate(effects)
        if each.effect.low is not None
    )
    return Chart(
        key=key,
        title=title,
        x_label="",
        y_label="times the rate",
        axis=Categories(tuple(each.what.removesuffix(" alone") for each in effects)),
        curves=(*dots, Curve("no effect", LineStyle.REFERENCE, 0, none, ("",) * len(none))),
        ranges=bars,
    )


def interaction_charts(group: FactorGroup, number: int) -> Iterator[Chart]:
    """Yield, for every two factors, the rate with the one off and on.

    One line is for the other factor off, one for on. Lines that are not parallel show an
    interaction (the axis is logarithmic).
    """
    for each in group.interactions:
        one, other = sorted(each.effect.of)
        lines = []
        for colour, on in enumerate((False, True)):
            means = [
                _mean_where(group, {one: level, other: on}) for level in (False, True)
            ]  # fmt: skip
            found = [(float(x), m / 1e6) for x, m in enumerate(means) if m is not None]
            name = f"{group.factors[other]} {'on' if on else 'off'}"
            hover = tuple(f"{name}: {y:.3f} Mpps" for _, y in found)
            lines.append(Curve(name, LineStyle.SOLID, colour, tuple(found), hover))
        yield Chart(
            key=f"interaction-{number}-{one}-{other}",
            title=each.what,
            x_label=group.factors[one],
            y_label="Mpps",
            axis=Categories(("off", "on")),
            curves=tuple(line for line in lines if line.points),
            log_y=True,
        )


def _mean_where(group: FactorGroup, levels: dict[int, bool]) -> float | None:
    """Return the geometric mean over all combinations with these levels."""
    rates = [
        rate
        for cell in group.cells
        if all((factor in cell) is on for factor, on in levels.items())
        and (rate := group.mean_fps(cell)) is not None
    ]
    product = 1.0
    for rate in rates:
        product *= rate ** (1 / len(rates))
    return product if rates else None
