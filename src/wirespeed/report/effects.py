# SPDX-License-Identifier: Apache-2.0
"""What did each factor of a study change, and how sure is that?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.experiment.combinations import Combination, aliases, generator, letters
from wirespeed.experiment.effects import (
    Cells,
    Effect,
    Verdict,
    contrast,
    mean,
    pairs,
    scatter,
    step,
)
from wirespeed.model.design import Combine, Order, StudyForm
from wirespeed.model.study import flat
from wirespeed.model.words import counted
from wirespeed.report.figures import PointFigures, Rate, point_figures
from wirespeed.store.records import PointRecord, RunRecord

# What effects may be of: one that every result has, so that like is compared with like; of several
# the one whose repeats scatter least, where there are repeats, else the first.
_QUANTITIES: Mapping[str, Callable[[PointFigures], Rate | None]] = {
    "NDR": lambda f: f.ndr,
    "PDR": lambda f: f.pdr,
    "MRR": lambda f: f.mrr,
    "MRR as this host is": lambda f: f.as_is_mrr,
    "forwarded": lambda f: f.constant,
}


@dataclass(frozen=True, slots=True)
class Told:
    """An effect and what to call it. aliased: what else it may be the effect of."""

    what: str
    effect: Effect
    aliased: str = ""


@dataclass(frozen=True, slots=True)
class FactorGroup:
    """Points that differ in their factors alone. quantity: what is compared. missing: results that
    have no such figure. cells: rates in frames/s by combination, by repeat.

    cumulative, alone, mains, interactions: empty where the design does not have them.
    """

    name: str
    quantity: str
    missing: int
    factors: tuple[str, ...]
    cells: Cells
    cumulative: tuple[Told, ...] = ()
    total: Told | None = None
    alone: tuple[Told, ...] = ()
    mains: tuple[Told, ...] = ()
    interactions: tuple[Told, ...] = ()

    @property
    def told(self) -> tuple[Told, ...]:
        """All effects in the order of reading."""
        last = () if self.total is None else (self.total,)
        return (*self.cumulative, *last, *self.alone, *self.mains, *self.interactions)

    def mean_fps(self, cell: Combination) -> float | None:
        """The geometric mean of a combination; None where it was not measured."""
        return mean(self.cells[cell]) if self.cells.get(cell) else None


def factor_groups(run: RunRecord) -> tuple[FactorGroup, ...]:
    """One for each combination of what is no factor; none where the study has no factors."""
    form = run.form
    if not form.factors:
        return ()
    keys = {key for factor in form.factors for key in factor.sets}
    groups: dict[str, list[PointRecord]] = {}
    for point in run.points:
        rest = {k: v for k, v in flat(point.parameters).items() if k not in keys}
        groups.setdefault(str(sorted(rest.items(), key=str)), []).append(point)
    found = (_group(form, members) for members in groups.values())
    return tuple(group for group in found if group is not None)


def plain_label(point: PointRecord) -> str:
    """What a point is called without its factors and its repeat."""
    label = point.label.removesuffix(f", repeat {point.repeat}")
    words = " + ".join(point.factors) or "base"
    return label.removesuffix(f", {words}")


def _group(form: StudyForm, points: Sequence[PointRecord]) -> FactorGroup | None:
    figures = [f for f in map(point_figures, points) if f.best is not None]
    if not figures:
        return None
    blocks = form.design.order is Order.BLOCKS
    by_quantity = {name: _cells(_by_repeat(form, figures, pick), blocks)
                   for name, pick in _QUANTITIES.items()}  # fmt: skip
    most = max(sum(map(len, cells.values())) for cells in by_quantity.values())
    full = {name: c for name, c in by_quantity.items() if sum(map(len, c.values())) == most}
    name = min(full, key=lambda quantity: scatter(full[quantity]))
    cells = full[name]
    missing = len(points) - sum(map(len, cells.values()))
    names = tuple(factor.name for factor in form.factors)
    group = FactorGroup(plain_label(points[0]), name, missing, names, cells)
    return _with_effects(group, form, blocks)


def _by_repeat(
    form: StudyForm, figures: Sequence[PointFigures], pick: Callable[[PointFigures], Rate | None]
) -> Mapping[Combination, Mapping[int, float]]:
    number = {factor.name: at for at, factor in enumerate(form.factors)}
    found: dict[Combination, dict[int, float]] = {}
    for figure in figures:
        if (rate := pick(figure)) is not None and rate.fps > 0:
            on = frozenset(number[factor] for factor in figure.point.factors)
            found.setdefault(on, {})[figure.point.repeat] = rate.fps
    return found


def _cells(by_repeat: Mapping[Combination, Mapping[int, float]], blocks: bool) -> Cells:
    """In blocks, only repeats that every combination has: a block stands as a whole or not."""
    if not blocks:
        return {on: tuple(rates[n] for n in sorted(rates)) for on, rates in by_repeat.items()}
    whole = set.intersection(*(set(rates) for rates in by_repeat.values())) if by_repeat else set()
    return {on: tuple(rates[n] for n in sorted(whole)) for on, rates in by_repeat.items()}


def _with_effects(group: FactorGroup, form: StudyForm, blocks: bool) -> FactorGroup:
    count, cells, names = len(group.factors), group.cells, group.factors
    base: Combination = frozenset()
    found: dict[str, tuple[Told, ...]] = {}
    combine = form.design.combine
    total = None
    if Combine.CUMULATIVE in combine:
        steps = [frozenset(range(at)) for at in range(count + 1)]
        found["cumulative"] = tuple(
            Told(f"{names[at]}, on top of {names[at - 1] if at else 'the base'}", effect)
            for at in range(count)
            if (effect := step(cells, steps[at], steps[at + 1], blocks=blocks)) is not None
        )
        all_of_them = step(cells, base, steps[-1], blocks=blocks)
        total = None if all_of_them is None else Told("all of them together", all_of_them)
    if Combine.ONE_AT_A_TIME in combine:
        found["alone"] = tuple(
            Told(f"{names[at]} alone", effect)
            for at in range(count)
            if (effect := step(cells, base, frozenset((at,)), blocks=blocks)) is not None
        )
    if Combine.FACTORIAL in combine or Combine.FRACTION in combine:
        singles = [frozenset((at,)) for at in range(count)]
        found["mains"] = tuple(_contrasts(group, form, singles, blocks))
        found["interactions"] = tuple(_contrasts(group, form, pairs(count), blocks))
    return FactorGroup(
        group.name, group.quantity, group.missing, names, cells,
        found.get("cumulative", ()), total, found.get("alone", ()), found.get("mains", ()),
        found.get("interactions", ()),
    )  # fmt: skip


def _contrasts(
    group: FactorGroup, form: StudyForm, wanted: Sequence[Combination], blocks: bool
) -> Iterator[Told]:
    """Main effects or interactions; of several that are the same contrast, the first."""
    count, names = len(group.factors), group.factors
    generators = [generator(text, count) for text in form.design.generators]
    confused = aliases(count, generators)
    shown: set[Combination] = set()
    for of in wanted:
        if any(other in shown for other in confused[of]) or any(
            len(other) < len(of) for other in confused[of]
        ):
            continue
        if (effect := contrast(group.cells, of, blocks=blocks)) is not None:
            shown.add(of)
            what = " with ".join(names[at] for at in sorted(of))
            yield Told(what, effect, ", ".join(letters(other) for other in confused[of]))


def effect_words(told: Told) -> str:
    """E.g. "huge pages alone: gains, 1.21x (95%: 1.10x to 1.33x, 3 repeats)"."""
    effect = told.effect
    value = f"{effect.ratio:.2f}x"
    if effect.low is None or effect.high is None:
        said = f"{value}, measured once: no interval"
    else:
        verdict = {
            Verdict.GAIN: "gains", Verdict.LOSS: "loses",
            Verdict.UNSURE: "no gain or loss that is sure",
        }[effect.verdict]  # fmt: skip
        said = (
            f"{verdict}, {value} (95%: {effect.low:.2f}x to {effect.high:.2f}x, "
            f"{counted(effect.repeats, 'repeat')})"
        )
    also = f"; cannot be told from {told.aliased}" if told.aliased else ""
    return f"{told.what}: {said}{also}"
