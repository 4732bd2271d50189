# SPDX-License-Identifier: Apache-2.0
"""Define what a search found at one point of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from wirespeed.model.cpus import Placed, PlacementKind, worst
from wirespeed.model.result.convergence import ConvergenceResult
from wirespeed.model.result.observation import Latency
from wirespeed.model.result.outcome import Outcome
from wirespeed.model.result.sessions import SessionsResult
from wirespeed.model.result.tcp import TcpResult
from wirespeed.model.result.trial import LeftOut, Trial

# SearchResult.search of a point with TCP traffic.
TCP = "tcp"
# The same of a point with counted TCP connections.
SESSIONS = "sessions"
# The same of a point whose router converges.
CONVERGENCE = "convergence"
# Kinds of workload without a search; SearchResult.search and its field have this name.
OUTCOMES: Mapping[str, type[TcpResult] | type[SessionsResult] | type[ConvergenceResult]] = {
    TCP: TcpResult,
    SESSIONS: SessionsResult,
    CONVERGENCE: ConvergenceResult,
}


@dataclass(frozen=True, slots=True)
class Bound:
    """A load that was tried, in frames/s over all directions, and its forwarding rate."""

    load_fps: float
    forwarding_fps: float
    loss_ratio: float


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a rate: the highest load that met a loss goal and the lowest that did not."""

    lower: Bound | None
    """None if even the minimum load failed."""
    upper: Bound | None
    """None if the maximum load passed."""


def lower_fps(interval: Interval | None) -> float | None:
    """Return the highest load that met the goal, in frames/s; None if there is none."""
    return interval.lower.load_fps if interval is not None and interval.lower is not None else None


class Grade(StrEnum):
    """Certainty of a point's rates (docs/explanation/how-a-trial-is-judged.md)."""

    A = "A"
    """Quiet: no noise in the deciding trials, so they count whole."""
    B = "B"
    """Gated, with most of the time clean."""
    C = "C"
    """Gated, with little of the time clean."""
    D = "D"
    """A bracket: a load carried without loss, and a load that is too high."""


@dataclass(frozen=True, slots=True)
class LatencyAtLoad:
    """Latency at a share of the PDR."""

    share: float
    """Share of the PDR, e.g. 0.5 (CSIT's pdr_50)."""
    load_fps: float
    latency: Latency
    """Latency over all time, of all frames."""
    undisturbed: Latency | None = None
    """Latency of frames sent in clean time; None if no time was clean."""


def lossy_runs_bound(lost: int, runs: int) -> float | None:
    """Return the upper bound, with 95% confidence, on the share of runs that lose frames.

    Returns None if frames were lost. Losses cluster, so a bound on the share of frames alone would
    promise too much.
    """
    return None if lost or not runs else min(1.0, 3 / runs)


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """The clean time that a point's rates rest on, of the trials at the deciding load."""

    load_fps: float
    """The NDR or the constant load in frames/s; the received rate for an MRR."""
    measured_s: float
    """Time of traffic in s."""
    clean_s: float
    """Time of the windows that count, in s."""
    windows: int
    """Number of windows that count."""
    runs: int
    """Number of runs of consecutive windows."""
    offered: int
    """Frames offered in `windows`."""
    lost: int
    """Frames lost in `windows`."""
    loss_bound: float
    """Upper bound on the loss ratio, with 95% confidence."""
    growth: float
    """Growth of the queues as a share of the offered frames."""
    growth_error: float
    """Half of the 95% interval of `growth`."""
    width: float
    """Limit for `growth` and for the search's width."""
    left_out: tuple[LeftOut, ...]
    """Excluded shares of the time of traffic."""
    steady_s: float | None = None
    """Time without disturbance, drained or not, in s; None in records of an older version."""

    @property
    def share(self) -> float:
        """Share of time without disturbance; the grade rests on it."""
        undisturbed_s = self.clean_s if self.steady_s is None else self.steady_s
        return undisturbed_s / self.measured_s if self.measured_s else 0.0

    @property
    def lossy_runs_bound(self) -> float | None:
        """Upper bound on the share of runs that lose frames; see lossy_runs_bound."""
        return lossy_runs_bound(self.lost, self.runs)


@dataclass(frozen=True, slots=True)
class AsIs:
    """Rates over all time: whole trials, noise included."""

    mrr_fps: float | None = None
    """Median of the rates received in overloaded trials, in frames/s."""
    load_fps: float | None = None
    """Load of the loss range: the clean NDR or the constant load; None without one."""
    loss_low: float | None = None
    """Lowest loss ratio of a trial at load_fps."""
    loss_high: float | None = None
    """Highest loss ratio of a trial at load_fps."""
    lossless_fps: float | None = None
    """Highest load at which a trial lost nothing; None if there was none. One trial does not
    predict the next."""
    lossless_s: float | None = None
    """Length of the trial at lossless_fps, in s."""
    mrr_s: float | None = None
    """Length of all trials behind mrr_fps, in s; None in records of an older version."""
    load_s: float | None = None
    """Length of all trials behind the loss range, in s; None in records of an older version."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Bounds of the limit if no load could be judged finely."""

    carried_fps: float | None
    """Load that passed a whole trial without loss; None if there was none."""
    overloads_fps: float | None
    """Load that is provably too high; None if there was none."""


