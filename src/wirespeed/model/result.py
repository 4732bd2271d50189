# SPDX-License-Identifier: Apache-2.0
"""What did a search find at one point of a study?"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.tcp import TcpResult
from wirespeed.model.trial import Latency, Trial

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


@dataclass(frozen=True, slots=True)
class LatencyAtLoad:
    """Latency measured at a share of the PDR, e.g. share=0.5 (CSIT's pdr_50)."""

    share: float
    load_fps: float
    latency: Latency


@dataclass(frozen=True, slots=True)
class BackToBack:
    """The longest burst that passes without loss (RFC 9004), in frames of one burst.

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
    conformant: whether RFC 2544 trial rules were kept.
    constant: the load that was held (fixed, soak), over all its valid trials.
    max_load_fps: the ceiling that the search used. limited_by: what kept it from finding the SUT's
    own limit, e.g. "shared_lcore", "generator" or "max_load"; None when nothing did.
    not_measurable: why there is no figure although the search ended (invalid trials), else None.
    notes: sentences for whoever reads the figures, e.g. that latency could not be measured.
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
    tcp: TcpResult | None = None
