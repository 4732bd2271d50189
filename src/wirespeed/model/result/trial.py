# SPDX-License-Identifier: Apache-2.0
"""Define the verdict on one trial.

`Trial` is an observation with its verdict. Loads and counts are sums over all directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.cpus import Placed, PlacementKind, worst
from wirespeed.model.result.observation import Latency, Observation
from wirespeed.model.result.reason import Reason
from wirespeed.model.result.series import Series


class Stage(StrEnum):
    """Purpose of a trial."""

    WARM_UP = "warm-up"
    MRR = "mrr"
    SEARCH = "search"
    CONFIRM = "confirm"
    LATENCY = "latency"
    BURST = "burst"
    CONSTANT = "constant"
    AS_IS = "as is"


@dataclass(frozen=True, slots=True)
class CleanRun:
    """Consecutive clean windows, with the frames offered and lost in them."""

    windows: int
    offered: int
    lost: int
    growth_frames: float
    """Growth of the queues from begin to end in frames, from latency. May be negative; 0 if latency
    is unknown."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A share of a trial's time that does not count, with its reason."""

    why: Reason
    share: float


@dataclass(frozen=True, slots=True)
class Gated:
    """A trial without its noisy windows (measure/gate.py)."""

    window_ns: int
    windows: int
    """Number of windows of the trial, each of window_ns."""
    runs: tuple[CleanRun, ...]
    """Windows that count."""
    steady_windows: int
    """Number of windows without disturbance, drained or not. An overload shows in these, although
    its queues never drain."""
    steady_offered: int
    """Frames offered in these windows."""
    steady_lost: int
    """Frames lost in these windows."""
    left_out: tuple[LeftOut, ...]
    """Excluded shares of the time."""
    receive_fps: float | None = None
    """Median rate of the windows that count, in frames/s."""
    latency: Latency | None = None
    """Latency of frames sent in clean time, percentiles to 1/16 of an octave."""
    draining: tuple[CleanRun, ...] = ()
    """Steady windows that do not count, as runs."""

    @property
    def clean_windows(self) -> int:
        return sum(run.windows for run in self.runs)

    @property
    def clean_share(self) -> float:
        return self.clean_windows / self.windows if self.windows else 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """An observation and its verdict, which was reached before its loss was read.

    `lost` = offered - received - handled over the whole trial, never below 0. Unsent frames are not
    lost: the generator was late. Frames that the SUT consumed on purpose (ARP) are neither lost nor
    forwarded.
    """

    observation: Observation
    stage: Stage
    quiet: bool
    """The trial has no noise, so it counts whole (RFC 2544)."""
    disturbed: str | None = None
    """Reason why it is not quiet, in one sentence with numbers."""
    gated: Gated | None = None
    """The trial without its noisy windows; None if none of it can count."""
    fault: str | None = None
    """Reason why none of it can count: counters that contradict each other."""
    series: tuple[Series, ...] = ()
    """Counts and samples over time; the store keeps them in a separate table."""

    @property
    def placed(self) -> Placed | None:
        """Kind of each pair of polling CPUs; None if unknown, or if a CPU moved."""
        at = self.observation.placement
        return None if at is None or self.moved else at[0].placed

    @property
    def placement(self) -> PlacementKind | None:
        """Kind of the worst pair; None as above."""
        return None if self.placed is None else worst(self.placed)

    @property
    def moved(self) -> bool:
        """The CPUs were placed differently before and after the trial."""
        at = self.observation.placement
        return at is not None and at[0].placed != at[1].placed

    @property
    def intended_load_fps(self) -> float:
        return self.observation.intended_load_fps

    @property
    def duration_s(self) -> float:
        return self.observation.duration_s

    @property
    def offered(self) -> int:
        return self.observation.total("offered")

    @property
    def received(self) -> int:
        return self.observation.total("received")

    @property
    def lost(self) -> int:
        return max(0, self.offered - self.received - self.observation.handled)

    @property
    def loss_ratio(self) -> float:
        return self.lost / self.offered if self.offered else 0.0

    @property
    def offered_fps(self) -> float:
        return self.offered / self.duration_s

    @property
    def forwarding_fps(self) -> float:
        return self.received / self.duration_s
