# SPDX-License-Identifier: Apache-2.0
"""Types of what a search found at one point of a study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from wirespeed.model.cpus import Placed, PlacementKind, worst
from wirespeed.model.observation import Latency
from wirespeed.model.tcp import TcpResult
from wirespeed.model.trial import LeftOut, Trial

# SearchResult.search of a point where TCP was measured.
TCP = "tcp"


@dataclass(frozen=True, slots=True)
class Bound:
    """A load that was tried, in frames/s over all directions, and what was forwarded at it."""

    load_fps: float
    forwarding_fps: float
    loss_ratio: float


@dataclass(frozen=True, slots=True)
class Interval:
    """The highest load that met a loss goal (`lower`) and the lowest that did not (`upper`).

    `lower` is None when even the minimum load failed; `upper` is None when the maximum load passed.
    """

    lower: Bound | None
    upper: Bound | None


class Grade(StrEnum):
    """How sure is a point's figure? docs/explanation/how-a-trial-is-judged.md"""

    A = "A"
    """Quiet: nothing disturbed the trials that decide, so they count whole."""
    B = "B"
    """Gated, most of the time undisturbed."""
    C = "C"
    """Gated, little of the time undisturbed."""
    D = "D"
    """A bracket: what was carried without loss, and what is too much."""


@dataclass(frozen=True, slots=True)
class LatencyAtLoad:
    """Latency measured at a share of the PDR, e.g. share=0.5 (CSIT's pdr_50).

    latency: as this host is, of all frames. undisturbed: of those sent in undisturbed time; None
    where there was none.
    """

    share: float
    load_fps: float
    latency: Latency
    undisturbed: Latency | None = None


