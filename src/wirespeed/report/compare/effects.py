# SPDX-License-Identifier: Apache-2.0
"""Estimate what each factor of a study changed, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from wirespeed.experiment.combinations import Combination, aliases, generator, letters, pairs
from wirespeed.experiment.effects import (
    Cells,
    Effect,
    Verdict,
    contrast,
    mean,
    scatter,
    step,
)
from wirespeed.experiment.placement_fit import PlacementFit, Sample, fit_placements
from wirespeed.model.cpus import PlacementKind, placement_words
from wirespeed.model.study.design import Combine, Order, StudyForm
from wirespeed.model.study.study import flat
from wirespeed.model.words import counted
from wirespeed.report.base.answers import by_placement
from wirespeed.report.views.figures import PointFigures, Rate, point_figures
from wirespeed.store.records import PointRecord, RunRecord

# Rates whose effects can be estimated. Only a rate that every result has is used, so that like is
# compared with like. With repeats, the one that scatters least is used, else the first.
_QUANTITIES: Mapping[str, Callable[[PointFigures], Rate | None]] = {
    "NDR": lambda f: f.ndr,
    "PDR": lambda f: f.pdr,
    "MRR": lambda f: f.mrr,
    "MRR over all time": lambda f: f.as_is_mrr,
    "forwarded": lambda f: f.constant,
}


@dataclass(frozen=True, slots=True)
class NamedEffect:
    """An effect and its name."""

    what: str
    effect: Effect
    aliased: str = ""
    """Another effect that it may be instead, as the design cannot separate them."""


@dataclass(frozen=True, slots=True)
class FactorGroup:
    """Points that differ only in their factors; effects are empty where the design has none."""

    name: str
    quantity: str
    """Name of the compared rate."""
    missing: int
    """Number of results without that rate."""
    factors: tuple[str, ...]
    cells: Cells
    """Rates in frames/s by combination, by repeat."""
    cumulative: tuple[NamedEffect, ...] = ()
    total: NamedEffect | None = None
    alone: tuple[NamedEffect, ...] = ()
    mains: tuple[NamedEffect, ...] = ()
    interactions: tuple[NamedEffect, ...] = ()
    fit: PlacementFit | None = None

    @property
    def named(self) -> tuple[NamedEffect, ...]:
        """All effects in reading order."""
        last = () if self.total is None else (self.total,)
        return (*self.cumulative, *last, *self.alone, *self.mains, *self.interactions)

    def mean_fps(self, cell: Combination) -> float | None:
        """Return the geometric mean of a combination; None where it was not measured."""
        return mean(self.cells[cell]) if self.cells.get(cell) else None


def factor_groups(run: RunRecord) -> tuple[FactorGroup, ...]:
    """Return a group for each combination of what is no factor; none without factors."""
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
    """Return a point's label without its factors and its repeat."""
    label = point.label.removesuffix(f", repeat {point.repeat}")
    words = " + ".join(point.factors) or "base"
    return label.removesuffix(f", {words}")


def _group(form: StudyForm, points: Sequence[PointRecord]) -> FactorGroup | None:
    figures = [
        (kind, found)
        for point in points
        for kind, one in by_placement(point).items()
        if (found := point_figures(one)).best is not None
    ]
    if not figures:
        return None
    blocks = form.design.order is Order.BLOCKS
    rates = {name: _Rates.of(form, figures, pick) for name, pick in _QUANTITIES.items()}
    tables = {name: each.cells(blocks) for name, each in rates.items()}
    most = max(sum(map(len, cells.values())) for cells, _ in tables.values())
    full = {name: t for name, t in tables.items() if sum(map(len, t[0].values())) == most}
    name = min(full, key=lambda quantity: scatter(full[quantity][0]))
    cells, fit = full[name]
    used = rates[name].points if fit is not None else sum(map(len, cells.values()))
    quantity = name if fit is None else f"{name}, {_adjusted(form, fit)}"
    names = tuple(factor.name for factor in form.factors)
    group = FactorGroup(
        plain_label(points[0]), quantity, len(points) - used, names, cells, fit=fit
    )  # fmt: skip
    return _with_effects(group, form, blocks)


def _adjusted(form: StudyForm, fit: PlacementFit) -> str:
    """Name the placement that rates are adjusted to, and combinations without one in common."""
    said = f"adjusted to {placement_words(fit.reference)}"
    apart = [cell for cell, rates in fit.cells.items() if not rates]
    named = "; ".join(" + ".join(form.factors[at].name for at in sorted(cell)) for cell in apart)
    return f"{said}, no placement in common: {named}" if apart else said


