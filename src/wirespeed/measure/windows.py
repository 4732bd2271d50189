# SPDX-License-Identifier: Apache-2.0
"""Count frames offered, received and lost in the windows of a trial that count.

measure/gate.py decides which windows count, without any of these counts. A trial whose frames carry
no time stamp is one window from its beginning to its end.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from wirespeed.measure.gate import RING_SHARE, Geometry, Mask, ring_ns
from wirespeed.model.result.evidence import DirectionWindows, Evidence, Windows
from wirespeed.model.result.observation import Latency, LatencyRows, Observation
from wirespeed.model.result.quantile import nearest_rank
from wirespeed.model.result.series import (
    BACKLOG,
    COUNTED,
    OFFERED,
    RECEIVED,
    UNSENT,
    Series,
    SeriesKind,
    slowness_name,
)
from wirespeed.model.result.trial import CleanRun, Gated
from wirespeed.model.words import two_digits

Floats = NDArray[np.float64]

# A trial that is clean throughout is divided into at least this many runs: their spread gives the
# interval of the growth of queues.
MIN_RUNS = 10
# A quiet trial, which counts whole, may exclude this share of its windows.
QUIET_SHARE = 0.01
# Buckets of latency are 1/16 of an octave wide.
BUCKET = 2 ** (1 / 16)
EPOCH = "first frame due"


def geometry_of(
    observation: Observation, width: float, pause_load_fps: float | None = None
) -> Geometry:
    """Return the windows of a trial.

    pause_load_fps: load, summed over directions, that limits how long a stop may be. In an overload
    it is the MRR, not the trial's own load.
    """
    load_fps = observation.intended_load_fps if pause_load_fps is None else pause_load_fps
    windows = _windows(observation)
    generator = {
        (t.host, t.cpu) for t in observation.threads if t.role == "generator" and t.cpu >= 0
    }
    forwarding = {(t.host, t.cpu) for t in observation.threads if t.role == "sut"}
    return Geometry(
        begin_ns=windows.begin_ns if windows else 0,
        window_ns=windows.window_ns if windows else max(1, round(observation.duration_s * 1e9)),
        count=windows.count if windows else 1,
        load_fps=load_fps / max(1, len(observation.directions)),
        ring_frames=observation.ring_frames,
        path_frames=observation.path_frames,
        width=width,
        forwarding_shares_generator=bool(generator & forwarding)
        or observation.limited_by == "shared_lcore",
    )


def drained(observation: Observation, geometry: Geometry) -> tuple[bool, ...]:
    """Return, for each window, whether less than a quarter of the ring was queued as it began.

    It must hold in every direction. The queue follows from the latency above the minimum of the
    trial. A window of which no frame arrived is not drained. Where latency is unknown, all windows
    count as drained.
    """
    windows = _windows(observation)
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


def gated(observation: Observation, mask: Mask, geometry: Geometry) -> Gated:
    """Return the counts of clean windows, as runs, and of steady windows, summed."""
    windows = _windows(observation)
    if windows is None:
        return _whole(observation, mask, geometry)
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
        latency=_latency(observation.latency_rows, windows, clean),
    )


def is_quiet(observation: Observation, mask: Mask) -> bool:
    """Return whether the trial counts whole. It does not where something was not observed."""
    left_out = len(mask.clean) - sum(mask.clean)
    return left_out <= QUIET_SHARE * len(mask.clean) and not observation.evidence.unseen


def why_disturbed(mask: Mask, evidence: Evidence) -> str | None:
    """Return one sentence, e.g. "core shared 78%, generator stopped 3.1% of the trial"."""
    shares = sorted(mask.left_out, key=lambda left_out: -left_out.share)
    shares_text = ", ".join(f"{left_out.why} {two_digits(left_out.share)}" for left_out in shares)
    parts = [f"{shares_text} of the trial"] if shares_text else []
    if evidence.unseen:
        parts.append(f"not watched: {'; '.join(evidence.unseen)}")
    return "; ".join(parts) or None


def trial_series(observation: Observation, mask: Mask) -> tuple[Series, ...]:
    """Return the series of a trial: its windows, which of them count, how slow CPUs were."""
    slowness = [
        Series(slowness_name(c.cpu, c.host), "ratio", SeriesKind.GAUGE, EPOCH, c.at_ns, c.slowness)
        for c in observation.evidence.contention
    ]
    return (
        *(series_of(observation.windows, mask) if observation.windows is not None else ()),
        *slowness,
    )


def series_of(windows: Windows, mask: Mask) -> tuple[Series, ...]:
    """Return frames sent, queued and received, and whether a window counted.

    Summed over directions.
    """
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
    """Return a count of each window, summed over directions."""
    total = np.zeros(windows.count, dtype=np.int64)
    for direction in windows.directions:
        total += np.array(getattr(direction, field), dtype=np.int64)
    return total


def _windows(observation: Observation) -> Windows | None:
    return (
        observation.windows
        if observation.windows is not None and observation.windows.count
        else None
    )


def _known(direction: DirectionWindows) -> NDArray[np.bool_]:
    return _latency_ns(direction) >= 0


def _latency_ns(direction: DirectionWindows) -> Floats:
    return np.array(direction.latency_ns, dtype=np.float64)


def _filled(direction: DirectionWindows) -> Floats:
    """Return latency as each window began; where no frame arrived, the last known one."""
    known = np.flatnonzero(_known(direction))
    if not len(known):
        return np.zeros(len(direction.latency_ns))
    last = np.searchsorted(known, np.arange(len(direction.latency_ns)), side="right") - 1
    return _latency_ns(direction)[known[np.maximum(last, 0)]]


def _pieces(clean: NDArray[np.bool_], longest: int) -> list[tuple[int, int]]:
    """Return ranges [first, end) of consecutive clean windows, each at most `longest` long.

    A longer range is divided evenly.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], clean, [False])).astype(np.int8)))
    pieces: list[tuple[int, int]] = []
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        parts = -(-(end - first) // longest)
        cuts = [first + (end - first) * i // parts for i in range(parts + 1)]
        pieces += itertools.pairwise(cuts)
    return pieces


def _runs(windows: Windows, clean: NDArray[np.bool_]) -> tuple[CleanRun, ...]:
    """Return the runs of clean windows.

    Their growth may be negative: clipped in each run, noise would add up over the runs. A run after
    noise starts where latency is low, which may be chance: growth from there would be too large. It
    is measured from the second window on and scaled to the frames of the run; a run of one such
    window has no growth.
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
    """Return the sum of counts[first:end] for each pair."""
    until = np.concatenate(([0], np.cumsum(np.array(counts, dtype=np.int64))))
    return until[end] - until[first]


def _whole(observation: Observation, mask: Mask, geometry: Geometry) -> Gated:
    """Return the gated trial where it is one window: all of it counts, or nothing."""
    offered = observation.total("offered")
    received = observation.total("received")
    lost = max(0, offered - received - observation.handled)
    clean, steady = mask.clean[0], mask.steady[0]
    return Gated(
        window_ns=geometry.window_ns,
        windows=1,
        runs=(CleanRun(1, offered, lost, 0.0),) if clean else (),
        steady_windows=int(steady),
        steady_offered=offered if steady else 0,
        steady_lost=lost if steady else 0,
        left_out=mask.left_out,
        receive_fps=received / observation.duration_s if steady else None,
        latency=observation.latency if clean else None,
    )


def _latency(
    rows: LatencyRows | None, windows: Windows, clean: NDArray[np.bool_]
) -> Latency | None:
    """Return latency of the rows that lie in clean windows.

    min and max are the ends of their buckets, the other values their middles. Histograms do not
    keep the order of frames, so jitter is 0.
    """
    if rows is None:
        return None
    frames: dict[int, int] = {}
    unclean_before = np.concatenate(([0], np.cumsum(~clean))).tolist()
    for i, row in enumerate(rows.rows):
        first = (rows.begin_ns + i * rows.row_ns - windows.begin_ns) // windows.window_ns
        end = -(-(rows.begin_ns + (i + 1) * rows.row_ns - windows.begin_ns) // windows.window_ns)
        inside = 0 <= first < end <= len(clean)
        if inside and unclean_before[first] == unclean_before[end]:
            for lowest_ns, count in row:
                frames[lowest_ns] = frames.get(lowest_ns, 0) + count
    ascending = sorted(lowest for lowest, count in frames.items() if count)
    if not ascending:
        return None
    lowest = np.array(ascending, dtype=np.float64)
    counts = np.array([frames[ns] for ns in ascending], dtype=np.int64)
    middle, until = lowest * BUCKET**0.5, np.cumsum(counts)

    def percentile(per_mille: int) -> float:
        return float(middle[np.searchsorted(until, nearest_rank(per_mille, int(until[-1])))])

    return Latency(
        count=int(until[-1]),
        min_ns=float(lowest[0]),
        avg_ns=float(np.average(middle, weights=counts)),
        p50_ns=percentile(500),
        p90_ns=percentile(900),
        p99_ns=percentile(990),
        p999_ns=percentile(999),
        max_ns=float(lowest[-1] * BUCKET),
        jitter_ns=0.0,
        hdrh="",
    )
