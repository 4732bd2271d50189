# SPDX-License-Identifier: Apache-2.0
"""What happened in the windows of a trial that count?

measure/gate.py decides which those are, without seeing what is counted here. A trial whose frames
carry no time stamp is one window that lasts from its beginning to its end.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from wirespeed.measure.gate import RING_SHARE, Geometry, Mask, ring_ns
from wirespeed.model.evidence import DirectionWindows, Evidence, Windows
from wirespeed.model.series import (
    BACKLOG,
    COUNTED,
    OFFERED,
    RECEIVED,
    UNSENT,
    Series,
    SeriesKind,
    slowness_name,
)
from wirespeed.model.trial import CleanRun, Gated, Latency, LatencyRows, LeftOut, Observation

Floats = NDArray[np.float64]

# A trial that is clean throughout is cut into at least so many runs: their spread gives the
# interval of the growth of queues.
MIN_RUNS = 10
# Of its windows a quiet trial may leave out: it then counts whole.
QUIET_SHARE = 0.01
# Buckets of latency are 1/16 of an octave wide.
BUCKET = 2 ** (1 / 16)
EPOCH = "first frame due"


def geometry_of(seen: Observation, width: float, pause_load_fps: float | None = None) -> Geometry:
    """pause_load_fps: the load, summed over directions, that bounds how long a stop may be, where
    it is not the trial's own: an overload is bounded as at the MRR."""
    load_fps = seen.intended_load_fps if pause_load_fps is None else pause_load_fps
    windows = _windows(seen)
    generator = {t.cpu for t in seen.threads if t.role == "generator" and t.cpu >= 0}
    forwarding = {t.cpu for t in seen.threads if t.role == "sut"}
    return Geometry(
        begin_ns=windows.begin_ns if windows else 0,
        window_ns=windows.window_ns if windows else max(1, round(seen.duration_s * 1e9)),
        count=windows.count if windows else 1,
        load_fps=load_fps / max(1, len(seen.directions)),
        ring_frames=seen.ring_frames,
        path_frames=seen.path_frames,
        width=width,
        forwarding_shares_generator=bool(generator & forwarding)
        or seen.limited_by == "shared_lcore",
    )


def drained(seen: Observation, geometry: Geometry) -> tuple[bool, ...]:
    """Was less than a quarter of the ring queued as each window began, in every direction?

    What is queued follows from latency above the least of the trial. A window of which no frame
    arrived is not drained. Where latency is not known at all, all windows are taken as drained.
    """
    windows = _windows(seen)
    if windows is None or not any(_known(d).any() for d in windows.directions):
        return (True,) * geometry.count
    limit_ns = RING_SHARE * ring_ns(geometry)
    empty = np.ones(windows.count, dtype=np.bool_)
    for direction in windows.directions:
        if any(direction.offered):
            known = _known(direction)
            latency = _latency_ns(direction)
            base = latency[known].min(initial=np.inf)
            empty &= known & (latency - base < limit_ns)
    return tuple(empty.tolist())


def gated(seen: Observation, mask: Mask, geometry: Geometry) -> Gated:
    """Counts of the windows that count: clean ones as runs, steady ones summed."""
    windows = _windows(seen)
    if windows is None:
        return _whole(seen, mask, geometry)
    offered = summed(windows, "offered")
    received = summed(windows, "received")
    clean, steady = np.array(mask.clean), np.array(mask.steady)
    rates = received[steady] / (windows.window_ns / 1e9)
    return Gated(
        window_ns=windows.window_ns,
        windows=windows.count,
        runs=_runs(windows, clean),
        steady_windows=int(steady.sum()),
        steady_offered=int(offered[steady].sum()),
        steady_lost=max(0, int((offered - received)[steady].sum())),
        left_out=mask.left_out,
        receive_fps=float(np.median(rates)) if len(rates) else None,
        draining=_runs(windows, steady & ~clean),
        latency=_latency(seen.latency_rows, windows, clean),
    )


