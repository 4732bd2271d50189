# SPDX-License-Identifier: Apache-2.0
"""Find the rate that stands for each run, without reading the runs whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import JSON, ColumnElement, Row, select

from wirespeed.store.read import intact
from wirespeed.store.store import Store
from wirespeed.store.tables import POINTS


@dataclass(frozen=True, slots=True)
class Headline:
    """The highest rate of a run's points, by the strictest measure that any of them has."""

    label: str
    """The point's."""
    figure: str
    """NDR, PDR, MRR, forwarded or TCP."""
    value: float
    unit: str
    """frames/s, or bit/s for TCP."""
    at_least: bool
    """Whether no higher load failed, so that the value is a lower bound."""
    grade: str | None


def headline(store: Store, run_id: str) -> Headline | None:
    """Return the run's; None without a rate. Emulated points have none. Raises Damaged."""
    query = select(POINTS.c.label, *_COLUMNS).where(POINTS.c.run_id == run_id)
    with intact(store.url, run_id), store.begin() as connection:
        rows = connection.execute(query).all()
        ranked = [found for row in rows if row.emulated is None for found in _rates(row)]
    return max(ranked, key=lambda found: (-found[0], found[1].value))[1] if ranked else None


def _rates(row: Row[Any]) -> Iterator[tuple[int, Headline]]:
    """Yield every rate of a point with its rank, the strictest measure first."""
    found: tuple[tuple[str, float | None, bool], ...] = (
        ("NDR", row.ndr, row.above_ndr is None),
        ("NDR", row.carried, True),
        ("PDR", row.pdr, row.above_pdr is None),
        ("MRR", row.mrr, False),
        ("forwarded", row.forwarded, False),
    )
    ranks = {"NDR": 0, "PDR": 1, "MRR": 2, "forwarded": 3}
    for figure, value, at_least in found:
        if value is not None:
            headline = Headline(row.label, figure, value, "frames/s", at_least, row.grade)
            yield ranks[figure], headline
    if row.tcp:
        bps = sum(figure["median_bps"] for figure in row.tcp)
        yield 4, Headline(row.label, "TCP", bps, "bit/s", False, row.grade)


def _number(*path: str) -> ColumnElement[float]:
    found: ColumnElement[float] = POINTS.c.result[path].as_float()
    return found


_COLUMNS = (
    POINTS.c.result["grade"].as_string().label("grade"),
    POINTS.c.result["emulated"].as_string().label("emulated"),
    _number("ndr", "lower", "load_fps").label("ndr"),
    _number("ndr", "upper", "load_fps").label("above_ndr"),
    _number("bracket", "carried_fps").label("carried"),
    _number("pdr", "lower", "load_fps").label("pdr"),
    _number("pdr", "upper", "load_fps").label("above_pdr"),
    _number("mrr_fps").label("mrr"),
    _number("constant", "forwarding_fps").label("forwarded"),
    POINTS.c.result[("tcp", "figures")].cast(JSON).label("tcp"),
)
