# SPDX-License-Identifier: Apache-2.0
"""Start all probes of noise before a trial, and collect their evidence after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wirespeed.bench.interface import Part, Poller
from wirespeed.bench.noise import poll_gaps
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.bench.noise.contention import ContentionProbe
from wirespeed.bench.noise.placement import PlacementProbe
from wirespeed.bench.noise.silence import corroborated, silences
from wirespeed.bench.noise.switches import SwitchRecords, without_runs
from wirespeed.model.cpus import CpuPair
from wirespeed.model.result.evidence import Disturbance, Evidence

# Send times and latencies of frames, in ns, in the order of sending.
Arrivals = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(slots=True)
class NoiseWatch:
    """Probes of one host."""

    contention: ContentionProbe
    switches: SwitchRecords
    placement: PlacementProbe | None
    """None if only one CPU polls."""
    sut_unknown: bool
    """The SUT's threads are unknown."""
    tsc_invariant: bool
    """The TSC reads the same on every CPU and at every clock speed."""
    shared: frozenset[int] = frozenset()
    """CPUs of the SUT that its control plane uses, too: what that takes is no noise."""
    control: Callable[[], Collection[int]] = frozenset
    """Threads of that control plane."""

    def place(self) -> tuple[CpuPair, ...]:
        """Return what each pair of its polling CPUs shares. Raises BenchError."""
        return self.placement.now() if self.placement is not None else ()

    def start(self, pollers: Iterable[Poller], before_ns: int, duration_s: float) -> None:
        """Start the probes right before the generator is asked for traffic.

        before_ns: time from that request to the first frame.
        """
        self.switches.start([(p.tid, p.role) for p in pollers if not p.timed], self.shared)
        self.contention.start(before_ns, duration_s)

    def stop(
        self,
        parts: Sequence[Part],
        clock: TrialClock,
        duration_ns: int,
        arrivals: Sequence[Arrivals],
    ) -> Evidence:
        """Return the evidence of noise in the trial that has just ended."""
        samples, stopped, unwatched = self.contention.stop(clock)
        switched = self.switches.stop(clock)
        logs = [log for part in parts for log in part.gap_logs()]
        stops = [stop for log in logs for stop in poll_gaps.stops(log, clock)]
        stops = [poll_gaps.told_apart(stop, samples) for stop in stops]
        stops += switched.stops
        if switched.runs:
            shortened = without_runs(stops, switched.runs, self.control())
            stops = [stop for stop in shortened if stop.length_ns]
        for sent_ns, took_ns in arrivals:
            stops += corroborated(silences(sent_ns, took_ns), stopped)
        stops = [_widened(stop, clock.error_ns) for stop in stops]
        inside = [s for s in stops if s.begin_ns < duration_ns and s.begin_ns + s.length_ns > 0]
        unseen = [*unwatched, *switched.unseen, *self._blind()]
        unseen += [part.unwatched for part in parts if part.unwatched is not None]
        for log in logs:
            unseen += poll_gaps.unseen(log)
        return Evidence(tuple(inside), samples, tuple(unseen), clock.error_ns)

    def _blind(self) -> Iterator[str]:
        if self.sut_unknown:
            yield "what stops the SUT's own threads is not known: they are not this bench's"
        if not self.tsc_invariant:
            yield "the CPUs' time stamp counter is not invariant: moments may not fit together"


def _widened(stop: Disturbance, error_ns: int) -> Disturbance:
    """Extend a stop by the clock's error at both sides."""
    return replace(stop, begin_ns=stop.begin_ns - error_ns, length_ns=stop.length_ns + 2 * error_ns)
