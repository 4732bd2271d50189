# SPDX-License-Identifier: Apache-2.0
"""Choose the rate that stands for a point and for a run.

The rule is `strictest`: the strictest measure that there is, and of one measure the highest rate.
`headline` applies it to a stored run without reading the run whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Row, select

from wirespeed.model.result.outcome import Quantity
from wirespeed.model.result.result import OUTCOMES, Interval, SearchResult, lower_fps
from wirespeed.store.read import intact
from wirespeed.store.store import Store
from wirespeed.store.tables import POINTS


class Measure(StrEnum):
    """Measures of a rate, the strictest first."""

    NDR = "NDR"
    PDR = "PDR"
    MRR = "MRR"
    FORWARDED = "forwarded"
    """At a fixed load."""
    ALL_TIME = "MRR, all time"


@dataclass(frozen=True, slots=True)
class Headline:
    """A rate with its measure and its point."""

    label: str
    """The point's."""
    figure: str
    """A Measure, or the name of an outcome's total."""
    value: float
    unit: str
    """frames/s, or the unit of an outcome's total."""
    at_least: bool
    """True if no higher load failed: the value is a lower bound."""
    grade: str | None

    @property
    def rank(self) -> int:
        """Place of the measure, the strictest first; outcomes come last."""
        measures = list(map(str, Measure))
        return measures.index(self.figure) if self.figure in measures else len(measures)


def strictest(found: Iterable[Headline]) -> Headline | None:
    """Return the highest rate of the strictest measure; None where there is none."""
    return min(found, key=lambda one: (one.rank, -one.value), default=None)


def headline(store: Store, run_id: str) -> Headline | None:
    """Return the run's; None without a rate. Emulated points have none. Raises Damaged."""
    query = select(POINTS.c.label, *_COLUMNS).where(POINTS.c.run_id == run_id)
    with intact(store.url, run_id), store.begin() as connection:
        rows = connection.execute(query).all()
        return strictest(each for row in rows if row.emulated is None for each in _of_row(row))


def result_headline(label: str, result: SearchResult) -> Headline | None:
    """Return the headline of a point's result, of emulated CPUs too; None without a rate."""
    bracket, constant = result.bracket, result.constant
    rates = _Rates(
        ndr=lower_fps(result.ndr),
        above_ndr=_upper_fps(result.ndr),
        carried=None if bracket is None else bracket.carried_fps,
        pdr=lower_fps(result.pdr),
        above_pdr=_upper_fps(result.pdr),
        mrr=result.mrr_fps,
        forwarded=None if constant is None else constant.forwarding_fps,
        all_time=None if result.as_is is None else result.as_is.mrr_fps,
        total=None if result.outcome is None else result.outcome.total,
    )
    grade = None if result.grade is None else str(result.grade)
    return strictest(_headlines(label, rates, grade))


@dataclass(frozen=True, slots=True)
class _Rates:
    """Rates of a point in frames/s, and the total of an outcome; None where it has none."""

    ndr: float | None
    above_ndr: float | None
    carried: float | None
    pdr: float | None
    above_pdr: float | None
    mrr: float | None
    forwarded: float | None
    all_time: float | None
    total: Quantity | None


def _upper_fps(interval: Interval | None) -> float | None:
    return interval.upper.load_fps if interval is not None and interval.upper is not None else None


def _headlines(label: str, rates: _Rates, grade: str | None) -> Iterator[Headline]:
    """Yield every rate of a point."""
    found: tuple[tuple[Measure, float | None, bool], ...] = (
        (Measure.NDR, rates.ndr, rates.above_ndr is None),
        (Measure.NDR, rates.carried, True),
        (Measure.PDR, rates.pdr, rates.above_pdr is None),
        (Measure.MRR, rates.mrr, False),
        (Measure.FORWARDED, rates.forwarded, False),
        (Measure.ALL_TIME, rates.all_time, False),
    )
    for figure, value, at_least in found:
        if value is not None:
            yield Headline(label, figure, value, "frames/s", at_least, grade)
    if rates.total is not None:
        total = rates.total
        yield Headline(label, total.name, total.value, total.unit, False, grade)


def _of_row(row: Row[Any]) -> Iterator[Headline]:
    stored = ((kind, row._mapping[name]) for name, kind in OUTCOMES.items())
    total = next((kind.stored_total(figures) for kind, figures in stored if figures), None)
    rates = _Rates(
        row.ndr, row.above_ndr, row.carried, row.pdr, row.above_pdr, row.mrr, row.forwarded,
        row.all_time, total,
    )  # fmt: skip
    return _headlines(row.label, rates, row.grade)


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
    _number("as_is", "mrr_fps").label("all_time"),
    *(POINTS.c.result[(name, "figures")].as_json().label(name) for name in OUTCOMES),
)
