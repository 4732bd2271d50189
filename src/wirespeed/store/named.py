# SPDX-License-Identifier: Apache-2.0
"""Find the point of a run that a name on the command line means."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from wirespeed.store.errors import NoSuchPoint
from wirespeed.store.records import PointRecord, RunRecord


def point_named(run: RunRecord, named: str) -> PointRecord:
    """Return the point with this key (its id; each repeat has its own) or label.

    The beginning of a key or label suffices where it is unique. Raises NoSuchPoint with similar
    points.
    """
    lower = named.casefold()
    ways: tuple[Callable[[PointRecord], bool], ...] = (
        lambda point: named == point.key,
        lambda point: named == point.label,
        lambda point: point.label.casefold() == lower,
        lambda point: point.key.startswith(lower) or point.label.casefold().startswith(lower),
    )
    for matches in ways:
        found = [point for point in run.points if named and matches(point)]
        if len(found) == 1:
            return found[0]
        if found:
            raise NoSuchPoint(
                f"point {named!r} of run {run.id} is ambiguous: {_listed(found)}",
                "Give more of the label, in quotes, or of the id.",
            )
    labels = [point.label for point in run.points]
    near = difflib.get_close_matches(named, labels, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise NoSuchPoint(
        f"point {named!r}: not among the {len(run.points)} of run {run.id}: {_listed(run.points)}",
        f"{hint}Name a point by its label or id, or leave it out to have them all.",
    )


_SHOWN = 8


def _listed(points: list[PointRecord] | tuple[PointRecord, ...]) -> str:
    more = f", and {len(points) - _SHOWN} more" if len(points) > _SHOWN else ""
    return ", ".join(map(_label, points[:_SHOWN])) + more


def _label(point: PointRecord) -> str:
    repeat = f"repeat {point.repeat}, " if point.repeat > 1 else ""
    return f'"{point.label}" ({repeat}{point.key})'
