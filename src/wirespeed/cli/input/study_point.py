# SPDX-License-Identifier: Apache-2.0
"""Find the one point of a study that a command measures again and again."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.model.errors import BadInput
from wirespeed.model.study.study import Point
from wirespeed.study.load import load_study


def the_point(study: str, overrides: Sequence[str], named: str | None) -> tuple[str, Point]:
    """Return the study's name and its point. named: its label or id, or how one begins.

    Raises BadInput where that is none, or more than one.
    """
    loaded = load_study(study, overrides)
    points = {point.id: point for point in loaded.points}.values()
    lower = None if named is None else named.casefold()
    found = [
        point for point in points
        if lower is None or lower in (point.label.casefold(), point.id)
    ] or [
        point for point in points
        if lower is not None and (point.label.casefold().startswith(lower)
                                  or point.id.startswith(lower))
    ]  # fmt: skip
    if len(found) == 1:
        return loaded.name, found[0]
    labels = ", ".join(f'"{point.label}"' for point in (found or points))
    if not found:
        raise BadInput(f"--point {named!r}: no such point of study {loaded.name}", labels)
    raise BadInput(
        f"study {loaded.name} has {len(found)} points that fit: {labels}",
        "Name one with --point, or fix its keys with --set.",
    )