@dataclass(frozen=True, slots=True)
class BackToBack:
    """Longest burst without loss (RFC 9004), in frames of one burst of one port."""

    load_fps: float
    """Load over all directions, in frames/s."""
    mean_frames: float
    min_frames: int
    max_frames: int
    bursts: int
    buffer_s: float
    """Buffer time in s, corrected for frames forwarded while the burst arrives (RFC 9004 section
    6.1)."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """All trials of a search in their order, and the results.

    Rates are over clean time (`undisturbed` has its extent), except as_is, which is over all time.
    """

    search: str
    """Name of the preset; TCP for a point with TCP traffic (`tcp`)."""
    conformant: bool
    """RFC 2544 rules were kept: whole trials of 60 s with its waits between them, hence grade A."""
    trials: tuple[Trial, ...]
    ndr: Interval | None = None
    pdr: Interval | None = None
    mrr_fps: float | None = None
    limited_by: str | None = None
    """Reason why the SUT's limit was not reached, e.g. "shared_lcore", "generator" or "max_load";
    None if it was."""
    not_measurable: str | None = None
    """Reason why there is no result, not even of one trial; None if there is one."""
    latency: tuple[LatencyAtLoad, ...] = ()
    constant: Bound | None = None
    """The constant load (fixed, soak), over all its valid trials."""
    back_to_back: BackToBack | None = None
    max_load_fps: float | None = None
    """Highest load that the search could try, in frames/s."""
    notes: tuple[str, ...] = ()
    """Sentences for the reader, e.g. that latency could not be measured."""
    grade: Grade | None = None
    """Certainty of the rates; None without rates."""
    because: tuple[str, ...] = ()
    """Reasons against a better grade, one sentence each."""
    undisturbed: Undisturbed | None = None
    as_is: AsIs | None = None
    bracket: Bracket | None = None
    """Replaces the NDR with grade D."""
    mrr_half_interval: float | None = None
    """Half of the 95% interval of mrr_fps over its trials, relative; None if unknown, as with one
    trial."""
    tcp: TcpResult | None = None
    sessions: SessionsResult | None = None
    convergence: ConvergenceResult | None = None
    emulated: str | None = None
    """Part of the SUT that ran on CPUs emulated by QEMU, and the reason; None if nothing did. Rates
    and latency then say nothing about speed."""
    placement: PlacementKind | None = None
    """Placement of the polling CPUs in the trials behind the rates; None if unknown."""
    placement_pairs: tuple[PlacementKind, ...] = ()
    """Kind of each pair of these CPUs, if there is more than one."""
    merged: tuple[PlacementKind, ...] = ()
    """Other placements with the same result."""
    by_placement: tuple[SearchResult, ...] = ()
    """Results in other placements. They have no trials, and no as_is, which covers all placements.
    """

    @property
    def searched(self) -> bool:
        """True if a search chose the loads; otherwise `outcome` has the rates."""
        return self.search not in OUTCOMES

    @property
    def outcome(self) -> Outcome | None:
        """Result of a workload without a search; None where no run counts."""
        return self.tcp or self.sessions or self.convergence

    @property
    def placed(self) -> Placed | None:
        """Kind of each pair of polling CPUs; None if unknown."""
        return self.placement_pairs or (None if self.placement is None else (self.placement,))

    @property
    def answers(self) -> tuple[SearchResult, ...]:
        """This result, then the results in other placements."""
        return (self, *self.by_placement)

    @property
    def placements(self) -> tuple[PlacementKind, ...]:
        """Known placements of the answers."""
        return tuple(one.placement for one in self.answers if one.placement is not None)

    def latency_at(self, share: float) -> LatencyAtLoad | None:
        """Return the latency at that share of the PDR; None if not measured."""
        return next((at for at in self.latency if abs(at.share - share) < 1e-9), None)

    @property
    def half_load_latency(self) -> Latency | None:
        """Return the latency at half the PDR: of clean time where it is known."""
        at = self.latency_at(0.5)
        return None if at is None else at.undisturbed or at.latency

    def of_placement(self, placed: Placed) -> SearchResult:
        """Return a copy with the placement of the given pairs of CPUs."""
        pairs = placed if len(placed) > 1 else ()
        return replace(self, placement=worst(placed), placement_pairs=pairs)

    @property
    def here(self) -> tuple[Trial, ...]:
        """Return the trials of the placement that the rates rest on, as far as it is known."""
        return tuple(trial for trial in self.trials if not self.elsewhere(trial))

    def elsewhere(self, trial: Trial) -> bool:
        """Return whether the trial ran, at least in part, in another placement than the rates'."""
        if self.placed is None:
            return False
        return trial.moved or trial.placed not in (None, self.placed)
