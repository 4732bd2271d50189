# SPDX-License-Identifier: Apache-2.0
"""Find the highest rate without loss over a full-length trial (RFC 2544 section 26.1).

https://www.rfc-editor.org/rfc/rfc2544 section 24 allows shorter trials while the search narrows
down, and requires at least 60 s in the final determination. A rate that lost a frame in a short
trial has failed. A rate that passed a short trial must also pass a full-length one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from wirespeed.measure.prober import Prober
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.model.result.result import Interval
from wirespeed.model.result.trial import Stage


@dataclass(frozen=True, slots=True)
class Rfc2544:
    """Parameters of the search. Times in seconds."""

    narrow_trial_s: float
    trial_s: float
    width: float
    """Stop when the bounds are this close, relative to the upper one."""
    loss: float = 0.0
    """Loss ratio that still passes. RFC 2544 knows 0 only; any other finds a PDR."""

    @property
    def conformant(self) -> bool:
        return self.trial_s >= 60.0 and self.loss == 0.0

    @property
    def expected_s(self) -> float:
        return log2(1 / self.width) * min(self.narrow_trial_s, self.trial_s) + 2 * self.trial_s

    def find(self, prober: Prober, limits: Limits) -> Figures:
        narrow_s = min(self.narrow_trial_s, self.trial_s)
        found = self._try(prober, limits.max_fps, narrow_s, Interval(None, None))
        found = self._bisect(prober, limits, narrow_s, found)
        if narrow_s < self.trial_s and found.lower is not None:
            found = self._confirm(prober, limits, found)
        return Figures(pdr=found) if self.loss else Figures(ndr=found)

    def _try(self, prober: Prober, load_fps: float, trial_s: float, known: Interval) -> Interval:
        """Return the interval after one more trial at a load inside of it."""
        stage = Stage.CONFIRM if trial_s >= self.trial_s else Stage.SEARCH
        point = prober.at(load_fps, trial_s, stage)
        if point.exceeded <= self.loss:
            return Interval(point.bound, known.upper)
        return Interval(known.lower, point.bound)

    def _bisect(self, prober: Prober, limits: Limits, trial_s: float, known: Interval) -> Interval:
        """Halve the gap until it is narrow. The minimum is tried only after all others failed."""
        while known.upper is not None:
            low_fps = known.lower.load_fps if known.lower else limits.min_fps
            high_fps = known.upper.load_fps
            if high_fps - low_fps > self.width * high_fps:
                known = self._try(prober, (low_fps + high_fps) / 2, trial_s, known)
            elif known.lower is None and high_fps > low_fps:
                known = self._try(prober, low_fps, trial_s, known)
            else:
                break
        return known

    def _confirm(self, prober: Prober, limits: Limits, narrowed: Interval) -> Interval:
        """Run full-length trials below the lower bound, in growing steps, until one passes.

        Then halve the gap that the steps left with full-length trials.
        """
        assert narrowed.lower is not None
        found = Interval(None, narrowed.upper)
        load_fps, step_fps = narrowed.lower.load_fps, narrowed.lower.load_fps * self.width
        while found.lower is None:
            found = self._try(prober, load_fps, self.trial_s, found)
            if load_fps <= limits.min_fps:
                break
            load_fps, step_fps = max(limits.min_fps, load_fps - step_fps), 2 * step_fps
        return self._bisect(prober, limits, self.trial_s, found)
