# SPDX-License-Identifier: Apache-2.0
"""Compare the shapes of two curves, or of two ratios. Pure.

Machines differ, so rates do. Comparable is the shape: whether a curve rises or falls, by how much,
and how well two curves correlate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

from wirespeed.report.papers.interface import Agreement, Said

# Smaller relative changes count as none: published rates scatter by as much.
LEVEL = 0.1
# Correlation from which two curves agree: one explains 64% of the other's variance.
CLOSE = 0.8


class Trend(StrEnum):
    RISES = "rises"
    FALLS = "falls"
    LEVEL = "stays level"


def trend(values: Sequence[float]) -> Trend:
    """Return the trend from the first value to the last."""
    ratio = values[-1] / values[0]
    if ratio > 1 + LEVEL:
        return Trend.RISES
    return Trend.FALLS if ratio < 1 - LEVEL else Trend.LEVEL


def trend_words(values: Sequence[float], each: str) -> str:
    """Describe a trend: "falls with each VNF, to 0.24x". each: what the axis counts."""
    found, ratio = trend(values), values[-1] / values[0]
    steady = {
        Trend.RISES: all(b > a for a, b in pairwise(values)),
        Trend.FALLS: all(b < a for a, b in pairwise(values)),
    }.get(found, False)
    with_each = f" with each {each}" if steady and len(values) > 2 else ""
    return f"{found}{with_each}, {'at' if found is Trend.LEVEL else 'to'} {ratio:.2f}x"


def correlation(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Return Pearson's correlation of the logarithms.

    None with fewer than three points, or for a constant.
    """
    if len(ours) < 3:
        return None
    a, b = ([math.log(value) for value in values] for values in (ours, theirs))
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    spread_a = sum((x - mean_a) ** 2 for x in a)
    spread_b = sum((y - mean_b) ** 2 for y in b)
    if min(spread_a, spread_b) < 1e-12:
        return None
    both = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    return both / math.sqrt(spread_a * spread_b)


def correlation_words(ours: Sequence[float], theirs: Sequence[float]) -> str:
    found = correlation(ours, theirs)
    return "" if found is None else f"; correlation {found:.2f}"


def compare_curves(
    what: str,
    each: str,
    names: tuple[str, str],
    curves: tuple[Sequence[float], Sequence[float]],
    why: str = "",
) -> Said:
    """Say whether both rise, fall or stay level.

    what: the curve. each: what its axis counts. names and curves: ours, theirs. why: what explains
    a difference.
    """
    ours, theirs = curves
    where, paper = names
    if len(ours) < 2:
        few = f"{len(ours)} of {paper}'s points {where}, too few to tell"
        return Said(Agreement.OPEN, f"{what}: {few}")
    same = trend(ours) is trend(theirs)
    return Said(
        Agreement.AGREES if same else Agreement.DIFFERS,
        f"{what}: in {paper} it {trend_words(theirs, each)}, {where} it {trend_words(ours, each)}"
        f"{correlation_words(ours, theirs)}",
        "" if same else why,
    )


def compare_ratio(what: str, names: tuple[str, str], ours: float, theirs: float) -> Said:
    """Say whether both ratios are on the same side of 1, or both about 1. names: ours, theirs."""
    where, paper = names
    same = trend((1.0, ours)) is trend((1.0, theirs))
    return Said(
        Agreement.AGREES if same else Agreement.DIFFERS,
        f"{what}: {theirs:.2f}x in {paper}, {ours:.2f}x {where}",
    )