def is_quiet(seen: Observation, mask: Mask) -> bool:
    """Does the trial count whole? Where something could not be watched nobody knows."""
    left_out = len(mask.clean) - sum(mask.clean)
    return left_out <= QUIET_SHARE * len(mask.clean) and not seen.evidence.unseen


def why_disturbed(mask: Mask, evidence: Evidence) -> str | None:
    """One sentence for people, e.g. "core shared 78%, generator stopped 3.1% of the trial"."""
    shares = sorted(mask.left_out, key=lambda left_out: -left_out.share)
    said = ", ".join(f"{left_out.why} {_percent(left_out)}" for left_out in shares)
    parts = [f"{said} of the trial"] if said else []
    if evidence.unseen:
        parts.append(f"not watched: {'; '.join(evidence.unseen)}")
    return "; ".join(parts) or None


def trial_series(seen: Observation, mask: Mask) -> tuple[Series, ...]:
    """What is kept of a trial over time: its windows, which counted, how slow CPUs were."""
    slowness = [
        Series(slowness_name(c.cpu), "ratio", SeriesKind.GAUGE, EPOCH, c.at_ns, c.slowness)
        for c in seen.evidence.contention
    ]
    return (*(series_of(seen.windows, mask) if seen.windows is not None else ()), *slowness)


def series_of(windows: Windows, mask: Mask) -> tuple[Series, ...]:
    """Summed over directions: frames sent, queued and received, and whether a window counted."""
    at_ns = tuple(windows.begin_ns + i * windows.window_ns for i in range(windows.count))
    backlog = np.zeros(windows.count)
    for direction in windows.directions:
        latency = _filled(direction)
        mean_fps = sum(direction.offered) / max(1, windows.count) / (windows.window_ns / 1e9)
        backlog += mean_fps * (latency - latency.min(initial=np.inf)) / 1e9

    def series(name: str, unit: str, kind: SeriesKind, values: NDArray[np.generic]) -> Series:
        return Series(name, unit, kind, EPOCH, at_ns, tuple(map(float, values.tolist())))

    return (
        series(OFFERED, "frames", SeriesKind.COUNT, summed(windows, "offered")),
        series(UNSENT, "frames", SeriesKind.COUNT, summed(windows, "unsent")),
        series(RECEIVED, "frames", SeriesKind.COUNT, summed(windows, "received")),
        series(BACKLOG, "frames", SeriesKind.GAUGE, np.round(backlog)),
        series(COUNTED, "yes or no", SeriesKind.GAUGE, np.array(mask.clean)),
    )


def summed(windows: Windows, field: str) -> NDArray[np.int64]:
    """A count of each window, summed over directions."""
    total = np.zeros(windows.count, dtype=np.int64)
    for direction in windows.directions:
        total += np.array(getattr(direction, field), dtype=np.int64)
    return total


def _windows(seen: Observation) -> Windows | None:
    return seen.windows if seen.windows is not None and seen.windows.count else None


def _known(direction: DirectionWindows) -> NDArray[np.bool_]:
    return _latency_ns(direction) >= 0


def _latency_ns(direction: DirectionWindows) -> Floats:
    return np.array(direction.latency_ns, dtype=np.float64)


def _filled(direction: DirectionWindows) -> Floats:
    """Latency as each window began; where no frame arrived, what was known last."""
    known = np.flatnonzero(_known(direction))
    if not len(known):
        return np.zeros(len(direction.latency_ns))
    last = np.searchsorted(known, np.arange(len(direction.latency_ns)), side="right") - 1
    return _latency_ns(direction)[known[np.maximum(last, 0)]]


