# SPDX-License-Identifier: Apache-2.0
"""Show the deciding trial over time: load, excluded time, queues and losses.

A trial has thousands of windows and a drawing hundreds of columns. Each column keeps the extremes
of its windows, so that no short event is lost: least and most offered, longest queue, most frames
lost. It also keeps the excluded share of its time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wirespeed.model.result.evidence import SLOW
from wirespeed.model.result.reason import Reason, reason_of
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.series import BACKLOG, COUNTED, OFFERED, RECEIVED, Series, is_slowness
from wirespeed.model.result.trial import Stage
from wirespeed.store.records import PointRecord, StoredTrial

COLUMNS = 320
# Loads with a smaller relative difference are one load.
_SAME_LOAD = 1e-3


@dataclass(frozen=True, slots=True)
class Strip:
    """One reason for excluding time."""

    why: Reason
    share: float
    """Excluded share of the trial."""
    columns: tuple[float, ...]
    """Excluded share of each column's time."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """One trial over time. Every tuple has one value for each column."""

    key: str
    title: str
    number: int
    duration_s: float
    intended_mpps: float
    offered_mpps: tuple[tuple[float, float], ...]
    strips: tuple[Strip, ...]
    counted: tuple[float, ...]
    """Share of the column's windows that count."""
    backlog: tuple[float, ...] | None
    """Most frames queued; None where that is unknown."""
    lost_counted: tuple[float, ...]
    """Most frames that one counted window lost."""
    lost_left_out: tuple[float, ...]
    """Most frames that one excluded window lost."""
    total_counted: int
    total_left_out: int
    ring_frames: int
    """Frames that one stop may cost; 0: unknown."""


def timeline_chart(point: PointRecord) -> Timeline | None:
    """Return the timeline of the deciding trial; None where no trial has windows."""
    found = deciding_trial(point)
    if found is None:
        return None
    number, stored = found
    trial = stored.trial
    by_name = {series.name: series for series in stored.series}
    offered, received = by_name[OFFERED], by_name[RECEIVED]
    columns = _Columns(offered.at_ns, min(COLUMNS, len(offered.at_ns)))
    lost = [max(0.0, o - r) for o, r in zip(offered.values, received.values, strict=True)]
    counts = by_name[COUNTED].values
    inside = [frames if counted else 0.0 for frames, counted in zip(lost, counts, strict=True)]
    outside = [0.0 if counted else frames for frames, counted in zip(lost, counts, strict=True)]
    to_mpps = 1e3 / columns.window_ns
    lowest = columns.each(offered.values, min)
    highest = columns.each(offered.values, max)
    slow = [series for name, series in by_name.items() if is_slowness(name)]
    return Timeline(
        key=f"timeline-{point.key}",
        title=f"{point.label}, trial {number} ({trial.stage})",
        number=number,
        duration_s=trial.duration_s,
        intended_mpps=trial.intended_load_fps / 1e6,
        offered_mpps=tuple(
            (low * to_mpps, high * to_mpps) for low, high in zip(lowest, highest, strict=True)
        ),
        strips=_strips(columns, stored, slow, counts),
        counted=columns.each(counts, _mean),
        backlog=columns.each(by_name[BACKLOG].values, max) if BACKLOG in by_name else None,
        lost_counted=columns.each(inside, max),
        lost_left_out=columns.each(outside, max),
        total_counted=round(sum(inside)),
        total_left_out=round(sum(outside)),
        ring_frames=trial.observation.ring_frames,
    )


def deciding_trial(point: PointRecord) -> tuple[int, StoredTrial] | None:
    """Return the trial that decides, with its number.

    It is the last that confirmed the rate; else the last at that load; else the last of the search.
    """
    told = [
        (number, stored)
        for number, stored in enumerate(point.trials, start=1)
        if {OFFERED, RECEIVED, COUNTED} <= {series.name for series in stored.packed}
    ]
    load_fps = _decided_fps(point.result)
    confirmed = [pair for pair in told if pair[1].trial.stage is Stage.CONFIRM]
    at_load = [
        pair
        for pair in told
        if load_fps and abs(pair[1].trial.intended_load_fps / load_fps - 1) < _SAME_LOAD
    ]
    both = [pair for pair in confirmed if pair in at_load]
    others = [p for p in told if p[1].trial.stage not in (Stage.WARM_UP, Stage.LATENCY)]
    chosen = both or confirmed or at_load or others
    return chosen[-1] if chosen else None


