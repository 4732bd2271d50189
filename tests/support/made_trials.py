# SPDX-License-Identifier: Apache-2.0
"""Make up trials of a SUT on a noisy host, window by window, with their verdicts.

Nothing here is ever shown as a measurement.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.result.evidence import (
    ContentionSamples,
    Disturbance,
    DisturbanceKind,
    Evidence,
    Source,
)
from wirespeed.model.result.hop_counts import Drop, DropCause, PortCount
from wirespeed.model.result.observation import DirectionCount, Latency, Observation, PollingThread
from wirespeed.model.result.reason import Reason
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
from wirespeed.model.result.trial import CleanRun, Gated, LeftOut, Stage, Trial

WINDOW_NS = 1_000_000
RING, PATH = 1024, 4096
PLACED = CpuPlacement(45.0, 1.0)
SUT_CPU, GENERATOR_CPU = 1, 0


@dataclass(frozen=True)
class Noise:
    """Shares of time: a core shared, the PMD stopped, the generator stopped."""

    shared: float = 0.0
    pmd: float = 0.0
    generator: float = 0.0

    @property
    def quiet(self) -> bool:
        return self == Noise()


@dataclass(slots=True)
class _Window:
    """One window."""

    slow: bool = False
    """True if the core is shared."""
    stopped_ns: int = 0
    """Time for which the PMD was stopped."""
    late_ns: int = 0
    """Time by which the generator was late."""
    offered: int = 0
    unsent: int = 0
    lost: int = 0
    backlog: int = 0
    why: Reason | None = None


@dataclass(frozen=True)
class MadeTrials:
    """A SUT of known capacity; on a shared core it forwards 0.62 of that."""

    capacity_fps: float
    noise: Noise
    drops: tuple[str, DropCause] = ("sut-ingress", DropCause.RX_RING_FULL)
    path: tuple[str, ...] = ()
    limited_by: str | None = None

    def trial(self, load_fps: float, duration_s: float, stage: Stage, seed: int) -> Trial:
        rng = random.Random(f"{seed} {load_fps} {stage}")
        windows = self._with_noise(round(duration_s * 1e9 / WINDOW_NS), rng)
        self._forward(windows, load_fps)
        _gate(windows)
        seen = self._observation(windows, load_fps, duration_s)
        quiet = self.noise.quiet
        disturbed = None if quiet else "core shared 70%, SUT stopped 1.2% of the trial"
        judged = gated(windows, seen.latency)
        series = series_of(windows, seen.evidence)
        return Trial(seen, stage, quiet, disturbed, judged, series=series)

    def _with_noise(self, count: int, rng: random.Random) -> list[_Window]:
        windows = [_Window() for _ in range(count)]
        at = 0
        while at < count and self.noise.shared:
            length = rng.randint(15, 90)
            at += round(
                length * (1 - self.noise.shared) / self.noise.shared * rng.uniform(0.6, 1.4)
            )
            for window in windows[at : at + length]:
                window.slow = True
            at += length
        pmd, generator = self.noise.pmd * 2, self.noise.generator * 2
        for window in windows:
            if rng.random() < pmd:
                window.stopped_ns = rng.randint(150_000, 850_000)
            if rng.random() < generator:
                window.late_ns = rng.randint(150_000, 850_000)
        return windows

    def _forward(self, windows: list[_Window], load_fps: float) -> None:
        queued, per_window = 0.0, load_fps * WINDOW_NS / 1e9
        due = round(per_window)
        for window in windows:
            window.backlog = round(queued)
            if window.late_ns:
                window.unsent = round(per_window * window.late_ns / WINDOW_NS)
            window.offered = due - window.unsent
            speed = 0.62 if window.slow else 1.0
            service = self.capacity_fps * speed * (WINDOW_NS - window.stopped_ns) / 1e9
            queued = queued + window.offered - service
            beyond = queued - PATH
            if window.stopped_ns:
                # Within a window a single stop may overflow the first ring.
                beyond = max(beyond, load_fps * window.stopped_ns / 1e9 - RING)
            if beyond > 0:
                window.lost = round(beyond)
            queued = 0.0 if queued < 0 else min(queued, PATH)

    def _observation(
        self, windows: Sequence[_Window], load_fps: float, duration_s: float
    ) -> Observation:
        offered, lost = sum(w.offered for w in windows), sum(w.lost for w in windows)
        unsent = sum(w.unsent for w in windows)
        refused = lost if self.drops[0] == "sut-ingress" else 0
        return Observation(
            intended_load_fps=load_fps,
            duration_s=duration_s,
            directions=(
                DirectionCount(
                    "east-west", offered + unsent, offered, offered - refused, unsent,
                    offered - lost, 0, 0, 0,
                ),
            ),
            drops=(Drop(*self.drops, lost),) if lost else (),
            threads=(
                PollingThread("lcore1", "generator", GENERATOR_CPU, 3, 1_000_000),
                PollingThread("pmd2", "sut", SUT_CPU, 5, 2_000_000),
            ),
            steal_ns=0,
            overhead_s=0.4,
            ring_frames=RING,
            path_frames=PATH,
            evidence=_evidence(windows),
            latency=latency_at(load_fps / self.capacity_fps, quiet=self.noise.quiet),
            limited_by=self.limited_by,
            placement=(PLACED, PLACED),
            ports=self._ports(offered, lost),
        )  # fmt: skip

    def _ports(self, offered: int, lost: int) -> tuple[PortCount, ...]:
        """Return port counts: frames are lost at the path's entry, or at a port to its cable."""
        left = offered
        found = []
        for i, end in enumerate(self.path):
            if i == 0 or end == self.drops[0]:
                left -= lost if self.drops[0] in ("sut-ingress", end) else 0
            found.append(PortCount(end, left if i % 2 else 0, 0 if i % 2 else left))
        return tuple(found)


