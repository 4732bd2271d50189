# SPDX-License-Identifier: Apache-2.0
"""Count the frames sent in each window of a trial, from the bins of generators and sinks.

Both count by a frame's time stamp, in bins on one grid of the TSC (docs/reference/wsdp.md). A
window is a whole number of bins: 1 ms, or longer until it holds enough frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wirespeed.bench.interface import BenchError
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.model.input.bounded import load_json
from wirespeed.model.result.evidence import (
    DirectionWindows,
    Disturbance,
    DisturbanceKind,
    Source,
    Windows,
)
from wirespeed.model.result.observation import LatencyRows

_BINS_FORMAT, _ROWS_FORMAT = "wirespeed-windows-1", "wirespeed-latency-rows-1"
_WINDOW_NS, _WINDOW_FRAMES = 1e6, 500
# The first half of a window shows how much was queued when it began.
_BEGINNING = 2
# The generator sends bursts of up to 64 frames, by which windows may differ.
_BURST = 64
_OFF_SCHEDULE = 0.1

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bins:
    """Frames by bins of 2^shift cycles."""

    shift: int
    tsc_hz: int
    first: int
    """Number of the first bin, on the TSC."""
    frames: Counts
    unsent: Counts
    """Only of a generator."""
    latency_ns: Counts
    """Mean latency of each bin; only of a sink."""
    beyond: int


def read_bins(text: str) -> Bins:
    """Parse what `/wirespeed/windows` wrote."""
    file = load_json(text)
    if file["format"] != _BINS_FORMAT:
        raise BenchError(f"wsdp writes windows as {file['format']}, not as {_BINS_FORMAT}")
    columns = [np.array(file.get(key, ()), np.int64) for key in ("frames", "unsent", "latency_ns")]
    frames, unsent, latency_ns = columns
    return Bins(
        file["shift"], file["tsc_hz"], file["base_tsc"] >> file["shift"], frames, unsent,
        latency_ns, file["beyond"],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class DirectionBins:
    """Bins of one direction: its generators' and its sink's."""

    name: str
    generators: tuple[Bins, ...]
    sink: Bins
    refused_by_nic: int
    """Frames that a NIC at line rate rejected; their window is unknown."""
    clock_behind: int = 0
    """Frames that arrived before they were sent, as the clocks of both ends disagree."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A trial cut into windows."""

    windows: Windows | None
    arrivals: tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]
    """Time of sending and latency of each bin, by direction."""
    late: tuple[Disturbance, ...]
    """Windows in which the generator did not offer what was due."""
    unseen: tuple[str, ...]
    """Notes on what the bins do not cover."""


def cut(
    found: Sequence[DirectionBins], clock: TrialClock, duration_ns: int, load_fps: float
) -> Cut:
    """Cut a trial into windows.

    load_fps: load of one direction; 0 for as fast as possible.
    """
    shift = found[0].sink.shift
    bins = [each for direction in found for each in (direction.sink, *direction.generators)]
    if any(each.shift != shift for each in bins):
        raise BenchError("generators and sinks have counted by bins of different lengths")
    bin_ns = (1 << shift) * 1e9 / clock.tsc_hz
    first = -(-clock.started_tsc >> shift)
    end = (clock.started_tsc + round(duration_ns * clock.tsc_hz / 1e9)) >> shift
    length = max(_WINDOW_NS, _WINDOW_FRAMES / load_fps * 1e9 if load_fps else 0.0)
    each = max(1, int(np.ceil(length / bin_ns)))
    count = (end - first) // each
    if not any(sent.frames.any() for direction in found for sent in direction.generators):
        return Cut(None, (), (), ("frames carry no time stamp: only whole trials count",))
    if any(direction.refused_by_nic for direction in found):
        return Cut(None, (), (), ("a NIC took fewer frames than offered: only whole trials count",))
    unseen = tuple(_unseen(found))
    if count < 1:
        return Cut(None, (), (), (*unseen, "the trial is too short for windows: it counts whole"))
    grid = _Grid(first, each, count)
    windows = Windows(
        round(clock.length_ns((first << shift) - clock.started_tsc)),
        round(each * bin_ns),
        tuple(_direction(direction, grid) for direction in found),
    )
    arrivals = tuple(_arrivals(direction.sink, clock, shift) for direction in found)
    return Cut(windows, arrivals, _late(windows, load_fps), unseen)


