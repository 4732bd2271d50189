# SPDX-License-Identifier: Apache-2.0
"""Describe in words the order of a study's points and its short form."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.input.fault import show
from wirespeed.model.study.design import Order, StudyForm
from wirespeed.model.words import counted

_ORDERS = {
    Order.RANDOM: "at random",
    Order.BLOCKS: "in blocks, each of every point once and at random",
}


def design_words(form: StudyForm) -> Iterator[str]:
    """Yield sentences on repeats and order, if they differ from the order as written."""
    design = form.design
    if design.repeats > 1:
        yield f"Each point is measured {design.repeats} times."
    if design.order in _ORDERS:
        yield f"Points are measured {_ORDERS[design.order]} (seed {design.seed})."


def quick_words(form: StudyForm, points: int | None = None) -> Iterator[str]:
    """Yield sentences on the levels that the short form excludes and the values it sets.

    points: number of excluded points, None if unknown.
    """
    quick = form.quick
    if not quick.on:
        return
    levels = "; ".join(
        f"{key} {', '.join(show(level) for level in levels)}"
        for key, levels in quick.leave_out.items()
    )
    values = ", ".join(f"{key} = {show(value)}" for key, value in quick.set.items())
    if levels:
        many = "" if points is None else f" ({counted(points, 'point')})"
        yield f"The short form leaves out {levels}{many}."
    if values:
        yield f"The short form sets {values}."