def _decided_fps(result: SearchResult | None) -> float | None:
    if result is None:
        return None
    if result.ndr is not None and result.ndr.lower is not None:
        return result.ndr.lower.load_fps
    return result.bracket.overloads_fps if result.bracket is not None else None


class _Columns:
    """Assigns windows to the columns of the drawing."""

    def __init__(self, at_ns: Sequence[int], count: int) -> None:
        self.begin_ns, self.windows, self.count = at_ns[0], len(at_ns), count
        self.window_ns = at_ns[1] - at_ns[0] if len(at_ns) > 1 else 1
        self._edges = [column * len(at_ns) // count for column in range(count + 1)]

    @property
    def span_ns(self) -> int:
        return self.windows * self.window_ns

    def each(
        self, values: Sequence[float], pick: Callable[[Sequence[float]], float]
    ) -> tuple[float, ...]:
        """Return for each column the value that `pick` takes from those of its windows."""
        edges = self._edges
        return tuple(pick(values[edges[i] : edges[i + 1]]) for i in range(self.count))

    def covered(self, spans: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """Return the share of each column that these spans take. spans: (begin, length) in ns."""
        width_ns = self.span_ns / self.count
        shares = [0.0] * self.count
        for begin_ns, length_ns in spans:
            begin = max(0, begin_ns - self.begin_ns)
            end = min(self.span_ns, begin_ns - self.begin_ns + length_ns)
            column = int(begin / width_ns)
            while column < self.count and column * width_ns < end:
                overlap = min(end, (column + 1) * width_ns) - max(begin, column * width_ns)
                shares[column] += max(0.0, overlap) / width_ns
                column += 1
        return tuple(min(1.0, share) for share in shares)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _strips(
    columns: _Columns, stored: StoredTrial, slow: Sequence[Series], counts: Sequence[float]
) -> tuple[Strip, ...]:
    """Return one strip for each reason, sorted by excluded time, longest first."""
    spans: dict[Reason, list[tuple[int, int]]] = {}
    for disturbance in stored.trial.observation.evidence.disturbances:
        span = (disturbance.begin_ns, disturbance.length_ns)
        spans.setdefault(reason_of(disturbance), []).append(span)
    for series in slow:
        spans.setdefault(Reason.CORE_SHARED, []).extend(_slow_spans(series, columns))
    strips = [_strip(why, columns.covered(found)) for why, found in spans.items() if found]
    strips.sort(key=lambda strip: -strip.share)
    disturbed = _touched(columns, [span for found in spans.values() for span in found])
    around = [
        0.0 if counted or touched else 1.0
        for counted, touched in zip(counts, disturbed, strict=True)
    ]
    if any(around):
        strips.append(_strip(Reason.NOT_DRAINED, columns.each(around, _mean)))
    return tuple(strips)


def _strip(why: Reason, columns: tuple[float, ...]) -> Strip:
    return Strip(why, _mean(columns), columns)


def _slow_spans(series: Series, columns: _Columns) -> list[tuple[int, int]]:
    """Return the spans of slow samples: each lasts until the next sample."""
    ends = [*series.at_ns[1:], columns.begin_ns + columns.span_ns]
    return [
        (begin, end - begin)
        for begin, end, slowness in zip(series.at_ns, ends, series.values, strict=True)
        if slowness > SLOW
    ]


def _touched(columns: _Columns, spans: Sequence[tuple[int, int]]) -> list[bool]:
    """Return whether each window overlaps one of these spans."""
    touched = [False] * columns.windows
    for begin_ns, length_ns in spans:
        first = max(0, (begin_ns - columns.begin_ns) // columns.window_ns)
        last = (begin_ns - columns.begin_ns + max(0, length_ns - 1)) // columns.window_ns
        for window in range(first, min(columns.windows, last + 1)):
            touched[window] = True
    return touched
