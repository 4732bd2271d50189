# SPDX-License-Identifier: Apache-2.0
"""Read the rates measured on each host of a fleet, also from a store with damaged runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.host.snapshot import Figure, Repeat
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.store.errors import Damaged
from wirespeed.store.read import intact
from wirespeed.store.records import PointState
from wirespeed.store.results import decode_result
from wirespeed.store.store import Store
from wirespeed.store.survey import survey
from wirespeed.store.tables import IMPORTS, POINTS, RUNS, TRIALS
from wirespeed.store.trials import decode_trial

# Factor and unit in which quantities of a unit are compared.
_SHOWN = {"bit/s": (1e9, "Gbit/s")}


@dataclass(frozen=True, slots=True)
class Measured:
    """Rates that the runs of a store measured on hosts."""

    figures: tuple[Figure, ...]
    """Rates of the newest run of each host, point and placement: the median of its repeats."""
    repeats: tuple[Repeat, ...]
    """Trials at a constant load of every run, in the order of time."""
    damaged: Mapping[str, str]
    """Reason why a run is in neither, by its id."""


def measured(store: Store) -> Measured:
    """Return the rates of every readable run. Raises StoreError where none can be listed."""
    found = survey(store)
    damaged = dict(found.damaged)
    newest: dict[tuple[str, str, str, str, PlacementKind | None], list[Figure]] = {}
    repeats: list[Repeat] = []
    for run in found.runs:
        try:
            with intact(store.url, run.id), store.begin() as connection:
                rows = connection.execute(_results(run.id)).all()
                figures = [figure for row in rows for figure in _figures(connection, row)]
                trials = [_repeat(row) for row in connection.execute(_constant_trials(run.id))]
        except Damaged as fault:
            damaged[run.id] = fault.what
            continue
        repeats += trials
        for figure in figures:
            key = (figure.host, figure.study, figure.point, figure.name, figure.placement)
            kept = newest.setdefault(key, [])
            if not kept or kept[0].run == figure.run:
                kept.append(figure)
    return Measured(
        tuple(_over_repeats(figures) for figures in newest.values()),
        tuple(sorted(repeats, key=lambda repeat: repeat.ended_at)),
        damaged,
    )


def _results(run_id: str) -> Select[Any]:
    query = _points(
        POINTS.c.label, POINTS.c.result, POINTS.c.finished_at, POINTS.c.ordinal, POINTS.c.attempt
    )
    return query.where(RUNS.c.id == run_id, POINTS.c.state == PointState.COMPLETE)


def _constant_trials(run_id: str) -> Select[Any]:
    query = _points(POINTS.c.label, TRIALS.c.ended_at, TRIALS.c.trial).join(
        TRIALS,
        (TRIALS.c.run_id == POINTS.c.run_id)
        & (TRIALS.c.ordinal == POINTS.c.ordinal)
        & (TRIALS.c.attempt == POINTS.c.attempt),
    )
    constant = TRIALS.c.trial["stage"].as_string() == Stage.CONSTANT.value
    return query.where(RUNS.c.id == run_id, constant)


def _points(*columns: Any) -> Select[Any]:
    """Select points with their host: its name in the fleet, or its own name outside a fleet."""
    host = func.coalesce(IMPORTS.c.host, RUNS.c.host["host"].as_string()).label("host")
    return (
        select(RUNS.c.id, RUNS.c.study, host, *columns)
        .join(POINTS, POINTS.c.run_id == RUNS.c.id)
        .outerjoin(IMPORTS, IMPORTS.c.run_id == RUNS.c.id)
    )


def _repeat(row: Row[Any]) -> Repeat:
    trial = decode_trial(row.trial)
    latency = trial.observation.latency
    return Repeat(
        row.host, row.study, row.label, row.ended_at, trial.forwarding_fps, trial.loss_ratio,
        None if latency is None else latency.p99_ns / 1000, placement=trial.placement,
        moved=trial.moved,
    )  # fmt: skip


def _figures(connection: Connection, row: Row[Any]) -> Iterator[Figure]:
    if row.result is None:
        return
    result = decode_result(row.result, _trials(connection, row))
    for one in result.answers:
        for name, unit, value, low, high in _values(one):
            yield Figure(
                row.host, row.study, row.label, name, unit, value, low, high, row.id,
                row.finished_at, one.placement,
            )  # fmt: skip


def _trials(connection: Connection, row: Row[Any]) -> Iterator[Trial]:
    """Yield the trials of the point's last attempt."""
    query = select(TRIALS.c.trial).where(
        TRIALS.c.run_id == row.id,
        TRIALS.c.ordinal == row.ordinal,
        TRIALS.c.attempt == row.attempt,
    )
    for trial in connection.execute(query).scalars():
        yield decode_trial(trial)


def _values(result: SearchResult) -> Iterator[tuple[str, str, float, float, float]]:
    """Yield name, unit, value and both limits of each rate."""
    for name, interval in (("NDR", result.ndr), ("PDR", result.pdr)):
        if interval is not None and interval.lower is not None:
            low = interval.lower.load_fps
            high = low if interval.upper is None else interval.upper.load_fps
            yield name, "Mpps", low / 1e6, low / 1e6, high / 1e6
    if result.mrr_fps is not None:
        value, error = result.mrr_fps / 1e6, result.mrr_half_interval or 0.0
        yield "MRR", "Mpps", value, value * (1 - error), value * (1 + error)
    if result.constant is not None:
        value = result.constant.forwarding_fps / 1e6
        yield "forwarded", "Mpps", value, value, value
        loss = result.constant.loss_ratio * 100
        yield "loss", "%", loss, loss, loss
    if result.back_to_back is not None:
        burst = result.back_to_back
        yield "burst", "frames", burst.mean_frames, burst.min_frames, burst.max_frames
    for at in result.latency:
        value = (at.undisturbed or at.latency).p99_ns / 1000
        yield f"p99 at {at.share * 100:g}% PDR", "us", value, value, value
    if result.outcome is not None:
        total = result.outcome.total
        factor, unit = _SHOWN.get(total.unit, (1.0, total.unit))
        value = total.value / factor
        yield total.name, unit, value, value, value


def _over_repeats(figures: list[Figure]) -> Figure:
    if len(figures) == 1:
        return figures[0]
    one, values = figures[0], [figure.value for figure in figures]
    return Figure(
        one.host, one.study, one.point, one.name, one.unit, median(values), min(values),
        max(values), one.run, max(figure.ended_at for figure in figures), one.placement,
    )  # fmt: skip
