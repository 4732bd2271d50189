# SPDX-License-Identifier: Apache-2.0
"""Derive the points of a study, their repeats and their order, from cases, factors and levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from wirespeed.experiment.combinations import (
    Combination,
    cumulative,
    factorial,
    fraction,
    generator,
    one_at_a_time,
)
from wirespeed.experiment.order import ordered
from wirespeed.model.input.fault import Fault, show
from wirespeed.model.study.design import Combine, Order, StudyForm
from wirespeed.model.study.study import Point, flat
from wirespeed.study.expand import MAX_POINTS, expand, set_key
from wirespeed.study.form import left_out

# Name of the point with all factors off.
BASE = "base"


def combinations_of(form: StudyForm) -> tuple[Combination, ...]:
    """Return every combination of the factors that the design measures, once."""
    count = len(form.factors)
    found: dict[Combination, None] = {}
    for kind in form.design.combine:
        found |= dict.fromkeys(_combinations(kind, count, form.design.generators))
    return tuple(found)


def _combinations(kind: Combine, count: int, generators: Sequence[str]) -> Iterator[Combination]:
    if kind is Combine.CUMULATIVE:
        return cumulative(count)
    if kind is Combine.ONE_AT_A_TIME:
        return one_at_a_time(count)
    if kind is Combine.FACTORIAL:
        return factorial(count)
    return fraction(count, [generator(text, count) for text in generators])


def varied(
    base: dict[str, Any],
    vary: Mapping[str, Any],
    cases: Sequence[Mapping[str, Any]],
    form: StudyForm,
    found: list[Fault],
) -> tuple[Point, ...]:
    """Return all points of all combinations in all cases; errors are added to `found`."""
    points: dict[str, Point] = {}
    found += _set_twice(form, [vary, *cases])
    for case in cases:
        here: dict[str, Point] = {}
        for on in combinations_of(form):
            expanded, more = expand(_with(base, form, on), {**case, **vary})
            found += [fault for fault in more if fault not in found]
            for point in expanded:
                named = _named(point, form, on)
                if (other := here.setdefault(point.id, named)) is not named:
                    allowed = f"changes nothing: {other.label} is the same point"
                    found.append(Fault("factor", " + ".join(named.factors), allowed))
        points |= {key: point for key, point in here.items() if key not in points}
    return tuple(points.values())


def _with(base: dict[str, Any], form: StudyForm, on: Combination) -> dict[str, Any]:
    raw = deepcopy(base)
    for number in sorted(on):
        for key, value in form.factors[number].sets.items():
            set_key(raw, key, value)
    return raw


def _named(point: Point, form: StudyForm, on: Combination) -> Point:
    names = tuple(form.factors[number].name for number in sorted(on))
    if not form.factors:
        return point
    return replace(point, factors=names, label=f"{point.label}, {' + '.join(names) or BASE}")


def _set_twice(form: StudyForm, others: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    for factor in form.factors:
        for key in factor.sets:
            if any(key in other for other in others):
                allowed = "is varied or set by a [[case]], too: a factor could not change it"
                yield Fault(f"factor {factor.name!r}", key, allowed)


def arranged(
    points: tuple[Point, ...], form: StudyForm, found: list[Fault]
) -> tuple[tuple[Point, ...], tuple[str, ...], int]:
    """Return the points with repeats, the order of measuring, and a count.

    The order is a list of point keys. The count is the number of points that the quick form
    excludes.
    """
    design = form.design
    kept = points
    if form.quick.on:
        kept = tuple(p for p in points if not left_out(form.quick, flat(p.parameters)))
        if points and not kept:
            found.append(Fault("quick.leave_out", dict(form.quick.leave_out), "leaves no point"))
    found += _without_effect(points, form)
    if len(kept) * design.repeats > MAX_POINTS:
        allowed = f"at most {MAX_POINTS} points in one study"
        found.append(Fault("design.repeats", design.repeats, allowed))
        return (), (), 0
    again = tuple(
        _repeated(point, number, design.repeats)
        for point in kept
        for number in range(1, design.repeats + 1)
    )
    if design.order is Order.WRITTEN and design.repeats == 1:
        return again, (), len(points) - len(kept)
    pairs = ordered(kept, design.repeats, design.order, design.seed)
    order = tuple(replace(point, repeat=number).key for point, number in pairs)
    return again, order, (len(points) - len(kept)) * design.repeats


def _repeated(point: Point, number: int, repeats: int) -> Point:
    if repeats == 1:
        return point
    return replace(point, repeat=number, label=f"{point.label}, repeat {number}")


def _without_effect(points: Sequence[Point], form: StudyForm) -> Iterator[Fault]:
    """Yield the excluded levels that no point has."""
    if not form.quick.on:
        return
    values = [flat(point.parameters) for point in points]
    for key, levels in form.quick.leave_out.items():
        for level in levels:
            if not any(value.get(key) == level for value in values):
                yield Fault(f'quick.leave_out."{key}"', show(level), "no point has this level")
