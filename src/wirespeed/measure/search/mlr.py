# SPDX-License-Identifier: Apache-2.0
"""Find NDR and PDR in one search that spends long trials only near them.

MLRsearch, draft-ietf-bmwg-mlrsearch, as implemented by its authors (PyPI MLRsearch, Apache-2.0). A
load is a lower bound when at most `exceed_ratio` of its trial time lost more than the goal allows,
so that a single loss does not decide alone. The goals are a loss ratio of 0 (NDR) and pdr_loss.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from wirespeed.measure.bounds import so_far
from wirespeed.measure.prober import OutOfTime, Prober
from wirespeed.measure.search.confirm import ENDS, confirmed
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.model.result.result import Interval
from wirespeed.model.result.trial import Stage

# Time of a search relative to that of its final bounds, for the estimate of the time left.
NARROWING = 1.5
# Fresh trials that time is kept for, while the search looks for the PDR.
RESERVED = 3
# Of the time left; a reserve of more would leave a short search nothing.
RESERVED_SHARE = 0.25
ROUNDED = 1.02


@dataclass(frozen=True, slots=True)
class Mlr:
    """Parameters of the search. Times in seconds.

    A load is judged by trials of trial_s that add up to duration_sum_s, or sooner, once further
    trials cannot change the verdict. The search narrows down with trials that start at
    first_trial_s.
    """

    first_trial_s: float
    trial_s: float
    duration_sum_s: float
    exceed_ratio: float
    width: float
    """Stop when the bounds are this close, relative to the upper one; never closer than the growth
    of queues that the prober lets pass.
    """
    pdr_loss: float
    confirm_s: float
    """Length of the fresh trials that confirm the NDR: a search that stops at the first success
    tends to stop at a lucky one.
    """

    @property
    def conformant(self) -> bool:
        # RFC 2544 section 24 and 26.1: 60 s, and not one frame lost.
        return self.trial_s >= 60.0 and self.exceed_ratio == 0.0

    @property
    def expected_s(self) -> float:
        decisive_s = max(self.trial_s, self.duration_sum_s * max(self.exceed_ratio, 0.5))
        return 4 * decisive_s * NARROWING

    def find(self, prober: Prober, limits: Limits) -> Figures:
        # The package walks its importers' stack repeatedly. Imported with the verbs and all their
        # modules it takes a second, here 0.2 s.
        from wirespeed.measure.search.mlr_package import intervals

        width = max(self.width, prober.width)
        prober.reserve_s = min(RESERVED * self.confirm_s, RESERVED_SHARE * prober.remaining_s)
        try:
            ndr, pdr = intervals(
                prober,
                limits,
                loss_ratios=(0.0, prober.pdr_limit),
                exceed_ratio=self.exceed_ratio,
                relative_width=width,
                initial_trial_duration=min(self.first_trial_s, self.trial_s),
                final_trial_duration=self.trial_s,
                duration_sum=max(self.duration_sum_s, self.trial_s),
            )
        except OutOfTime as ended:
            found = self._spend_reserve(prober, limits, width)
            if not _narrow(found.ndr, width):
                raise
            note = f"{ended.what}: the bounds of the PDR are those known by then"
            found = replace(found, notes=(note,), ended=ended.what)
        else:
            found = Figures(ndr=ndr, pdr=pdr)
        return confirmed(prober, limits, found, width, self.confirm_s)

    def _spend_reserve(self, prober: Prober, limits: Limits, width: float) -> Figures:
        """Bring the bounds of the NDR together, as long as the time kept for confirmations lasts.

        Without a load that passed, go down in growing steps: an upper bound alone says little.
        Return the bounds that are known then.
        """
        found, step = so_far(prober), 4 * width
        if not _narrow(found.ndr, width):
            prober.reserve_s = 0.0
        while (ndr := found.ndr) is not None and ndr.upper is not None and not _narrow(ndr, width):
            if ndr.lower is not None:
                load_fps = (ndr.lower.load_fps + ndr.upper.load_fps) / 2
            else:
                load_fps, step = ndr.upper.load_fps * (1 - step), 2 * step
            if load_fps <= limits.min_fps:
                break
            try:
                prober.at(load_fps, self.first_trial_s, Stage.SEARCH)
            except ENDS:
                return so_far(prober)
            found = so_far(prober)
        return found


def _narrow(ndr: Interval | None, width: float) -> bool:
    """Return whether the bounds are as close as the search brings them, with its rounded steps."""
    if ndr is None or ndr.lower is None or ndr.upper is None:
        return False
    return 1 - ndr.lower.load_fps / ndr.upper.load_fps <= ROUNDED * width
