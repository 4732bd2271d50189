# SPDX-License-Identifier: Apache-2.0
"""Define the choice of the loads of a point."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt

from wirespeed.model.cpus import PlacementKind


class SearchKind(StrEnum):
    RFC2544 = "rfc2544"
    TST009 = "tst009"
    MLR = "mlr"
    QUICK = "quick"
    MRR = "mrr"
    FIXED = "fixed"
    SOAK = "soak"
    B2B = "b2b"


@dataclass(frozen=True, slots=True)
class Search:
    """Choice of the loads. A value without a default is that of the search kind."""

    kind: SearchKind = SearchKind.QUICK
    """rfc2544: binary search with 60 s trials; tst009: ETSI NFV-TST 009 with repeats; mlr:
    MLRsearch, NDR and PDR in one search; quick: mlr with 0.3 s trials, not RFC 2544 conformant;
    mrr: the rate received when 1.5 times as much is offered; fixed: one load; soak: one load for
    `total_s`; b2b: the longest burst without loss (RFC 9004)."""
    min_load_fps: Annotated[float, Gt(0)] = 10_000.0
    """Lowest load to try."""
    max_load_fps: Annotated[float, Gt(0)] | None = None
    """Highest load to try. Default: the most that the generator can offer."""
    trial_s: Annotated[float, Gt(0), Le(86_400)] | None = None
    """Length of the final trials in seconds."""
    width: Annotated[float, Gt(0), Lt(1)] | None = None
    """Stop when upper and lower bound are this close, relative to the upper."""
    extension: Annotated[float, Ge(1), Le(100)] | None = None
    """Largest factor by which a trial may be extended until it has enough clean time to judge the
    load."""
    time_limit_s: Annotated[float, Gt(0)] | None = None
    """Time limit for MRR and search together, in seconds. The point then has the bounds known by
    that time. Default: no limit."""
    pdr_loss: Annotated[float, Gt(0), Lt(1)] = 0.005
    """Loss ratio that the partial drop rate tolerates."""
    load_fps: Annotated[float, Gt(0)] | None = None
    """fixed and soak only: the load."""
    total_s: Annotated[float, Gt(0)] | None = None
    """soak only: seconds of traffic in all, offered in trials of trial_s."""
    step_fps: Annotated[float, Gt(0)] | None = None
    """tst009 only: distance of the loads in the search array."""
    max_r: Annotated[int, Ge(0)] | None = None
    """tst009 only: number of repeats of a trial with loss."""
    max_z: Annotated[int, Ge(0)] | None = None
    """tst009 only: a trial that lost more frames than this is not repeated."""
    placement: PlacementKind | None = None
    """Placement of the polling CPUs for the main rates: "one cache", "across caches" or "one core".
    Default: the nearest placement with grade C or better."""
    wait_for_placement: Annotated[float, Gt(0), Le(86_400)] | None = None
    """Time in seconds that a point waits for search.placement; it counts towards time_limit_s.
    After that the point is measured in the current placement, and the result says so. Default: no
    wait."""
    latency: bool = True
    """Measure latency at 10, 50 and 90% of the PDR after the search."""
    latency_trial_s: Annotated[float, Gt(0), Le(86_400)] | None = None
    """Length of a latency trial in seconds."""
