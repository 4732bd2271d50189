# SPDX-License-Identifier: Apache-2.0
"""Summarise an event over all prefixes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from wirespeed.bench.convergence.flow_gaps import FlowFate, FlowGaps, Watched, fates
from wirespeed.bench.convergence.own_time import own_times
from wirespeed.bench.routing.notifications import Notifications
from wirespeed.model.result.convergence import (
    ConvergenceRun,
    OwnBlackout,
    SlowPrefix,
    Spread,
)
from wirespeed.model.result.observation import DirectionCount
from wirespeed.model.result.quantile import nearest_rank

_SLOWEST = 10
# Interquartile ranges between the upper quartile and the fence.
_FENCE = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """Observations of an event in a trial."""

    event: str
    prefixes: Sequence[str]
    """Prefix of each tracked flow."""
    watched: Watched
    gaps: FlowGaps
    notifications: Notifications
    tsc_of_ns: Callable[[int], float]
    """Converts the time of a notification to the TSC."""
    count: DirectionCount
    rate_fps: float


def summarise(seen: Seen) -> ConvergenceRun:
    """Return the figures of an event."""
    found = fates(seen.gaps, seen.watched)
    at_tsc, lost = seen.watched.at_tsc, seen.count.offered - seen.count.received
    notified = [_notified(seen, prefix) for prefix in seen.prefixes]
    back = [fate.back_tsc for fate in found]

    def ms(cycles: float) -> float:
        return cycles * 1e3 / seen.gaps.tsc_hz

    own_ms = [ms(own) for own in own_times([fate.spans for fate in found])]
    fence_ms = outlier_fence(own_ms, ms(seen.watched.interval))
    outliers = [OwnBlackout(*own) for own in zip(seen.prefixes, own_ms, strict=True)
                if own[1] > fence_ms]  # fmt: skip
    blocked_ms = lost / seen.rate_fps * 1e3
    both = [(n, b) for n, b in zip(notified, back, strict=True) if n is not None and b is not None]
    return ConvergenceRun(
        event=seen.event,
        prefixes=len(found),
        interval_ms=ms(seen.watched.interval),
        interrupted=sum(fate.dark > 0 for fate in found),
        rerouted=sum(tsc is not None for tsc in back),
        unreachable=sum(fate.silent for fate in found),
        blackout=spread([ms(fate.dark) for fate in found]) or Spread(0.0, 0.0, 0.0),
        lost=lost,
        misrouted=seen.gaps.misrouted,
        looped=seen.gaps.looped,
        duplicated=seen.count.duplicated,
        blocked_ms=blocked_ms,
        linear_ms=2 * blocked_ms,
        slowest=_slowest(seen, found, ms),
        reroute=spread([ms(tsc - at_tsc) for tsc in back if tsc is not None]),
        protocol=spread([ms(tsc - at_tsc) for tsc in notified if tsc is not None]),
        forwarding=spread([ms(b - n) for n, b in both]),
        outliers=len(outliers),
        outlier_ms=fence_ms,
        longest_own=tuple(sorted(outliers, key=lambda own: -own.own_ms)[:_SLOWEST]),
    )


def spread(values: Iterable[float]) -> Spread | None:
    """Return the distribution of values by nearest ranks; None of none."""
    ordered = sorted(values)
    if not ordered:
        return None
    p50, p99 = (ordered[nearest_rank(share, len(ordered)) - 1] for share in (500, 990))
    return Spread(p50, p99, ordered[-1])


def outlier_fence(values: Sequence[float], interval: float) -> float:
    """Return the value above which one stands out from the others (Tukey's outer fence).

    interval: resolution of the values. The fence is at least two of them above the upper quartile.
    """
    ordered = sorted(values)
    if not ordered:
        return 0.0
    low, high = (ordered[nearest_rank(share, len(ordered)) - 1] for share in (250, 750))
    return high + max(_FENCE * (high - low), 2 * interval)


def _notified(seen: Seen, prefix: str) -> float | None:
    at_ns = seen.notifications.of(prefix)
    return None if at_ns is None else seen.tsc_of_ns(at_ns)


def _slowest(
    seen: Seen, found: Sequence[FlowFate], ms: Callable[[float], float]
) -> tuple[SlowPrefix, ...]:
    order = sorted(range(len(found)), key=lambda flow: -found[flow].dark)[:_SLOWEST]
    return tuple(
        SlowPrefix(
            seen.prefixes[flow],
            ms(found[flow].dark),
            None if (tsc := found[flow].back_tsc) is None else ms(tsc - seen.watched.at_tsc),
        )
        for flow in order
        if found[flow].dark > 0
    )