def _pieces(clean: NDArray[np.bool_], longest: int) -> list[tuple[int, int]]:
    """Ranges [first, end) of clean windows in a row, cut evenly so that none exceeds `longest`."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], clean, [False])).astype(np.int8)))
    pieces: list[tuple[int, int]] = []
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        parts = -(-(end - first) // longest)
        cuts = [first + (end - first) * i // parts for i in range(parts + 1)]
        pieces += itertools.pairwise(cuts)
    return pieces


def _runs(windows: Windows, clean: NDArray[np.bool_]) -> tuple[CleanRun, ...]:
    """Growth is signed: clipped for each run, the noise of all of them would add up.

    After a disturbance a run starts where latency is low, by its noise as well: from there, growth
    would be read where there is none. It is read from the second window on, for as many frames as
    the run has; a run of one such window says nothing of growth.
    """
    pieces = _pieces(clean, max(1, windows.count // MIN_RUNS))
    if not pieces:
        return ()
    first, end = np.array(pieces).T
    goes_on = np.append(clean, False)[end]
    stop = np.where(goes_on, end, end - 1)
    start = np.minimum(first + ((first > 0) & ~clean[first - 1]), stop)
    until = np.where(end < windows.count, stop, end)
    read_ns = np.maximum(until - start, 1) * windows.window_ns
    offered, received = np.zeros(len(pieces), np.int64), np.zeros(len(pieces), np.int64)
    growth = np.zeros(len(pieces))
    for direction in windows.directions:
        latency = _filled(direction)
        here = _within(direction.offered, first, end)
        growth += here * (latency[stop] - latency[start]) / read_ns
        offered += here
        received += _within(direction.received, first, end)
    lost = np.maximum(offered - received, 0)
    columns = ((end - first).tolist(), offered.tolist(), lost.tolist(), growth.tolist())
    return tuple(CleanRun(*run) for run in zip(*columns, strict=True))


def _within(
    counts: tuple[int, ...], first: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The sum of counts[first:end] for each pair."""
    until = np.concatenate(([0], np.cumsum(np.array(counts, dtype=np.int64))))
    return until[end] - until[first]


def _whole(seen: Observation, mask: Mask, geometry: Geometry) -> Gated:
    """The gated trial where it is one window: all of it counts, or nothing."""
    offered = seen.total("offered")
    received = seen.total("received")
    lost = max(0, offered - received - seen.handled)
    clean, steady = mask.clean[0], mask.steady[0]
    return Gated(
        window_ns=geometry.window_ns,
        windows=1,
        runs=(CleanRun(1, offered, lost, 0.0),) if clean else (),
        steady_windows=int(steady),
        steady_offered=offered if steady else 0,
        steady_lost=lost if steady else 0,
        left_out=mask.left_out,
        receive_fps=received / seen.duration_s if steady else None,
        latency=seen.latency if clean else None,
    )


def _latency(
    rows: LatencyRows | None, windows: Windows, clean: NDArray[np.bool_]
) -> Latency | None:
    """Of the rows that lie in clean windows: min and max are the ends of their buckets, the others
    the middles. Jitter needs the order of frames, which histograms do not keep: it is 0."""
    if rows is None:
        return None
    frames: dict[int, int] = {}
    for i, row in enumerate(rows.rows):
        first = (rows.begin_ns + i * rows.row_ns - windows.begin_ns) // windows.window_ns
        end = -(-(rows.begin_ns + (i + 1) * rows.row_ns - windows.begin_ns) // windows.window_ns)
        if first >= 0 and end <= windows.count and clean[first:end].all():
            for lowest_ns, count in row:
                frames[lowest_ns] = frames.get(lowest_ns, 0) + count
    ascending = sorted(lowest for lowest, count in frames.items() if count)
    if not ascending:
        return None
    lowest = np.array(ascending, dtype=np.float64)
    counts = np.array([frames[ns] for ns in ascending], dtype=np.int64)
    middle, until = lowest * BUCKET**0.5, np.cumsum(counts)

    def percentile(share: float) -> float:
        return float(middle[np.searchsorted(until, share * until[-1])])

    return Latency(
        count=int(until[-1]),
        min_ns=float(lowest[0]),
        avg_ns=float(np.average(middle, weights=counts)),
        p50_ns=percentile(0.5),
        p90_ns=percentile(0.9),
        p99_ns=percentile(0.99),
        p999_ns=percentile(0.999),
        max_ns=float(lowest[-1] * BUCKET),
        jitter_ns=0.0,
        hdrh="",
    )


def _percent(left_out: LeftOut) -> str:
    percent = 100 * left_out.share
    return f"{percent:.0f}%" if percent >= 10 else f"{percent:.2g}%"
