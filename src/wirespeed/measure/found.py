# SPDX-License-Identifier: Apache-2.0
"""Keep what a search has found so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from wirespeed.measure.search.interface import Figures
from wirespeed.measure.search.mrr import Overload
from wirespeed.model.result.result import LatencyAtLoad


@dataclass(slots=True)
class Found:
    """Results so far. Fields that the search did not reach are empty."""

    figures: Figures = field(default_factory=Figures)
    overload: Overload | None = None
    max_load_fps: float | None = None
    by_generator: bool = False
    """True if the generator set the ceiling."""
    by_link: bool = False
    """True if the link set the ceiling."""
    latency: tuple[LatencyAtLoad, ...] = ()
    notes: tuple[str, ...] = ()
    ended: str | None = None
    """Reason for which the search stopped early; None if it came to its end."""
