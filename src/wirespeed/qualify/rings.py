# SPDX-License-Identifier: Apache-2.0
"""Convert gaps of a poller to the descriptors that a receive ring needs; pure.

While a poller stands still, frames pile up in its ring: rate x time. A ring that holds them all
loses none. Gaps that follow each other closely add up, because the backlog of the first is not yet
handled when the second begins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from wirespeed.qualify.qualification import RingNeed

# Sizes that NICs and Open vSwitch take (n_rxq_desc); 4096 is the most of almost all.
SIZES = (512, 1024, 2048, 4096)
# A poller that was sized for a rate takes frames faster than that: it works off a backlog while
# frames keep coming. At twice the rate, a backlog is gone after as long as it took to arise.
HEADROOM = 2.0


def backlog_ns(gaps: Iterable[tuple[int, int]]) -> int:
    """Return the longest backlog, as the time in which its frames arrived.

    gaps: begin and length of each in ns, in the order of time.
    """
    longest = waiting = 0.0
    ended = None
    for begin, length in gaps:
        idle = 0.0 if ended is None else (HEADROOM - 1) * max(0, begin - ended)
        waiting = max(0.0, waiting - idle) + length
        longest = max(longest, waiting)
        ended = begin + length
    return round(longest)


def needed(rate_fps: float, backlog: float) -> int:
    """Return the frames that pile up in a backlog of that many ns."""
    return math.ceil(rate_fps * backlog / 1e9)


def ring_for(frames: int) -> int | None:
    """Return the smallest of SIZES that holds these frames; None where none does."""
    return next((size for size in SIZES if size >= frames), None)


def ring_needs(backlog: int) -> tuple[RingNeed, ...]:
    """Return the rate up to which each ring loses nothing, for a backlog in ns."""
    return tuple(RingNeed(size, size * 1e9 / backlog if backlog else None) for size in SIZES)
