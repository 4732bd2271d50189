# SPDX-License-Identifier: Apache-2.0
"""Types of what was concluded from one trial.

`Trial` is what was observed with its verdict. Loads and counts are sums over all directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from wirespeed.model.cpus import Placed, PlacementKind, worst
from wirespeed.model.observation import Latency, Observation
from wirespeed.model.series import Series


class Stage(StrEnum):
    """What a trial was run for."""

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
    """Consecutive undisturbed windows, with what was offered and lost in them.

    growth_frames: by how many frames the queues grew from its begin to its end, from latency; may
    be negative; 0 where latency is not known.
    """

    windows: int
    offered: int
    lost: int
    growth_frames: float


CORE_SHARED: Final = "core shared"
GENERATOR_STOPPED: Final = "generator stopped"
SUT_STOPPED: Final = "SUT stopped"
GENERATOR_LATE: Final = "generator late"
CPUS_MOVED: Final = "CPUs moved"
INTERRUPTED: Final = "interrupts"
NOT_DRAINED: Final = "not yet drained"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A share of a trial's time that does not count, and why: one of the reasons above."""

    why: str
    share: float


@dataclass(frozen=True, slots=True)
class Gated:
    """A trial without its disturbed windows (measure/gate.py).

    windows: how many it has, of window_ns each. runs: those that count. steady_windows,
    steady_offered, steady_lost: of all undisturbed windows, whether queues had drained after a
    disturbance or not; an overload shows in these although its queues never drain. draining: the
    steady windows that do not count, as runs. receive_fps: the median rate of windows that count.
    latency: of the frames sent in undisturbed time, percentiles to 1/16 of an octave.
    """

    window_ns: int
    windows: int
    runs: tuple[CleanRun, ...]
    steady_windows: int
    steady_offered: int
    steady_lost: int
    left_out: tuple[LeftOut, ...]
    receive_fps: float | None = None
    latency: Latency | None = None
    draining: tuple[CleanRun, ...] = ()

    @property
    def clean_windows(self) -> int:
        return sum(run.windows for run in self.runs)

    @property
    def clean_share(self) -> float:
        return self.clean_windows / self.windows if self.windows else 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """An observation and its verdict, which was reached before its loss was read.

    quiet: nothing disturbed any of it, so that it counts whole (RFC 2544). disturbed: why it is not
    quiet, in one sentence with numbers. gated: the same trial without its disturbed windows; None
    where nothing of it can count (`fault` says why: counters that contradict each other). series:
    counts and samples over time; the store keeps them in a table of their own.

    `lost` = offered - received - handled over the whole trial, never below 0. Unsent frames are not
    lost: the generator was late. Frames that the SUT consumed on purpose (ARP) are neither lost nor
    forwarded.
    """

    observation: Observation
    stage: Stage
    quiet: bool
    disturbed: str | None = None
    gated: Gated | None = None
    fault: str | None = None
    series: tuple[Series, ...] = ()

    @property
    def placed(self) -> Placed | None:
        """The kind of each pair of polling CPUs, before and after; None where one of them moved,
        or it is not known."""
        at = self.observation.placement
        return None if at is None or self.moved else at[0].placed

    @property
    def placement(self) -> PlacementKind | None:
        """The kind of the worst pair; None as above."""
        return None if self.placed is None else worst(self.placed)

    @property
    def moved(self) -> bool:
        """Return whether the CPUs were placed differently before and after."""
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
