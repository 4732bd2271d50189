# SPDX-License-Identifier: Apache-2.0
"""Find the highest of the loads k x step that passes without loss, with repeats.

ETSI GS NFV-TST 009 clause 12.3.3, binary search with loss verification, which RFC 9004 recommends
too: https://www.etsi.org/deliver/etsi_gs/NFV-TST/001_099/009/. A trial that lost up to max_z frames
is repeated up to max_r times, since short noise may have cost them. A trial that lost more is not
repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from wirespeed.measure.interface import BadSearch
from wirespeed.measure.operating_point import OperatingPoint
from wirespeed.measure.prober import Prober
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.model.result.result import Interval

# Repeated loads in a search of the usual size, for the estimate of time left.
EXPECTED_TRIALS = 14


@dataclass(frozen=True, slots=True)
class Tst009:
    trial_s: float
    step_fps: float
    max_r: int
    max_z: int

    @property
    def conformant(self) -> bool:
        # RFC 2544 section 26.1 lowers the rate after any loss; it has no repeats.
        return self.trial_s >= 60.0 and self.max_r == 0

    @property
    def expected_s(self) -> float:
        return EXPECTED_TRIALS * self.trial_s

    def find(self, prober: Prober, limits: Limits) -> Figures:
        """Run the search. Raises BadSearch where no multiple of the step lies within the limits."""
        low, high = ceil(limits.min_fps / self.step_fps), floor(limits.max_fps / self.step_fps)
        if low > high:
            raise BadSearch(
                f"search.step_fps {self.step_fps:,.0f} has no multiple between "
                f"{limits.min_fps:,.0f} and {limits.max_fps:,.0f} frames/s",
                "Give a smaller step_fps.",
            )
        found = Interval(None, None)
        while low <= high:
            k = (low + high) // 2
            point = self._verified(prober, k * self.step_fps)
            if point.lost == 0:
                found, low = Interval(point.bound, found.upper), k + 1
            else:
                found, high = Interval(found.lower, point.bound), k - 1
        return Figures(ndr=found)

    def _verified(self, prober: Prober, load_fps: float) -> OperatingPoint:
        """Return the first lossless trial, or the last one allowed."""
        for _ in range(1 + self.max_r):
            point = prober.at(load_fps, self.trial_s)
            if point.lost == 0 or point.lost > self.max_z:
                break
        return point
