# SPDX-License-Identifier: Apache-2.0
"""Tell from TCP rates of emulated guests whether offloads gain; not how much."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.model.words import EMULATED
from wirespeed.report.views.published_tcp import SCENARIOS, Tuning
from wirespeed.report.views.tcp import offload_gains
from wirespeed.store.records import PointRecord


def offload_direction(points: Sequence[PointRecord]) -> str | None:
    """Return one sentence on emulated points that differ only in their offloads, or None."""
    gains = offload_gains(tuple(point for point in points if point.emulated))
    factors = sorted(gain.factor for gain in gains if gain.factor is not None)
    if not factors:
        return None
    more = sum(factor > 1 for factor in factors)
    published = sorted(gain for one in SCENARIOS if (gain := one.gain(Tuning.OFFLOADS)))
    agrees = "as in all of S0's" if more == len(factors) else "unlike in S0's"
    return (
        f"{EMULATED.capitalize()}, but in which direction offloads change a rate: with TSO, GSO "
        f"and GRO, TCP carried more than without in {more} of {len(factors)} pairs of points "
        f"({_range(factors)}), {agrees} ({_range(published)})."
    )


def _range(factors: Sequence[float]) -> str:
    lowest, highest = f"{factors[0]:.1f}x", f"{factors[-1]:.1f}x"
    return lowest if lowest == highest else f"{lowest} to {highest}"