@dataclass(frozen=True, slots=True)
class _Rates:
    """Rates of one quantity by combination, repeat and placement; None: unknown placement."""

    found: Mapping[Combination, Mapping[int, Mapping[PlacementKind | None, float]]]

    @classmethod
    def of(
        cls, form: StudyForm, figures: Sequence[tuple[PlacementKind | None, PointFigures]],
        pick: Callable[[PointFigures], Rate | None],
    ) -> _Rates:  # fmt: skip
        number = {factor.name: at for at, factor in enumerate(form.factors)}
        found: dict[Combination, dict[int, dict[PlacementKind | None, float]]] = {}
        for kind, figure in figures:
            if (rate := pick(figure)) is not None and rate.fps > 0:
                on = frozenset(number[factor] for factor in figure.point.factors)
                found.setdefault(on, {}).setdefault(figure.point.repeat, {})[kind] = rate.fps
        return cls(found)

    @property
    def points(self) -> int:
        """Return how many results have a rate of a known placement."""
        placed = (each for repeats in self.found.values() for each in repeats.values())
        return sum(any(kind is not None for kind in each) for each in placed)

    def cells(self, blocks: bool) -> tuple[Cells, PlacementFit | None]:
        """Return rates by combination and repeat, adjusted by a fit where placements differ.

        blocks: keep only repeats of one placement that every combination has.
        """
        samples = {
            on: [
                Sample(fps, kind, repeat)
                for repeat, rates in repeats.items()
                for kind, fps in rates.items()
                if kind is not None
            ]
            for on, repeats in self.found.items()
        }
        if len({sample.placement for of in samples.values() for sample in of}) > 1:
            fit = fit_placements({on: of for on, of in samples.items() if of}, blocks=blocks)
            return fit.cells, fit
        whole = set().union(*self.found.values())
        if blocks and self.found:
            whole = set.intersection(*(set(repeats) for repeats in self.found.values()))
        return {
            on: tuple(next(iter(repeats[n].values())) for n in sorted(whole & set(repeats)))
            for on, repeats in self.found.items()
        }, None


def _with_effects(group: FactorGroup, form: StudyForm, blocks: bool) -> FactorGroup:
    count, cells, names, fit = len(group.factors), group.cells, group.factors, group.fit
    base: Combination = frozenset()
    found: dict[str, tuple[NamedEffect, ...]] = {}
    combine = form.design.combine
    total = None
    if Combine.CUMULATIVE in combine:
        steps = [frozenset(range(at)) for at in range(count + 1)]
        found["cumulative"] = tuple(
            NamedEffect(f"{names[at]}, on top of {names[at - 1] if at else 'the base'}", effect)
            for at in range(count)
            if (effect := step(cells, steps[at], steps[at + 1], blocks=blocks, fit=fit)) is not None
        )
        all_of_them = step(cells, base, steps[-1], blocks=blocks, fit=fit)
        total = None if all_of_them is None else NamedEffect("all of them together", all_of_them)
    if Combine.ONE_AT_A_TIME in combine:
        found["alone"] = tuple(
            NamedEffect(f"{names[at]} alone", effect)
            for at in range(count)
            if (effect := step(cells, base, frozenset((at,)), blocks=blocks, fit=fit)) is not None
        )
    if Combine.FACTORIAL in combine or Combine.FRACTION in combine:
        singles = [frozenset((at,)) for at in range(count)]
        found["mains"] = tuple(_contrasts(group, form, singles, blocks))
        found["interactions"] = tuple(_contrasts(group, form, pairs(count), blocks))
    return replace(
        group, total=total, cumulative=found.get("cumulative", ()), alone=found.get("alone", ()),
        mains=found.get("mains", ()), interactions=found.get("interactions", ()),
    )  # fmt: skip


def _contrasts(
    group: FactorGroup, form: StudyForm, wanted: Sequence[Combination], blocks: bool
) -> Iterator[NamedEffect]:
    """Yield main effects or interactions; of several that are the same contrast, the first."""
    count, names = len(group.factors), group.factors
    generators = [generator(text, count) for text in form.design.generators]
    confused = aliases(count, generators)
    shown: set[Combination] = set()
    for of in wanted:
        if any(other in shown for other in confused[of]) or any(
            len(other) < len(of) for other in confused[of]
        ):
            continue
        if (effect := contrast(group.cells, of, blocks=blocks, fit=group.fit)) is not None:
            shown.add(of)
            what = " with ".join(names[at] for at in sorted(of))
            yield NamedEffect(what, effect, ", ".join(letters(other) for other in confused[of]))


def effect_words(found: NamedEffect) -> str:
    """Format an effect: "huge pages alone: gains, 1.21x (95%: 1.10x to 1.33x, 3 repeats)"."""
    effect = found.effect
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
            f"{counted(effect.repeats, 'repeat')}{_to_be_sure(effect)})"
        )
    also = f"; indistinguishable from {found.aliased}" if found.aliased else ""
    return f"{found.what}: {said}{also}"


def _to_be_sure(effect: Effect) -> str:
    needed = effect.repeats_to_be_sure
    if needed is None:
        return ""
    return "; more than 100 to be sure" if needed == math.inf else f"; about {needed} to be sure"