def lossy_runs_bound(lost: int, runs: int) -> float | None:
    """With 95% confidence no larger share of runs loses anything; None where some did.

    Losses cluster, so that a bound on the share of frames alone promises too much.
    """
    return None if lost or not runs else min(1.0, 3 / runs)


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What a point's figures rest on: undisturbed time of the trials at the load that decides.

    load_fps: the NDR, or the load held, or of an MRR what was received. offered, lost: frames in
    `windows` of `clean_s` seconds, in `runs` pieces, of `measured_s` seconds of traffic.
    loss_bound: with 95% confidence no larger share of frames is lost.
    growth: of the queues, a share of the frames offered, with 95% bounds growth +- growth_error.
    width: what growth and the search's width were held to. left_out: shares of the traffic's time.
    steady_s: seconds without any disturbance, whether queues had drained or not; None where an
    older version did not store it.
    """

    load_fps: float
    measured_s: float
    clean_s: float
    windows: int
    runs: int
    offered: int
    lost: int
    loss_bound: float
    growth: float
    growth_error: float
    width: float
    left_out: tuple[LeftOut, ...]
    steady_s: float | None = None

    @property
    def share(self) -> float:
        """The share of the time without disturbance: the one that grades, and that is printed."""
        undisturbed_s = self.clean_s if self.steady_s is None else self.steady_s
        return undisturbed_s / self.measured_s if self.measured_s else 0.0

    @property
    def lossy_runs_bound(self) -> float | None:
        """With 95% confidence no larger share of the pieces loses anything; None where some did."""
        return lossy_runs_bound(self.lost, self.runs)


@dataclass(frozen=True, slots=True)
class AsIs:
    """What this host carries as it is: whole trials, whatever disturbed them.

    mrr_fps: the median of what overloaded trials received. loss_low, loss_high: the least and the
    most that one trial at load_fps (the undisturbed NDR, or the load held) lost; None where there
    is no such load. lossless_fps: the highest load at which a trial of lossless_s lost nothing;
    None: none was found. One trial says little about the next. mrr_s, load_s: the length of all
    trials that mrr_fps, and loss_low and loss_high, rest on; None where an older version measured.
    """

    mrr_fps: float | None = None
    load_fps: float | None = None
    loss_low: float | None = None
    loss_high: float | None = None
    lossless_fps: float | None = None
    lossless_s: float | None = None
    mrr_s: float | None = None
    load_s: float | None = None


@dataclass(frozen=True, slots=True)
class Bracket:
    """Where the limit lies, when no load could be judged finely: carried_fps passed a whole trial
    without loss, overloads_fps is provably too much. None: no such load was found."""

    carried_fps: float | None
    overloads_fps: float | None


@dataclass(frozen=True, slots=True)
class BackToBack:
    """The longest burst that passes without loss (RFC 9004), in frames of one burst of one port.

    load_fps: over all directions.
    buffer_s is corrected for what the SUT forwards while the burst still arrives (section 6.1).
    """

    load_fps: float
    mean_frames: float
    min_frames: int
    max_frames: int
    bursts: int
    buffer_s: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """All trials of a search in the order they ran, and what follows from them.

    search: the preset's name; TCP where TCP was measured instead of frames (`tcp`).
    conformant: whether RFC 2544 trial rules were kept: whole trials of 60 s only, hence grade A,
    with its waits between them.
    grade: how sure the figures are; None where there are none. because: what keeps it from a better
    grade, a sentence each. ndr, pdr, mrr_fps, constant: of undisturbed time (`undisturbed` says how
    much that was); as_is: of all time. bracket: with grade D instead of an NDR.
    mrr_half_interval: half of the 95% interval of mrr_fps over its trials, relative; None where it
    is not known, as with one trial.
    constant: the load that was held (fixed, soak), over all its valid trials.
    max_load_fps: the ceiling that the search used. limited_by: what kept it from finding the SUT's
    own limit, e.g. "shared_lcore", "generator" or "max_load"; None when nothing did.
    not_measurable: why there is no figure at all, not even of one trial, else None.
    emulated: what of the SUT ran on CPUs that QEMU emulates, and why: rates and latency then say
    nothing about speed; None when nothing did.
    placement: where the polling CPUs were in the trials that the figures rest on; None where that
    is not known. placement_pairs: the kind of each pair of them, where there is more than one.
    by_placement: what was found in other placements, without their trials and without as_is, which
    is one answer over all placements. merged: other placements in which the same was found.
    notes: sentences for the reader of the figures, e.g. that latency could not be measured.
    """

    search: str
    conformant: bool
    trials: tuple[Trial, ...]
    ndr: Interval | None = None
    pdr: Interval | None = None
    mrr_fps: float | None = None
    limited_by: str | None = None
    not_measurable: str | None = None
    latency: tuple[LatencyAtLoad, ...] = ()
    constant: Bound | None = None
    back_to_back: BackToBack | None = None
    max_load_fps: float | None = None
    notes: tuple[str, ...] = ()
    grade: Grade | None = None
    because: tuple[str, ...] = ()
    undisturbed: Undisturbed | None = None
    as_is: AsIs | None = None
    bracket: Bracket | None = None
    mrr_half_interval: float | None = None
    tcp: TcpResult | None = None
    emulated: str | None = None
    placement: PlacementKind | None = None
    placement_pairs: tuple[PlacementKind, ...] = ()
    merged: tuple[PlacementKind, ...] = ()
    by_placement: tuple[SearchResult, ...] = ()

    @property
    def placed(self) -> Placed | None:
        """The kind of each pair of polling CPUs; None where that is not known."""
        return self.placement_pairs or (None if self.placement is None else (self.placement,))

    @property
    def answers(self) -> tuple[SearchResult, ...]:
        """This result, then what was found in other placements."""
        return (self, *self.by_placement)

    @property
    def placements(self) -> tuple[PlacementKind, ...]:
        """The placements of the answers, as far as they are known."""
        return tuple(one.placement for one in self.answers if one.placement is not None)

    def latency_at(self, share: float) -> LatencyAtLoad | None:
        """Return the latency at that share of the PDR; None where it was not measured."""
        return next((at for at in self.latency if abs(at.share - share) < 1e-9), None)

    def of_placement(self, placed: Placed) -> SearchResult:
        """Return the result as of trials in which the pairs of CPUs were placed so."""
        pairs = placed if len(placed) > 1 else ()
        return replace(self, placement=worst(placed), placement_pairs=pairs)

    def elsewhere(self, trial: Trial) -> bool:
        """Return whether the trial ran in another placement than the rates rest on."""
        return None not in (self.placed, trial.placed) and self.placed != trial.placed
