# SPDX-License-Identifier: Apache-2.0
"""Add up how the time of all trials of a run was spent."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from wirespeed.explain.time_spent import AROUND, COUNTED, time_spent
from wirespeed.store.records import RunRecord

# Smaller parts are shown together.
_LEAST, _MOST_PARTS = 0.01, 7
OTHER = "other"


@dataclass(frozen=True, slots=True)
class TimeShare:
    """Share of the traffic's time that counted, or was excluded for one reason."""

    why: str
    share: float

    @property
    def counted(self) -> bool:
        return self.why == COUNTED


def time_shares(run: RunRecord) -> tuple[TimeShare, ...]:
    """Return the shares of the time of traffic, first what counted; their sum is 1.

    Empty for a run without trials of frames.
    """
    seconds: defaultdict[str, float] = defaultdict(float)
    for point in run.points:
        if point.result is None or not point.offers_frames:
            continue
        trials = tuple(stored.trial for stored in point.trials)
        for part in time_spent(replace(point.result, trials=trials)):
            if part.what != AROUND:
                seconds[part.what] += part.seconds
    total_s = sum(seconds.values())
    if not total_s:
        return ()
    ranked = sorted(seconds.items(), key=lambda pair: (pair[0] != COUNTED, -pair[1]))
    shares = [TimeShare(why, spent_s / total_s) for why, spent_s in ranked]
    shown = [one for one in shares if one.counted or one.share >= _LEAST][:_MOST_PARTS]
    rest = 1 - sum(one.share for one in shown)
    return (*shown, *([TimeShare(OTHER, rest)] if len(shown) < len(shares) else []))