def latency_at(load: float, quiet: bool) -> Latency:
    """Return a latency that grows as a queue does, with a tail from pauses of the host."""
    typical_ns = 1400.0 + 900.0 / max(0.04, 1.0 - min(load, 0.99))
    tail = 1.0 if quiet else 12.0
    return Latency(
        count=100_000, min_ns=900.0, avg_ns=typical_ns * 1.2, p50_ns=typical_ns,
        p90_ns=typical_ns * 1.9, p99_ns=typical_ns * 2.5 * tail, p999_ns=typical_ns * 3 * tail,
        max_ns=typical_ns * 21 * tail, jitter_ns=240.0, hdrh="",
    )  # fmt: skip


def _evidence(windows: Sequence[_Window]) -> Evidence:
    stops = [
        Disturbance(
            cpu, i * WINDOW_NS + 70_000 + cpu, length, DisturbanceKind.STOPPED, source, role
        )
        for i, w in enumerate(windows)
        if w.stopped_ns or w.late_ns
        for cpu, length, source, role in (
            (SUT_CPU, w.stopped_ns, Source.CONTEXT_SWITCH, "sut"),
            (GENERATOR_CPU, w.late_ns, Source.POLL_GAP, "generator"),
        )
        if length
    ]
    every = range(0, len(windows), 4)
    slowness = tuple(1.55 if windows[i].slow else 1.02 for i in every)
    samples = ContentionSamples(SUT_CPU, True, tuple(i * WINDOW_NS for i in every), slowness)
    return Evidence(tuple(sorted(stops, key=lambda stop: stop.begin_ns)), (samples,))


def _gate(windows: Sequence[_Window]) -> None:
    draining = False
    for window in windows:
        if window.slow:
            window.why = Reason.CORE_SHARED
        elif window.stopped_ns:
            window.why = Reason.SUT_STOPPED
        elif window.late_ns:
            window.why = Reason.GENERATOR_STOPPED
        elif draining and window.backlog > RING / 4:
            window.why = Reason.NOT_DRAINED
        draining = window.why is not None


def gated(windows: Sequence[_Window], latency: Latency | None) -> Gated:
    """Return the windows that count, in runs."""
    runs = []
    for clean, group in groupby(windows, key=lambda window: window.why is None):
        if clean:
            run = list(group)
            growth = float(run[-1].backlog - run[0].backlog)
            offered, lost = sum(w.offered for w in run), sum(w.lost for w in run)
            runs.append(CleanRun(len(run), offered, lost, growth))
    steady = [w for w in windows if w.why in (None, Reason.NOT_DRAINED)]
    whys = [w.why for w in windows if w.why is not None]
    left_out = [LeftOut(why, whys.count(why) / len(windows)) for why in dict.fromkeys(whys)]
    kept = [w.offered - w.lost for w in windows if w.why is None]
    return Gated(
        WINDOW_NS, len(windows), tuple(runs), len(steady), sum(w.offered for w in steady),
        sum(w.lost for w in steady), tuple(sorted(left_out, key=lambda out: -out.share)),
        1e9 / WINDOW_NS * sum(kept) / len(kept) if kept else None,
        replace(latency, p99_ns=latency.p50_ns * 2.5, p999_ns=latency.p50_ns * 3,
                max_ns=latency.p50_ns * 21) if latency and kept else None,
    )  # fmt: skip


def series_of(windows: Sequence[_Window], evidence: Evidence) -> tuple[Series, ...]:
    """Return the series that the store keeps of a trial next to its counts."""
    at_ns = tuple(range(0, len(windows) * WINDOW_NS, WINDOW_NS))

    def over_time(name: str, values: Sequence[float], kind: SeriesKind) -> Series:
        return Series(name, "frames", kind, "first frame due", at_ns, tuple(values))

    slowness = [
        Series(
            slowness_name(samples.cpu), "ratio", SeriesKind.GAUGE, "first frame due",
            samples.at_ns, samples.slowness,
        )
        for samples in evidence.contention
    ]  # fmt: skip
    return (
        over_time(OFFERED, [w.offered for w in windows], SeriesKind.COUNT),
        over_time(UNSENT, [w.unsent for w in windows], SeriesKind.COUNT),
        over_time(RECEIVED, [w.offered - w.lost for w in windows], SeriesKind.COUNT),
        over_time(BACKLOG, [w.backlog for w in windows], SeriesKind.GAUGE),
        over_time(COUNTED, [w.why is None for w in windows], SeriesKind.GAUGE),
        *slowness,
    )
