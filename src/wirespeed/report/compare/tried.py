# SPDX-License-Identifier: Apache-2.0
"""Compare the measurements of a study that tried a change, in pairs of one CPU placement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from wirespeed.experiment.pairs import Half, Matching, match
from wirespeed.explain.tried import MeasuredGain, measured_gain
from wirespeed.model.result.explanation import KeyChange
from wirespeed.model.result.result import SearchResult, lower_fps
from wirespeed.report.base.answers import answers_with_merged
from wirespeed.store.records import PointRecord, RunRecord

# The strictest first.
_FIGURES: Mapping[str, Callable[[SearchResult], float | None]] = MappingProxyType({
    "NDR": lambda r: lower_fps(r.ndr),
    "PDR": lambda r: lower_fps(r.pdr),
    "MRR": lambda r: r.mrr_fps,
    "constant": lambda r: r.constant.forwarding_fps if r.constant is not None else None,
    "MRR over all time": lambda r: r.as_is.mrr_fps if r.as_is is not None else None,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tried:
    """Outcome of a change that was tried."""

    run_id: str
    keys: tuple[KeyChange, ...]
    """Keys that were changed."""
    wanted: int
    """Number of pairs that were asked for."""
    matching: Matching[float]
    """Pairs of values before and after of one `unit`, and measurements without a partner."""
    figure: str | None = None
    """Name of the compared rate; None where no pair has one."""
    unit: str = "frames/s"
    """Unit of that rate."""
    gain: MeasuredGain | None = None
    """None without a pair."""

    @property
    def pairs(self) -> tuple[tuple[float, float], ...]:
        """Values before and after of each pair."""
        return tuple((pair.before, pair.after) for pair in self.matching.pairs)


def tried(run: RunRecord, keys: tuple[KeyChange, ...], before: str) -> Tried:
    """Compare by the strictest rate that most pairs have.

    before: prefix of the labels of unchanged points.
    """
    points = sorted(run.points, key=lambda point: point.started_at or "")
    units = _outcome_units(run)
    picks = {**_FIGURES, **dict.fromkeys(units, _total)}
    matchings = {name: match(_half(p, before, pick) for p in points)
                 for name, pick in picks.items()}  # fmt: skip
    figure, matching = max(matchings.items(), key=lambda item: len(item[1].pairs))
    found = Tried(run.id, keys, len(points) // 2, matching)
    if not found.pairs:
        return found
    unit = units.get(figure, "frames/s")
    return replace(found, figure=figure, unit=unit, gain=measured_gain(found.pairs))


def _outcome_units(run: RunRecord) -> Mapping[str, str]:
    """Return the unit of each rate of the run that no search has found, by name."""
    found = (point.result.outcome for point in run.points if point.result is not None)
    totals = (outcome.total for outcome in found if outcome is not None)
    return {f"{total.name} rate": total.unit for total in totals}


def _total(result: SearchResult) -> float | None:
    return None if result.outcome is None else result.outcome.total.value


def _half(
    point: PointRecord, before: str, pick: Callable[[SearchResult], float | None]
) -> Half[float]:
    rates = {kind: pick(result) for kind, result in answers_with_merged(point).items()}
    return Half(
        not point.label.startswith(before), {kind: rate for kind, rate in rates.items() if rate}
    )


def signed_percent(share: float) -> str:
    """Format a share: +12.3%, -0.4%."""
    return f"{100 * share:+.1f}%"