@dataclass(frozen=True, slots=True)
class _Grid:
    """`count` windows of `each` bins, from bin number `first` on."""

    first: int
    each: int
    count: int

    def of(self, first: int, values: Counts) -> Counts:
        """Return the values of bins that begin with number `first`, a row a window."""
        whole = np.zeros(self.count * self.each, np.int64)
        skip = self.first - first
        kept = values[max(0, skip) :]
        at = max(0, -skip)
        kept = kept[: max(0, len(whole) - at)]
        whole[at : at + len(kept)] = kept
        return whole.reshape(self.count, self.each)


def _unseen(directions: Sequence[DirectionBins]) -> Iterator[str]:
    if beyond := sum(direction.sink.beyond for direction in directions):
        yield f"{beyond:,} frames lie beyond the last window that was logged"
    if behind := sum(direction.clock_behind for direction in directions):
        yield (
            f"{behind:,} frames arrived before they were sent: the clocks of both ends disagree, "
            "so latency and what queues hold are not known"
        )


def _direction(direction: DirectionBins, grid: _Grid) -> DirectionWindows:
    offered = sum(grid.of(b.first, b.frames).sum(axis=1) for b in direction.generators)
    unsent = sum(grid.of(b.first, b.unsent).sum(axis=1) for b in direction.generators)
    received = grid.of(direction.sink.first, direction.sink.frames)
    latency = grid.of(direction.sink.first, direction.sink.latency_ns)
    head = max(1, grid.each // _BEGINNING)
    there = received[:, :head] > 0
    # The minimum ignores stalls of some 10 µs, but not a standing queue.
    least_ns = np.where(there, latency[:, :head], np.iinfo(np.int64).max).min(axis=1)
    queued_ns = np.where(there.any(axis=1) & (direction.clock_behind == 0), least_ns, -1)
    return DirectionWindows(
        direction.name,
        tuple(np.asarray(offered).tolist()),
        tuple(np.asarray(unsent).tolist()),
        tuple(received.sum(axis=1).tolist()),
        tuple(map(float, queued_ns.tolist())),
    )


def _arrivals(
    sink: Bins, clock: TrialClock, shift: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when the frames of each bin were sent (its middle), and their latency."""
    [there] = np.nonzero(sink.frames)
    sent = ((sink.first + there) * (1 << shift) + (1 << shift) // 2 - clock.started_tsc).astype(
        float
    )
    return sent * 1e9 / clock.tsc_hz, sink.latency_ns[there].astype(float)


def _late(windows: Windows, load_fps: float) -> tuple[Disturbance, ...]:
    """Return windows in which the generator gave frames up, or was far from the due rate.

    Catching up makes a burst that nobody intended.
    """
    found = np.zeros(windows.count, bool)
    due = load_fps * windows.window_ns / 1e9
    for direction in windows.directions:
        found |= np.array(direction.unsent) > 0
        if due:
            off = np.abs(np.array(direction.offered) - due)
            found |= off > max(_OFF_SCHEDULE * due, _BURST)
    return tuple(
        Disturbance(
            -1, windows.begin_ns + int(i) * windows.window_ns, windows.window_ns,
            DisturbanceKind.LATE, Source.SCHEDULE, "generator",
        )
        for i in np.flatnonzero(found)
    )  # fmt: skip


def read_latency_rows(texts: Sequence[str], clock: TrialClock) -> LatencyRows | None:
    """Parse what `/wirespeed/latency_rows` wrote for all sinks; None if no frame was stamped.

    Rows of all sinks lie on one grid and begin at one moment, so equal numbers are equal times.
    """
    files = [load_json(text) for text in texts]
    if any(file["format"] != _ROWS_FORMAT for file in files):
        raise BenchError(f"wsdp writes latency rows as {files[0]['format']}, not as {_ROWS_FORMAT}")
    if not any(file["rows"] for file in files):
        return None
    shift = files[0]["shift"]
    firsts = [file["base_tsc"] >> shift for file in files]
    first = min(firsts)
    rows: dict[int, dict[int, int]] = {}
    for file, begin in zip(files, firsts, strict=True):
        for number, row in enumerate(file["rows"], start=begin - first):
            if row:
                merged = rows.setdefault(number, {})
                for value, frames in row:
                    merged[value] = merged.get(value, 0) + frames
    last = max(rows)
    return LatencyRows(
        clock.at_ns(first << shift),
        clock.length_ns(1 << shift),
        tuple(tuple(sorted(rows.get(number, {}).items())) for number in range(last + 1)),
    )
