# SPDX-License-Identifier: Apache-2.0
"""How is it said in which order a study is measured, and what its short form leaves out?"""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.design import Order, StudyForm
from wirespeed.model.fault import show
from wirespeed.model.words import counted

_ORDERS = {
    Order.RANDOM: "at random",
    Order.BLOCKS: "in blocks, each of every point once and at random",
}


def design_words(form: StudyForm) -> Iterator[str]:
    """How often and in which order points are measured, where that is not as written."""
    design = form.design
    if design.repeats > 1:
        yield f"Each point is measured {design.repeats} times."
    if design.order in _ORDERS:
        yield f"Points are measured {_ORDERS[design.order]} (seed {design.seed})."


def quick_words(form: StudyForm, points: int | None = None) -> Iterator[str]:
    """What the short form leaves out and sets; points: how many it does without."""
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
