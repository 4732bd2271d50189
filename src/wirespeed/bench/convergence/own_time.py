# SPDX-License-Identifier: Apache-2.0
"""Tell what stopped one prefix from what stopped most of them at the same time. Pure."""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[float, float]
"""Begin and end."""


def own_times(spans: Sequence[Sequence[Span]]) -> list[float]:
    """Return for each prefix how long it was dark while at least half of all were not.

    spans: times in which each prefix was dark, in any order, none of them twice.
    """
    common = _common(spans)
    return [sum(end - begin - _overlap(begin, end, common) for begin, end in own) for own in spans]


def _common(spans: Sequence[Sequence[Span]]) -> list[Span]:
    """Return the times in which more than half of the prefixes are dark, in order."""
    steps = sorted(step for own in spans for b, e in own for step in ((b, 1), (e, -1)))
    found, dark, begun = [], 0, 0.0
    for at, step in steps:
        was_common = 2 * dark > len(spans)
        dark += step
        is_common = 2 * dark > len(spans)
        if is_common and not was_common:
            begun = at
        if was_common and not is_common:
            found.append((begun, at))
    return found


def _overlap(begin: float, end: float, spans: Sequence[Span]) -> float:
    return sum(max(0.0, min(end, e) - max(begin, b)) for b, e in spans)
